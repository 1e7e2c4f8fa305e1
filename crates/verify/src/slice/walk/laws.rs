//! Tests of the walk's laws on random programs of a toy code, whose paths are recorded by a few lines instead of the engine.

use std::rc::Rc;

use wryneck_exec::{Begun, CodePos, Step};
use wryneck_ir::{Inst, NONE, Op};

use super::*;
use crate::flow::Cfg;
use crate::flow::cfg::{Block, End};

/// Slots that hold numbers; the slots after them hold the addresses of the words of memory.
const NUMBERS: u32 = 6;
const WORDS: u32 = 4;
const MEMORY: u64 = 0x1000;
/// Numbers are below this, so that random ones are often equal.
const LIMIT: u64 = 3;
const SUBTREE: u32 = 7;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn number(&mut self) -> u32 {
        self.below(NUMBERS.into()) as u32
    }
}

/// A function without loops. Edges are numbered; a call is an event with its operand.
#[derive(Default)]
struct Program {
    insts: Vec<Inst>,
    blocks: Vec<Block>,
    edges: Vec<u32>,
}

impl Program {
    fn random(random: &mut Random) -> (Program, Cfg) {
        let mut program = Program::default();
        program.begin();
        program.statements(random, 3);
        program.end(Op::Ret, End::Return);
        let cfg = Cfg::of(program.blocks.clone());
        (program, cfg)
    }

    /// Begins a block.
    fn begin(&mut self) -> u32 {
        let at = self.insts.len() as u32;
        self.blocks.push(Block { ops: at..at, ..Block::default() });
        self.blocks.len() as u32 - 1
    }

    fn add(&mut self, op: Op, dst: u32, a: u32, b: u32, c: u32) {
        self.insts.push(Inst::new(op, 64, dst, a, b, c));
        self.blocks.last_mut().expect("a block has begun").ops.end += 1;
    }

    fn end(&mut self, op: Op, end: End) {
        self.add(op, NONE, 0, 0, 0);
        self.blocks.last_mut().expect("a block has begun").end = Some(end);
    }

    fn edge(&mut self, from: u32, to: u32) -> u32 {
        let edge = self.edges.len() as u32;
        self.edges.push(to);
        self.blocks[from as usize].edges.push((edge, to));
        edge
    }

    fn statements(&mut self, random: &mut Random, depth: u32) {
        for _ in 0..=random.below(4) {
            let word = NUMBERS + random.below(WORDS.into()) as u32;
            match random.below(9) {
                0 | 1 => self.add(Op::Add, random.number(), random.number(), random.number(), NONE),
                2 => self.add(Op::Imm, random.number(), random.below(LIMIT) as u32, 0, NONE),
                3 => self.add(Op::Load, random.number(), word, NONE, 0),
                4 => self.add(Op::Store, NONE, word, random.number(), 0),
                // Through a pointer: anywhere.
                5 => self.add(Op::Store, NONE, random.number(), random.number(), 0),
                6 if random.below(2) == 0 => self.add(Op::Call, NONE, random.number(), 0, NONE),
                _ if depth > 0 => self.branch(random, depth - 1),
                _ => {}
            }
        }
    }

    fn branch(&mut self, random: &mut Random, depth: u32) {
        let from = self.blocks.len() as u32 - 1;
        self.add(Op::CondBr, NONE, random.number(), 0, 0);
        let branch = self.insts.len() - 1;
        let mut ends = Vec::new();
        for side in 0..2 {
            let begun = self.begin();
            let edge = self.edge(from, begun);
            if side == 0 {
                self.insts[branch].b = edge
            } else {
                self.insts[branch].c = edge
            }
            self.statements(random, depth);
            if random.below(8) == 0 {
                // The program ends here.
                self.end(Op::Unsupported, End::Leave);
            } else {
                self.add(Op::Br, NONE, 0, 0, 0);
                ends.push((self.blocks.len() as u32 - 1, self.insts.len() - 1));
            }
        }
        let after = self.begin();
        for (block, op) in ends {
            self.insts[op].a = self.edge(block, after);
        }
    }
}

/// A state of the toy: numbers, and memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    slots: Vec<u64>,
    memory: Vec<u64>,
}

impl State {
    fn random(random: &mut Random) -> State {
        let mut slots: Vec<u64> = (0..NUMBERS).map(|_| random.below(LIMIT)).collect();
        slots.extend((0..u64::from(WORDS)).map(|word| MEMORY + 8 * word));
        State { slots, memory: (0..WORDS).map(|_| random.below(LIMIT)).collect() }
    }
}

/// What a run came to: its events, its steps, its last operation, and by decision the first step of its operation and the state there.
struct Ran {
    events: Vec<(u32, u64)>,
    steps: Vec<Step>,
    last: u32,
    decisions: Vec<(usize, u32, State)>,
}

