//! The paths of a folder's tests as a tree, from their decisions. A damaged prefix leaves its path out.

use wryneck_exec::prefix::{self, Decision};
use wryneck_report::TreeNode;

/// Most paths, and most decisions of all of them together; later paths are left out.
const MOST_PATHS: usize = 20_000;
const MOST_DECISIONS: usize = 4_000_000;

/// Collects the paths.
#[derive(Default)]
pub struct Paths {
    paths: Vec<(Vec<Decision>, u32)>,
    decisions: usize,
}

impl Paths {
    /// The path of the test at this place among the tests.
    pub fn add(&mut self, test: u32, prefix: &[u8]) {
        // A decision takes a byte at least.
        if self.paths.len() >= MOST_PATHS || self.decisions + prefix.len() > MOST_DECISIONS {
            return;
        }
        if let Some(decisions) = prefix::decode(prefix) {
            self.decisions += decisions.len();
            self.paths.push((decisions, test));
        }
    }

    /// Each node before those below it, these in the order of their decisions.
    pub fn tree(mut self) -> Vec<TreeNode> {
        let mut nodes = Vec::new();
        if self.paths.is_empty() {
            return nodes;
        }
        self.paths.sort();
        // Paths that agree on so many decisions, below this node.
        let mut open = vec![(0..self.paths.len(), 0, 0_u32)];
        while let Some((range, before, parent)) = open.pop() {
            let number = nodes.len() as u32;
            let (paths, first) = (&self.paths[range.clone()], range.start);
            let (low, high) = (&paths[0].0, &paths[paths.len() - 1].0);
            // In their order, what the first and the last share all others share.
            let shared = before + low[before..].iter().zip(&high[before..]).take_while(|(a, b)| a == b).count();
            let decisions = (shared - before) as u32;
            if let [(_, test)] = paths {
                nodes.push(TreeNode { parent, decisions, test: Some(*test) });
                continue;
            }
            nodes.push(TreeNode { parent, decisions, test: None });
            let ended = paths.iter().take_while(|(path, _)| path.len() == shared).count();
            nodes.extend(paths[..ended].iter().map(|(_, test)| TreeNode { parent: number, decisions: 0, test: Some(*test) }));
            let mut at = first + ended;
            let parts: Vec<_> = paths[ended..]
                .chunk_by(|a, b| a.0[shared] == b.0[shared])
                .map(|part| {
                    let range = at..at + part.len();
                    at = range.end;
                    (range, shared, number)
                })
                .collect();
            open.extend(parts.into_iter().rev());
        }
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_part_where_their_decisions_do() {
        let mut paths = Paths::default();
        let branches = |text: &str| text.chars().map(|c| Decision::Branch(c == '1')).collect::<Vec<_>>();
        for (test, text) in ["1101", "1100", "0", "11011", "0"].into_iter().enumerate() {
            paths.add(test as u32, &prefix::encode(&branches(text)));
        }
        paths.add(9, &[77]);
        let node = |parent, decisions, test: Option<u32>| TreeNode { parent, decisions, test };
        let expected = [
            node(0, 0, None),
            node(0, 1, None),
            node(1, 0, Some(2)),
            node(1, 0, Some(4)),
            node(0, 3, None),
            node(4, 1, Some(1)),
            node(4, 1, None),
            node(6, 0, Some(0)),
            node(6, 1, Some(3)),
        ];
        assert_eq!(paths.tree(), expected);
        assert_eq!(Paths::default().tree(), []);
    }

    #[test]
    fn a_comb_of_many_paths_needs_no_deep_stack() {
        let mut paths = Paths::default();
        for n in 0..2000 {
            let comb: Vec<_> = (0..=n).map(|i| Decision::Branch(i < n)).collect();
            paths.add(n, &prefix::encode(&comb));
        }
        let tree = paths.tree();
        assert_eq!(tree.iter().filter(|node| node.test.is_some()).count(), 2000);
        assert!((1..).zip(&tree[1..]).all(|(number, node)| node.parent < number));
    }
}
