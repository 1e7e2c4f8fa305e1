//! Leaks: heap objects that a path leaves allocated at exit and that no pointer leads to.
//!
//! A mark phase, as in leak checkers. The roots are writable globals, the stack, the slots of calls in progress, and objects that the
//! environment made. Every aligned word that points into a live heap object marks this object; interior pointers count. Marked objects
//! are scanned in turn. What stays unmarked is lost. A symbolic word counts with its value in the path's model, so a leak holds for the
//! path's test. Slots and variables that are dead still count as pointers, so reachable memory is never reported. Cost: one look at every
//! word in use; no solver.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use wryneck_expr::ExprId;

use crate::ground::image::CodePos;
use crate::ground::memory::{Byte, HeapObject, Life, PAGE, heap};
use crate::ground::path_end::{Fault, FaultKind};
use crate::ground::places;
use crate::ground::stacks::StackId;
use crate::step::core::LedgerKind;
use crate::step::cx::Cx;

/// Memory that one call stack allocated and the path lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    pub fault: Fault,
    /// Lost bytes that this stack allocated and no other lost object leads to, and in how many objects.
    pub bytes: u64,
    pub objects: u64,
    /// Who allocated it, innermost first.
    pub stack: Vec<CodePos>,
}

/// Bytes and objects.
#[derive(Clone, Copy, Default)]
struct Amount {
    bytes: u64,
    objects: u64,
}

impl Amount {
    fn add(&mut self, object: &HeapObject) {
        self.bytes += object.size;
        self.objects += 1;
    }

    fn words(self) -> String {
        let plural = |n: u64| if n == 1 { "" } else { "s" };
        format!("{} byte{} in {} object{}", self.bytes, plural(self.bytes), self.objects, plural(self.objects))
    }
}

/// The leaks of a path that exits, one per allocating call stack. What is still reachable goes into the ledger.
pub fn at_exit(cx: &mut Cx<'_>) -> Vec<Leak> {
    let environment = cx.core.environment.clone();
    let (ours, given): (Vec<_>, Vec<_>) = cx.state.memory.heap.live().partition(|o| environment.allocates(o));
    let reached = from_roots(cx, &given);
    let (reachable, lost): (Vec<_>, Vec<_>) = ours.into_iter().partition(|o| reached.contains(&o.base));
    let mut still = Amount::default();
    for object in &reachable {
        still.add(object);
        let place = allocated_at(cx, object.origin);
        cx.core.ledger.note(LedgerKind::Warning, format!("memory is still reachable at exit, allocated at {place}"));
    }
    let mut leaks: BTreeMap<StackId, (Amount, Amount)> = BTreeMap::new();
    for (head, rest) in grouped(cx, &lost) {
        let (direct, indirect) = leaks.entry(head.origin).or_default();
        direct.add(&head);
        rest.iter().for_each(|object| indirect.add(object));
    }
    let mut leaks: Vec<Leak> = leaks
        .into_iter()
        .map(|(origin, (direct, indirect))| {
            let mut message = format!("{} allocated here {} lost at exit", direct.words(), if direct.bytes == 1 { "is" } else { "are" });
            if indirect.objects > 0 {
                message += &format!(", and with them {} that only they lead to", indirect.words());
            }
            if still.objects > 0 {
                message += &format!("; {} of other allocations are still reachable", still.words());
            }
            let fault = Fault { kind: FaultKind::MemoryLeak, message };
            Leak { fault, bytes: direct.bytes, objects: direct.objects, stack: cx.core.stacks.get(origin).to_vec() }
        })
        .collect();
    leaks.sort_by(|a, b| a.stack.cmp(&b.stack));
    leaks
}

/// The innermost places of an allocation, in words.
fn allocated_at(cx: &Cx<'_>, origin: StackId) -> String {
    const PLACES: usize = 4;
    let stack = cx.core.stacks.get(origin);
    let ours = stack.iter().rposition(|pos| !places::in_library(&cx.core.image, *pos)).map_or(stack.len(), |outermost| outermost + 1);
    let places: Vec<String> = stack[..ours].iter().take(PLACES).map(|pos| places::name(&cx.core.image, *pos)).collect();
    places.join(", called from ")
}

/// The bases of all heap objects that the path can still reach. `given` are roots too.
fn from_roots(cx: &mut Cx<'_>, given: &[HeapObject]) -> FxHashSet<u64> {
    let mut mark = Mark { cx, reached: FxHashSet::default(), work: Vec::new() };
    let statics = mark.cx.state.memory.statics.clone();
    statics.iter().filter(|s| s.writable).for_each(|s| mark.scan(s.base, s.size));
    let state = &*mark.cx.state;
    let mut stacks = vec![(state.sp, state.stack_top)];
    stacks.extend(state.parked_stacks().map(|(sp, top, _)| (sp, top)));
    let stack: Vec<u64> = mark
        .cx
        .state
        .memory
        .space
        .pages()
        .map(|(number, _)| number * PAGE)
        .filter(|at| stacks.iter().any(|(sp, top)| (sp & !(PAGE - 1)..*top).contains(at)))
        .collect();
    stack.into_iter().for_each(|page| mark.scan(page, PAGE));
    for frame in mark.cx.state.all_frames() {
        let (slots, tags) = frame.slots();
        for (slot, tag) in slots.iter().zip(tags) {
            let value = if *tag == 0 { *slot } else { mark.value(ExprId::from_raw(*slot as u32)) };
            mark.meet(value);
        }
    }
    given.iter().for_each(|object| mark.scan(object.base, object.size));
    mark.follow();
    mark.reached
}

