//! The control-flow graph of one function: successors, and the immediate post-dominator of each branch.
//!
//! A path in the graph ends at the return, at instructions that nothing passes (unreachable, unsupported, traps), at computed jumps, and at
//! calls that never return. Post-dominators are computed over returning paths, with computed jumps as returns; non-returning paths are part
//! of a branch's effects. Blocks from which no path returns are computed over the paths that leave otherwise. Blocks without such paths are
//! computed over those that fault. Loops without an exit come last: the block that a depth-first search finishes first counts as the exit.
//!
//! Algorithm: Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm" (2001), on the reversed graph. Cost: a few passes over the
//! blocks.

use std::cell::OnceCell;

use wryneck_ir::{Function, Inst, Module, Op};

/// A block of the function.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The first operation, and the first one after those that can run: after the last one, or after a call that never returns.
    pub ops: std::ops::Range<u32>,
    /// Its outgoing edges with their target blocks. An edge that several cases share is listed once.
    pub edges: Vec<(u32, u32)>,
    /// How a path ends in this block, if one does.
    pub end: Option<End>,
}

/// How a path in the graph ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Return,
    /// A call that never returns, or an unsupported instruction.
    Leave,
    /// A fault of the program.
    Fault,
    /// A computed jump.
    Jump,
}

#[derive(Clone, Debug)]
pub struct Cfg {
    pub blocks: Vec<Block>,
    /// Number of the function's first instruction in its module.
    pub first_inst: u32,
    /// First operations of blocks, ascending, with the blocks.
    order: Vec<(u32, u32)>,
    /// Blocks in reverse post-order.
    forward: OnceCell<Vec<u32>>,
    /// Immediate post-dominators. The number after the last block is the exit.
    post: OnceCell<Vec<u32>>,
    /// Blocks after which no path ends.
    endless: OnceCell<Vec<bool>>,
    /// Blocks from which some path returns.
    returning: OnceCell<Vec<bool>>,
}

/// Known facts about the calls of a function, which remove paths.
pub trait Calls {
    /// How the program ends in the call at an instruction, if the call never returns.
    fn never_returns(&self, call: &Inst) -> Option<End>;
    /// The edge that the branch at an operation never takes, if there is one.
    fn never_takes(&self, op: u32) -> Option<u32>;
}

/// No known facts.
pub struct Unknown;

impl Calls for Unknown {
    fn never_returns(&self, _: &Inst) -> Option<End> {
        None
    }
    fn never_takes(&self, _: u32) -> Option<u32> {
        None
    }
}

impl Cfg {
    pub fn new(module: &Module, function: &Function, calls: &dyn Calls) -> Cfg {
        let records = module.blocks.range(function.blocks);
        let first_inst = records.iter().map(|b| b.insts.first).min().unwrap_or(0);
        let blocks: Vec<Block> = records.iter().map(|b| block(module, function, first_inst, b.insts, calls)).collect();
        Cfg { first_inst, ..Cfg::of(blocks) }
    }

    /// A graph of blocks with edges by block numbers. The function begins with the first block.
    pub fn of(blocks: Vec<Block>) -> Cfg {
        let mut order: Vec<(u32, u32)> = blocks.iter().zip(0..).map(|(b, i)| (b.ops.start, i)).collect();
        order.sort_unstable();
        let (forward, post, endless, returning) = Default::default();
        Cfg { blocks, first_inst: 0, order, forward, post, endless, returning }
    }

    /// The block of an operation.
    pub fn block_of(&self, op: u32) -> u32 {
        let behind = self.order.partition_point(|(first, _)| *first <= op);
        self.order.get(behind.saturating_sub(1)).map_or(0, |(_, block)| *block)
    }

    /// All blocks in reverse post-order.
    pub fn forward(&self) -> &[u32] {
        self.forward.get_or_init(|| {
            let (next, mut reached) = (successors(&self.blocks), vec![false; self.blocks.len()]);
            let mut order = Vec::new();
            for start in 0..self.blocks.len() as u32 {
                if !reached[start as usize] {
                    order.extend(post_order(start, &next, &mut reached));
                }
            }
            order.reverse();
            order
        })
    }

    /// The immediate post-dominator of `block`, over returning paths; over paths with the same kind of end if none returns.
    pub fn join(&self, block: u32) -> Option<u32> {
        let post = self.post.get_or_init(|| post_dominators(&self.blocks));
        post.get(block as usize).copied().filter(|p| (*p as usize) < self.blocks.len())
    }

