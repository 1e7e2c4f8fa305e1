//! The paths of a folder's tests as a tree, from their decisions. A damaged prefix leaves its path out.

use std::collections::BTreeMap;

use wryneck_exec::prefix::{self, Decision};
use wryneck_report::{Place, Tree, TreeNode};

use crate::decided::Places;

/// Most paths, and most decisions of all of them together; later paths are left out.
const MOST_PATHS: usize = 20_000;
const MOST_DECISIONS: usize = 4_000_000;

/// Collects the paths.
#[derive(Default)]
pub struct Paths {
    paths: Vec<Path>,
    decisions: usize,
}

struct Path {
    decisions: Vec<Decision>,
    places: Places,
    test: u32,
}

impl Paths {
    /// The path of the test with this number among the tests.
    pub fn add(&mut self, test: u32, prefix: &[u8], places: &str) {
        // A decision takes a byte at least.
        if self.paths.len() >= MOST_PATHS || self.decisions + prefix.len() > MOST_DECISIONS {
            return;
        }
        if let Some(decisions) = prefix::decode(prefix) {
            self.decisions += decisions.len();
            self.paths.push(Path { decisions, places: Places::read(places), test });
        }
    }

    /// Each node before those below it, these in the order of their decisions.
    pub fn tree(mut self) -> Tree {
        let (mut nodes, mut places) = (Vec::new(), Numbered::default());
        if self.paths.is_empty() {
            return Tree::default();
        }
        self.paths.sort_by(|a, b| (&a.decisions, a.test).cmp(&(&b.decisions, b.test)));
        // Paths that agree on so many decisions, below this node.
        let mut open = vec![(0..self.paths.len(), 0, 0_u32)];
        while let Some((range, before, parent)) = open.pop() {
            let number = nodes.len() as u32;
            let (paths, first) = (&self.paths[range.clone()], range.start);
            let (low, high) = (&paths[0].decisions, &paths[paths.len() - 1].decisions);
            // In their order, what the first and the last share all others share.
            let shared = before + low[before..].iter().zip(&high[before..]).take_while(|(a, b)| a == b).count();
            let decisions = (shared - before) as u32;
            let end = |path: &Path, parent, decisions| TreeNode { parent, decisions, test: Some(path.test), place: None };
            if let [path] = paths {
                nodes.push(end(path, parent, decisions));
                continue;
            }
            // The last path makes a decision here, unless all end here.
            let last = &paths[paths.len() - 1];
            let place = last.places.at(shared).filter(|_| shared < last.decisions.len()).map(|place| places.number(&place));
            nodes.push(TreeNode { parent, decisions, test: None, place });
            let ended = paths.iter().take_while(|path| path.decisions.len() == shared).count();
            nodes.extend(paths[..ended].iter().map(|path| end(path, number, 0)));
            let mut at = first + ended;
            let parts: Vec<_> = paths[ended..]
                .chunk_by(|a, b| a.decisions[shared] == b.decisions[shared])
                .map(|part| {
                    let range = at..at + part.len();
                    at = range.end;
                    (range, shared, number)
                })
                .collect();
            open.extend(parts.into_iter().rev());
        }
        Tree { nodes, places: places.all }
    }
}

/// Places, each once.
#[derive(Default)]
struct Numbered {
    all: Vec<Place>,
    numbers: BTreeMap<Place, u32>,
}

impl Numbered {
    fn number(&mut self, place: &Place) -> u32 {
        if let Some(number) = self.numbers.get(place) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(place.clone());
        self.numbers.insert(place.clone(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the decisions of a path: lines 7, 8, 8, 9, 7.
    const PLACES: &str = r#"[[["f","a.c",7,1],["f","a.c",8,1],["f","a.c",9,1]],[0,1,1,2,0]]"#;

    #[test]
    fn paths_part_where_their_decisions_do() {
        let mut paths = Paths::default();
        let branches = |text: &str| text.chars().map(|c| Decision::Branch(c == '1')).collect::<Vec<_>>();
        for (test, text) in ["1101", "1100", "0", "11011", "0"].into_iter().enumerate() {
            paths.add(test as u32, &prefix::encode(&branches(text)), PLACES);
        }
        paths.add(9, &[77], PLACES);
        let node = |parent, decisions, test: Option<u32>| TreeNode { parent, decisions, test, place: None };
        let fork = |parent, decisions, place| TreeNode { place, ..node(parent, decisions, None) };
        let expected = [
            fork(0, 0, Some(0)),
            // Both paths end here.
            fork(0, 1, None),
            node(1, 0, Some(2)),
            node(1, 0, Some(4)),
            fork(0, 3, Some(1)),
            node(4, 1, Some(1)),
            fork(4, 1, Some(0)),
            node(6, 0, Some(0)),
            node(6, 1, Some(3)),
        ];
        let tree = paths.tree();
        assert_eq!(tree.nodes, expected);
        assert_eq!(tree.places.iter().map(|place| place.line).collect::<Vec<_>>(), [7, 9]);
        assert_eq!(Paths::default().tree(), Tree::default());
    }

    #[test]
    fn a_comb_of_many_paths_needs_no_deep_stack() {
        let mut paths = Paths::default();
        for n in 0..2000 {
            let comb: Vec<_> = (0..=n).map(|i| Decision::Branch(i < n)).collect();
            paths.add(n, &prefix::encode(&comb), "");
        }
        let tree = paths.tree().nodes;
        assert_eq!(tree.iter().filter(|node| node.test.is_some()).count(), 2000);
        assert!((1..).zip(&tree[1..]).all(|(number, node)| node.parent < number));
    }
}