/// Lost objects in groups: one that no other lost object leads to, and what only it leads to. A ring has its lowest object as head.
fn grouped(cx: &mut Cx<'_>, lost: &[HeapObject]) -> Vec<(HeapObject, Vec<HeapObject>)> {
    let index: FxHashMap<u64, usize> = lost.iter().enumerate().map(|(i, o)| (o.base, i)).collect();
    let mut leads_to = Vec::with_capacity(lost.len());
    let mut is_led_to = vec![false; lost.len()];
    for (i, object) in lost.iter().enumerate() {
        let mut mark = Mark { cx, reached: FxHashSet::default(), work: Vec::new() };
        mark.scan(object.base, object.size);
        let next: Vec<usize> = mark.work.iter().filter_map(|o| index.get(&o.base).copied()).filter(|j| *j != i).collect();
        next.iter().for_each(|j| is_led_to[*j] = true);
        leads_to.push(next);
    }
    let mut taken = vec![false; lost.len()];
    let mut groups = Vec::new();
    let heads = (0..lost.len()).filter(|i| !is_led_to[*i]);
    for head in heads.chain(0..lost.len()) {
        if std::mem::replace(&mut taken[head], true) {
            continue;
        }
        let (mut rest, mut work) = (Vec::new(), leads_to[head].clone());
        while let Some(i) = work.pop() {
            if !std::mem::replace(&mut taken[i], true) {
                rest.push(lost[i]);
                work.extend(&leads_to[i]);
            }
        }
        groups.push((lost[head], rest));
    }
    groups
}

struct Mark<'a, 'b> {
    cx: &'a mut Cx<'b>,
    /// Bases of live heap objects.
    reached: FxHashSet<u64>,
    /// Those of them not yet looked into.
    work: Vec<HeapObject>,
}

impl Mark<'_, '_> {
    fn value(&mut self, e: ExprId) -> u64 {
        self.cx.core.eval.eval(&self.cx.core.pool, e, &self.cx.state.model)
    }

    /// A word that may be a pointer into the heap.
    fn meet(&mut self, word: u64) {
        if !heap::contains(word) {
            return;
        }
        if let Some(object) = self.cx.state.memory.heap.find(word)
            && object.life == Life::Live
            && word.wrapping_sub(object.base) < object.size.max(1)
            && self.reached.insert(object.base)
        {
            self.work.push(object);
        }
    }

    /// Looks at every aligned word of a range.
    fn scan(&mut self, base: u64, size: u64) {
        let (mut at, end) = (base.next_multiple_of(8), (base + size) & !7);
        while at < end {
            let here = end.min((at / PAGE + 1) * PAGE);
            let Some(page) = self.cx.state.memory.space.page(at / PAGE) else {
                at = here;
                continue;
            };
            // Most of a mapped library is constant, and few of its words are addresses.
            if let Some(bytes) = page.concrete_slice((at % PAGE) as usize, (here - at) as usize) {
                let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
                let pointers: Vec<u64> = words.filter(|word| heap::contains(*word)).collect();
                pointers.into_iter().for_each(|word| self.meet(word));
                at = here;
                continue;
            }
            for at in (at..here).step_by(8) {
                let page = self.cx.state.memory.space.page(at / PAGE);
                let word = page.and_then(|page| page.load((at % PAGE) as usize, 8)).or_else(|| self.symbolic_word(at));
                if let Some(word) = word {
                    self.meet(word);
                }
            }
            at = here;
        }
    }

    /// Eight bytes some of which are symbolic, under the model; `None` if one has no value.
    fn symbolic_word(&mut self, addr: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        for (at, byte) in (addr..).zip(&mut bytes) {
            *byte = match self.cx.state.memory.space.byte(at) {
                Byte::Concrete(byte) => byte,
                Byte::Symbolic { expr, index } => {
                    let byte = self.cx.core.pool.extract(expr, 8 * u32::from(index), 8);
                    self.value(byte) as u8
                }
                Byte::Dead | Byte::Uninitialised => return None,
            };
        }
        Some(u64::from_le_bytes(bytes))
    }

    fn follow(&mut self) {
        while let Some(object) = self.work.pop() {
            self.scan(object.base, object.size);
        }
    }
}