fn run(program: &Program, cfg: &Cfg, mut state: State) -> Ran {
    let (mut events, mut steps, mut decisions) = (Vec::new(), vec![Step::Enter { frame: 0 }], Vec::new());
    let mut op = 0u32;
    loop {
        let Inst { dst, a, b, c, .. } = program.insts[op as usize];
        let operator = program.insts[op as usize].operator().expect("the toy has operators");
        let word = |state: &State| match state.slots[a as usize] {
            number if number < MEMORY => number % u64::from(WORDS),
            address => (address - MEMORY) / 8,
        };
        let to = |edge: u32| cfg.blocks[program.edges[edge as usize] as usize].ops.start;
        op += 1;
        let at = op - 1;
        match operator {
            Op::Add => state.slots[dst as usize] = (state.slots[a as usize] + state.slots[b as usize]) % LIMIT,
            Op::Imm => state.slots[dst as usize] = a.into(),
            Op::Load => {
                steps.push(Step::Load { op: at, bytes: 8, address: MEMORY + 8 * word(&state) });
                state.slots[dst as usize] = state.memory[word(&state) as usize];
            }
            Op::Store => {
                steps.push(Step::Store { op: at, bytes: 8, address: MEMORY + 8 * word(&state) });
                let word = word(&state) as usize;
                state.memory[word] = state.slots[b as usize];
            }
            Op::Call => {
                events.push((at, state.slots[a as usize]));
                steps.extend([Step::Event { args: 1 }, Step::Happens, Step::Slow { op: at, count: 2 }]);
            }
            Op::Br => {
                steps.push(Step::Edge { op: at, edge: a });
                op = to(a);
            }
            Op::CondBr => {
                decisions.push((steps.len(), at, state.clone()));
                let edge = if state.slots[a as usize] == 0 { c } else { b };
                let index = decisions.len() as u32 - 1;
                steps.extend([Step::Decision { index }, Step::Edge { op: at, edge }, Step::Slow { op: at, count: 2 }]);
                op = to(edge);
            }
            _ => return Ran { events, steps, last: at, decisions },
        }
    }
}

/// Words that may be written.
#[derive(Clone, Default)]
struct Words(BitSet);

impl Grows for Words {
    fn add(&mut self, other: &Words) {
        self.0.union_with(&other.0);
    }
}

struct Toy<'p> {
    program: &'p Program,
    cfg: &'p Cfg,
    /// What was live where the walk left the function.
    entry: Option<(BitSet, Live)>,
}

impl Toy<'_> {
    fn effects(&self, starts: Vec<u32>, stop: Option<u32>) -> Effects<Words> {
        let blocks = self.cfg.reachable(starts, stop);
        let arriving = self.cfg.arriving(&blocks, stop);
        let (mut all, mut written) = (Effects::default(), Words::default());
        for block in blocks {
            let record = &self.cfg.blocks[block as usize];
            let mut effects = Effects { leaves: record.end == Some(End::Leave), ..Effects::<Words>::default() };
            for inst in &self.program.insts[record.ops.start as usize..record.ops.end as usize] {
                match inst.operator() {
                    Some(Op::Store) if inst.a >= NUMBERS => drop(effects.changes.0.insert(inst.a - NUMBERS)),
                    Some(Op::Store) => effects.changes.0.extend(0..WORDS),
                    Some(Op::Call) => effects.event = true,
                    Some(Op::Add | Op::Imm | Op::Load) => drop(effects.slots.insert(inst.dst)),
                    _ => {}
                }
            }
            written.add(&effects.changes);
            if arriving[block as usize] { all.add(&effects) } else { all.add_end(&effects) }
        }
        all.close(&written);
        all
    }
}

/// Walks through an edge and the branch that took it.
fn through<'a>(walk: &mut Walk<'a, '_, Toy<'_>>, op: u32, edge: u32, group: Option<&Group<'a>>) -> Result<(), Mismatch> {
    walk.pass(walk.code.program.edges[edge as usize], None);
    walk.branch(op, Some(edge), group)
}

