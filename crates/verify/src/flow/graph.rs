//! Strongly connected components of small graphs (Tarjan, "Depth-first search and linear graph algorithms", 1972). Linear.

/// The components that are reachable from `starts`, in a graph of nodes below `count`, each after its successors. `next` returns the target
/// of a node's edge, by the edge's number, if there is one.
pub fn components(count: usize, starts: impl IntoIterator<Item = u32>, mut next: impl FnMut(u32, usize) -> Option<u32>) -> Vec<Vec<u32>> {
    let (mut index, mut low, mut on_stack) = (vec![0u32; count], vec![0u32; count], vec![false; count]);
    let (mut stack, mut found, mut counter) = (Vec::new(), Vec::new(), 0);
    for start in starts {
        if index[start as usize] != 0 {
            continue;
        }
        let mut calls = vec![(start, 0)];
        while let Some((node, at)) = calls.last_mut() {
            let n = *node as usize;
            if *at == 0 {
                counter += 1;
                (index[n], low[n], on_stack[n]) = (counter, counter, true);
                stack.push(*node);
            }
            if let Some(to) = next(*node, *at) {
                *at += 1;
                if index[to as usize] == 0 {
                    calls.push((to, 0));
                } else if on_stack[to as usize] {
                    low[n] = low[n].min(index[to as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, _)) = calls.last() {
                low[*caller as usize] = low[*caller as usize].min(low[n]);
            }
            if low[n] == index[n] {
                let at = stack.iter().rposition(|m| *m as usize == n).expect("a node stays on the stack until its component is found");
                let members = stack.split_off(at);
                members.iter().for_each(|m| on_stack[*m as usize] = false);
                found.push(members);
            }
        }
    }
    found
}
