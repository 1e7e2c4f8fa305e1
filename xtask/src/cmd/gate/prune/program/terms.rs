//! Integers, places and conditions of random programs.

use super::{Generator, Part};

impl Generator {
    /// An integer in 0..=7, an expression of operators up to `depth`.
    pub(super) fn value(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(3) == 0 {
            return self.leaf();
        }
        let (x, y) = (self.value(depth - 1), self.value(depth - 1));
        match self.below(12) {
            0 | 1 => format!("(({x} + {y}) & 7)"),
            2 => format!("(({x} - {y}) & 7)"),
            3 => format!("(({x} * {y}) & 7)"),
            4 => format!("({x} ^ {y})"),
            5 => format!("({x} & {y})"),
            6 => format!("({x} < {y})"),
            7 => format!("(({x} << ({y} & 3)) & 7)"),
            8 => format!("({x} % ({y} + 1))"),
            9 => format!("(({x}) ? {y} : {})", self.leaf()),
            // An automaton's next state.
            10 => format!("state@[({x} & 3) * 4 + kind@[{y} & 7]]"),
            _ => format!("({x} == {y})"),
        }
    }

    pub(super) fn leaf(&mut self) -> String {
        match self.below(6) {
            0 => self.below(4).to_string(),
            1 | 2 => self.input(),
            3 | 4 if !self.readable.is_empty() => self.pick(&self.readable.clone()),
            _ => self.place(),
        }
    }

    pub(super) fn input(&mut self) -> String {
        if self.in_round && self.below(4) > 0 {
            return "c".into();
        }
        format!("in@[{}]", self.random.below(3))
    }

    /// An integer that may be written.
    pub(super) fn place(&mut self) -> String {
        match self.below(9) {
            0 if self.has(Part::Structures) => self.pick(&["s@.x", "s@.y", "o@.x", "o@.y"]).into(),
            1 | 2 if self.has(Part::Structures) => format!("a@[{} & 3]", self.leaf()),
            3 | 4 if self.has(Part::Pointers) => self.pick(&["*q@", "*s@.p", "*o@.p"]).into(),
            5 if self.has(Part::Blocks) => format!("{}@[{} & 3]", self.pick(&["m", "l"]), self.leaf()),
            6 | 7 if !self.writable.is_empty() => self.pick(&self.writable.clone()),
            _ => self.pick(&["g0@", "g1@"]).into(),
        }
    }

    pub(super) fn condition(&mut self) -> String {
        let known = self.conditions.len();
        match self.below(8) {
            0..3 if known > 0 => {
                let again = self.pick(&self.conditions.clone());
                if self.below(3) == 0 { format!("!({again})") } else { again }
            }
            0..5 => {
                let i = self.below(3);
                let x = if self.in_round { self.input() } else { format!("in@[{i}]") };
                let k = self.random.below(self.values[i]);
                let fresh = match self.below(4) {
                    0 => format!("{x} & {}", 1 + k % 2),
                    1 => format!("{x} < {}", self.input()),
                    _ => format!("{x} == {k}"),
                };
                self.conditions.push(fresh.clone());
                fresh
            }
            5 => format!("{} && {}", self.value(0), self.value(1)),
            6 => self.comparison(),
            _ => self.value(1),
        }
    }
}