impl<'a> Code<'a> for Toy<'_> {
    type Call = ();
    type Changes = Words;

    fn inst(&self, _: u32, op: u32) -> Inst {
        self.program.insts[op as usize]
    }
    fn block_of(&self, _: u32, op: u32) -> u32 {
        self.cfg.block_of(op)
    }
    fn first_op(&self, _: u32, block: u32) -> u32 {
        self.cfg.blocks[block as usize].ops.start
    }
    fn known(walk: &Walk<'a, '_, Self>, op: u32) -> u8 {
        let inst = walk.code.program.insts[op as usize];
        u8::from(matches!(inst.operator(), Some(Op::Load | Op::Store)) && inst.a >= NUMBERS)
    }

    fn function(&self, _: &Frame<()>) -> u32 {
        0
    }
    fn depth(walk: &Walk<'a, '_, Self>) -> usize {
        walk.frames.len()
    }
    fn is_over(walk: &Walk<'a, '_, Self>) -> bool {
        walk.frames.is_empty()
    }
    fn compared(_: &mut Walk<'a, '_, Self>, _: &mut Needs) {}
    fn state_frame(_: &Walk<'a, '_, Self>, call: usize) -> Option<u32> {
        Some(call as u32)
    }

    fn at_start(walk: &mut Walk<'a, '_, Self>) -> Result<(), Mismatch> {
        match walk.peek() {
            Some(Step::Edge { op, edge }) => {
                walk.course.position -= 1;
                through(walk, op, edge, None)
            }
            Some(Step::Slow { count, .. }) => {
                let group = walk.group(count)?;
                let (op, edge) = group.edge().ok_or(Mismatch("no edge"))?;
                through(walk, op, edge, Some(&group))
            }
            _ => {
                walk.course.position = 0;
                let frame = walk.frames.pop().ok_or(Mismatch("no call"))?;
                walk.code.entry = Some((frame.live, walk.course.live.clone()));
                Ok(())
            }
        }
    }
    fn left(_: &mut Walk<'a, '_, Self>, _: &Inst, _: u32, _: u32, _: u32) -> Result<(), Mismatch> {
        Err(Mismatch("the toy calls nothing"))
    }
    fn asks(_: &Walk<'a, '_, Self>, inst: &Inst, _: u32, edge: Option<u32>, _: bool) -> Result<Asks, Mismatch> {
        Ok(edge.filter(|_| inst.operator() == Some(Op::CondBr)).map_or(Asks::No, Asks::Edge))
    }
    fn announced(walk: &mut Walk<'a, '_, Self>, inst: &Inst, _: u32, group: &Group<'a>) {
        walk.happens_here(group);
        walk.top().live.insert(inst.a);
    }
    fn shown(_: &mut Walk<'a, '_, Self>, _: &Inst, _: &Group<'a>) {}
    fn called(_: &mut Walk<'a, '_, Self>, _: &Inst, _: u32, _: &Group<'a>) {}

    fn join(walk: &Walk<'a, '_, Self>, block: u32) -> Option<Option<u32>> {
        Some(walk.code.cfg.join(block))
    }
    fn others(walk: &Walk<'a, '_, Self>, block: u32, edge: u32) -> Vec<u32> {
        walk.code.cfg.blocks[block as usize].edges.iter().map(|(edge, _)| *edge).filter(|other| *other != edge).collect()
    }
    fn side(walk: &mut Walk<'a, '_, Self>, block: u32, edge: u32) -> Rc<Effects<Words>> {
        Rc::new(walk.code.effects(vec![walk.code.program.edges[edge as usize]], walk.code.cfg.join(block)))
    }
    fn differing(_: &Walk<'a, '_, Self>, _: u32) -> Option<Rc<BitSet>> {
        None
    }
    fn rest(walk: &mut Walk<'a, '_, Self>, _: usize, op: u32) -> (Rc<Effects<Words>>, bool) {
        let block = walk.code.cfg.block_of(op);
        let next = walk.code.cfg.blocks[block as usize].edges.iter().map(|(_, to)| *to).collect();
        (Rc::new(walk.code.effects(next, None)), walk.code.cfg.returning(block))
    }
    fn event_at_exit(&self) -> bool {
        false
    }
    fn touched(_: &Walk<'a, '_, Self>, _: &Frame<()>, live: &Live, changes: &Words) -> Option<Why> {
        changes.0.iter().any(|word| live.is_live(MEMORY + 8 * u64::from(word), 8)).then_some(Why::Memory)
    }
    fn touched_memory(walk: &Walk<'a, '_, Self>, frame: &Frame<()>, live: &Live, changes: &Words) -> Option<Why> {
        Toy::touched(walk, frame, live, changes)
    }
    fn may_write(walk: &mut Walk<'a, '_, Self>, op: u32, _: &[(u64, u64)], _: bool) -> bool {
        !walk.course.live.is_empty() && Toy::known(walk, op) == 0
    }

    fn placed(_: &Walk<'a, '_, Self>, _: u64) -> Placed {
        Placed::default()
    }
    fn is_hidden(&self, _: u64) -> bool {
        false
    }
    fn is_mapped(_: &Walk<'a, '_, Self>, _: u64) -> bool {
        false
    }
    fn deciding(_: &Summary, args: &[u32]) -> Vec<u32> {
        args.to_vec()
    }
    fn writes_live(&self, _: &Place, _: &Live, _: &dyn Fn(u32) -> Option<u64>) -> bool {
        false
    }
    fn of_object(_: &Walk<'a, '_, Self>, _: u64, bytes: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        bytes
    }
}

/// Walks over steps that end behind or before the operation `last`: the relevant decisions, and what is live at the function's beginning.
fn walked(
    toy: (&Program, &Cfg),
    steps: &[Step],
    last: u32,
    begun: Option<Begun>,
    known: &Known,
    from: Option<&Needs>,
) -> (BitSet, Option<(BitSet, Live)>) {
    let mut see = |_: CodePos, _: Option<Why>| {};
    let open = |_: u32| false;
    let places = Vec::new();
    let record = Record { steps, faulted: false, oldest: 0, places: &places, open: &open, begun, compared: true, open_descriptors: true };
    let mut walk = Walk::new(Toy { program: toy.0, cfg: toy.1, entry: None }, record, &mut see);
    walk.push(0, 0, (), last + 1, false);
    if let Some(needs) = from {
        walk.resume(needs).expect("the same call");
    }
    let wanted = walk.found(known).expect("the record fits");
    (wanted.decisions.into_iter().collect(), walk.code.entry.take())
}

/// The live-in set before the decision of this number.
fn needs_at(toy: (&Program, &Cfg), ran: &Ran, decision: usize) -> (Needs, BitSet) {
    let known = Known::default();
    let begun = Some(Begun { subtree: SUBTREE, start: decision as u32, frames: 1 });
    let steps = &ran.steps[ran.decisions[decision].0..];
    let (wanted, _) = walked(toy, steps, ran.last, begun, &known, None);
    (known.take(SUBTREE).and_then(|mut all| all.pop()).expect("it was noted"), wanted)
}

/// Law 5 for one path: whatever is not live at the beginning, the events are the same.
#[test]
fn what_is_not_live_does_not_matter() {
    let mut random = Random(1);
    let (mut free, mut differ, mut events) = (0, 0, 0);
    for _ in 0..600 {
        let (program, cfg) = Program::random(&mut random);
        for _ in 0..3 {
            let state = State::random(&mut random);
            let ran = run(&program, &cfg, state.clone());
            let (_, entry) = walked((&program, &cfg), &ran.steps, ran.last, None, &Known::default(), None);
            let (slots, live) = entry.expect("the walk went through the function");
            for _ in 0..6 {
                let mut other = State::random(&mut random);
                (0..NUMBERS).filter(|slot| slots.contains(*slot)).for_each(|slot| other.slots[slot as usize] = state.slots[slot as usize]);
                let words = (0..WORDS as usize).filter(|word| live.is_live(MEMORY + 8 * *word as u64, 8));
                words.for_each(|word| other.memory[word] = state.memory[word]);
                let again = run(&program, &cfg, other.clone());
                assert_eq!(again.events, ran.events, "{state:?} {other:?} {:?} {:?}", program.insts, program.blocks);
                free += usize::from(other != state);
                differ += usize::from(again.steps != ran.steps);
                events += ran.events.len();
            }
        }
    }
    assert!(free > 3000 && differ > 300 && events > 2000, "{free} other states, {differ} other paths, {events} events");
}

/// Laws 2 and 4: a walk in two parts finds what a walk at once finds, and a walk from a join what a walk from each part finds.
#[test]
fn walks_in_parts_find_what_one_walk_finds() {
    let mut random = Random(2);
    let (mut parts, mut joins) = (0, 0);
    for _ in 0..600 {
        let (program, cfg) = Program::random(&mut random);
        let toy = (&program, &cfg);
        let runs: Vec<Ran> = (0..4).map(|_| run(&program, &cfg, State::random(&mut random))).collect();
        for ran in &runs {
            let (whole, _) = walked(toy, &ran.steps, ran.last, None, &Known::default(), None);
            for at in 0..ran.decisions.len() {
                let (first, op, state) = &ran.decisions[at];
                let (needs, below) = needs_at(toy, ran, at);
                let before = |needs: &Needs| walked(toy, &ran.steps[..*first], *op, None, &Known::default(), Some(needs));
                let (above, _) = before(&needs);
                assert!(whole.iter().all(|decision| below.contains(decision) || above.contains(decision)));
                parts += 1;
                // Another path that comes to the same operation.
                let other = runs.iter().find_map(|other| {
                    let at = other.decisions.iter().position(|(_, at, there)| at == op && there != state)?;
                    Some(needs_at(toy, other, at).0)
                });
                if let Some(both) = other.and_then(|other| needs.join(&other)) {
                    let (more, _) = before(&both);
                    assert!(needs.within(&both) && above.is_within(&more), "a larger live-in set has more relevant decisions");
                    joins += 1;
                }
            }
        }
    }
    assert!(parts > 1000 && joins > 200, "{parts} parts, {joins} joins");
}
