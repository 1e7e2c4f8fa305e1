//! Variables inside larger objects: which variable of machine code lies at which address, as far as anchored addresses have shown.
//!
//! The memory objects of machine code are one stack and a few sections. The bounds of an access are those of the variable that its address
//! came from. An entry lasts until another variable is seen in its place, so a variable of a function that has returned is still known.

/// A variable at its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    pub base: u64,
    /// Bytes, at least 1.
    pub size: u64,
    /// Bytes in front of it that count as its own, even if another variable has them.
    pub before: u64,
    /// Its number with the code source.
    pub number: u32,
}

/// The variables met on a path, apart. By address, the highest first: what calls add lies lower than what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variables(Vec<Variable>);

impl Variables {
    /// How many begin above an address.
    fn above(&self, address: u64) -> usize {
        self.0.partition_point(|v| v.base > address)
    }

    /// The variable that begins at an address.
    pub fn at(&self, base: u64) -> Option<Variable> {
        self.0.get(self.above(base)).filter(|v| v.base == base).copied()
    }

    /// The variable that an address lies in.
    pub fn over(&self, address: u64) -> Option<Variable> {
        self.0.get(self.above(address)).filter(|v| address - v.base < v.size).copied()
    }

    /// Puts a variable in the place of those it overlaps.
    pub fn put(&mut self, variable: Variable) {
        let end = variable.base.saturating_add(variable.size);
        let first = self.0.partition_point(|v| v.base >= end);
        let below = &self.0[first..];
        let overlapping = below.iter().take_while(|v| v.base.saturating_add(v.size) > variable.base).count();
        self.0.splice(first..first + overlapping, [variable]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a map from every byte to its variable.
    #[test]
    fn the_last_variable_put_over_a_byte_is_there() {
        let (mut seed, mut variables, mut last) = (1u64, Variables::default(), Vec::new());
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for number in 0..4000 {
            let new = Variable { base: 100 + random(60), size: 1 + random(9), before: 0, number };
            variables.put(new);
            last.retain(|old: &Variable| old.base + old.size <= new.base || new.base + new.size <= old.base);
            last.push(new);
            for base in 100..170 {
                assert_eq!(variables.at(base), last.iter().find(|v| v.base == base).copied());
                assert_eq!(variables.over(base), last.iter().find(|v| (v.base..v.base + v.size).contains(&base)).copied());
            }
            assert_eq!(variables.0.len(), last.len());
        }
    }
}