    /// The blocks reachable from `starts` without passing `stop`, each once.
    pub fn reachable(&self, starts: impl IntoIterator<Item = u32>, stop: Option<u32>) -> Vec<u32> {
        let mut seen = vec![false; self.blocks.len()];
        let mut found = Vec::new();
        let mut todo: Vec<u32> = starts.into_iter().collect();
        while let Some(b) = todo.pop() {
            if Some(b) == stop || std::mem::replace(&mut seen[b as usize], true) {
                continue;
            }
            found.push(b);
            todo.extend(self.blocks[b as usize].edges.iter().map(|(_, to)| *to));
        }
        found
    }

    /// Whether no path from the block ends, so that control stays in a loop.
    pub fn endless(&self, block: u32) -> bool {
        self.endless.get_or_init(|| {
            let reached = self.leading_to(|end| end.is_some());
            reached.iter().map(|r| !r).collect()
        })[block as usize]
    }

    /// Whether some path from the block returns.
    pub fn returning(&self, block: u32) -> bool {
        self.returning.get_or_init(|| self.leading_to(|end| matches!(end, Some(End::Return | End::Jump))))[block as usize]
    }

    /// By block: whether it reaches a block with such an end.
    fn leading_to(&self, is_end: impl Fn(Option<End>) -> bool) -> Vec<bool> {
        let ends = self.blocks.iter().zip(0..).filter(|(b, _)| is_end(b.end)).map(|(_, b)| b).collect();
        let preds = predecessors(&self.blocks, ends);
        let mut reached = vec![false; preds.len()];
        post_order(self.blocks.len() as u32, &preds, &mut reached);
        reached
    }

    /// The blocks of this closed set that reach `stop`, or a return if there is no `stop`.
    pub fn arriving(&self, blocks: &[u32], stop: Option<u32>) -> Vec<bool> {
        let mut arrives = vec![false; self.blocks.len()];
        let Some(stop) = stop else {
            blocks.iter().for_each(|b| arrives[*b as usize] = self.returning(*b));
            return arrives;
        };
        loop {
            let mut changed = false;
            for &b in blocks {
                let block = &self.blocks[b as usize];
                if !arrives[b as usize] && block.edges.iter().any(|(_, to)| *to == stop || arrives[*to as usize]) {
                    arrives[b as usize] = true;
                    changed = true;
                }
            }
            if !changed {
                return arrives;
            }
        }
    }

    /// How the function ends, if it never returns; `None`: it may return.
    pub fn never_returns(&self) -> Option<End> {
        if self.returns() {
            return None;
        }
        let reached = self.reachable([0], None);
        let faults = |b: &u32| !matches!(self.blocks[*b as usize].end, Some(End::Leave)) && !self.endless(*b);
        Some(if reached.iter().all(faults) { End::Fault } else { End::Leave })
    }

    /// Whether the function may return.
    pub fn returns(&self) -> bool {
        self.blocks.is_empty()
            || self.reachable([0], None).iter().any(|b| matches!(self.blocks[*b as usize].end, Some(End::Return | End::Jump)))
    }
}

fn block(module: &Module, function: &Function, first_inst: u32, insts: wryneck_ir::Range, calls: &dyn Calls) -> Block {
    let start = insts.first - first_inst;
    let all = module.insts.range(insts);
    let call = |inst: &Inst| matches!(inst.operator(), Some(Op::Call | Op::CallIndirect));
    let stop = (0..).zip(all).filter(|(_, inst)| call(inst)).find_map(|(i, inst)| Some((i, calls.never_returns(inst)?)));
    if let Some((i, end)) = stop {
        return Block { ops: start..start + i + 1, edges: Vec::new(), end: Some(end) };
    }
    let mut edges: Vec<u32> = Vec::new();
    let mut end = None;
    if let Some(last) = all.last() {
        match last.operator() {
            Some(Op::Br) => edges.push(last.a),
            Some(Op::CondBr) => {
                let never = calls.never_takes(start + insts.count - 1);
                edges.extend([last.b, last.c].into_iter().filter(|e| Some(*e) != never));
            }
            Some(Op::Switch) => {
                let switch = module.switches.range(function.switches)[last.b as usize];
                edges.extend(module.cases.range(switch.cases).iter().map(|c| c.edge));
                edges.push(switch.default);
            }
            Some(Op::Ret) => end = Some(End::Return),
            Some(Op::Jump) => end = Some(End::Jump),
            Some(Op::Unreachable | Op::Trap) => end = Some(End::Fault),
            Some(_) | None => end = Some(End::Leave),
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let records = module.edges.range(function.edges);
    Block { ops: start..start + insts.count, edges: edges.into_iter().map(|e| (e, records[e as usize].block)).collect(), end }
}

fn successors(blocks: &[Block]) -> Vec<Vec<u32>> {
    blocks.iter().map(|b| b.edges.iter().map(|(_, to)| *to).collect()).collect()
}

/// By block. The number of blocks stands for the exit, which `ends` lead to.
fn predecessors(blocks: &[Block], ends: Vec<u32>) -> Vec<Vec<u32>> {
    let mut preds = vec![Vec::new(); blocks.len()];
    for (b, block) in blocks.iter().enumerate() {
        block.edges.iter().for_each(|(_, to)| preds[*to as usize].push(b as u32));
    }
    preds.push(ends);
    preds
}

/// Kinds of ends in order of precedence.
const ENDS: [&[End]; 3] = [&[End::Return, End::Jump], &[End::Leave], &[End::Fault]];

/// By block. The number of blocks stands for the exit.
fn post_dominators(blocks: &[Block]) -> Vec<u32> {
    let mut post = vec![u32::MAX; blocks.len()];
    for ends in ENDS {
        let is_end = |b: &u32| blocks[*b as usize].end.is_some_and(|end| ends.contains(&end));
        let ends = left(&post).filter(is_end).collect();
        post_dominators_to(ends, blocks, &mut post);
    }
    // Loops without an exit.
    let succs = successors(blocks);
    let mut seen: Vec<bool> = post.iter().map(|p| *p != u32::MAX).collect();
    let (mut forward, mut ends) = (Vec::new(), Vec::new());
    for b in left(&post) {
        if !seen[b as usize] {
            forward.extend(post_order(b, &succs, &mut seen));
        }
    }
    let preds = predecessors(blocks, Vec::new());
    let mut reached: Vec<bool> = post.iter().map(|p| *p != u32::MAX).chain([false]).collect();
    for b in forward {
        if !reached[b as usize] {
            ends.push(b);
            post_order(b, &preds, &mut reached);
        }
    }
    post_dominators_to(ends, blocks, &mut post);
    post
}

/// The blocks that have no post-dominator yet.
fn left(post: &[u32]) -> impl Iterator<Item = u32> + '_ {
    post.iter().zip(0..).filter(|(p, _)| **p == u32::MAX).map(|(_, b)| b)
}

/// Post-dominators of the blocks that have none yet and lead to some of `ends`.
fn post_dominators_to(ends: Vec<u32>, blocks: &[Block], post: &mut [u32]) {
    let exit = blocks.len();
    if ends.is_empty() {
        return;
    }
    let mut reached: Vec<bool> = post.iter().map(|p| *p != u32::MAX).chain([false]).collect();
    let preds = predecessors(blocks, ends);
    let order = post_order(exit as u32, &preds, &mut reached);
    let mut succs = vec![Vec::new(); exit + 1];
    for (to, from) in preds.iter().enumerate() {
        from.iter().for_each(|b| succs[*b as usize].push(to as u32));
    }
    let mut number = vec![usize::MAX; exit + 1];
    order.iter().enumerate().for_each(|(i, b)| number[*b as usize] = i);
    let mut own = vec![u32::MAX; exit + 1];
    own[exit] = exit as u32;
    loop {
        let mut changed = false;
        for &b in order.iter().rev().filter(|b| **b as usize != exit) {
            let mut best = u32::MAX;
            for &s in succs[b as usize].iter().filter(|s| own[**s as usize] != u32::MAX) {
                best = if best == u32::MAX { s } else { meet(best, s, &own, &number) };
            }
            if own[b as usize] != best {
                own[b as usize] = best;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    order.iter().filter(|b| **b as usize != exit).for_each(|b| post[*b as usize] = own[*b as usize]);
}

/// The nearest block that post-dominates both.
fn meet(mut a: u32, mut b: u32, post: &[u32], number: &[usize]) -> u32 {
    while a != b {
        while number[a as usize] < number[b as usize] {
            a = post[a as usize];
        }
        while number[b as usize] < number[a as usize] {
            b = post[b as usize];
        }
    }
    a
}

/// The unvisited blocks reachable from `start`, in post-order.
fn post_order(start: u32, next: &[Vec<u32>], reached: &mut [bool]) -> Vec<u32> {
    let mut order = Vec::new();
    let mut stack = vec![(start, 0)];
    reached[start as usize] = true;
    while let Some((node, at)) = stack.last_mut() {
        match next[*node as usize].get(*at) {
            Some(&n) => {
                *at += 1;
                if !std::mem::replace(&mut reached[n as usize], true) {
                    stack.push((n, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}
