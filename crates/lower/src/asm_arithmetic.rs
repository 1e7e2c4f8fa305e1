//! Arithmetic in inline assembly: a few instructions on registers, which big-number and bit-counting code of C programs is written in.
//!
//! Each operand of the template is a register; the words `%rax` and `%rdx` are not known, but `mul` and `div` mean the operands that are bound to them.
//! Operands in memory, flags as outputs and all other instructions are unsupported. Widths are 32 and 64 bits; a result of 32 bits clears the upper half.

use wryneck_ir::Op;
use wryneck_ir::build::Slot;

use crate::body::Body;
use crate::error::Unsupported;
use crate::ffi::Value;
use crate::inst::Lowered;
use crate::value::Val;

/// What an instruction does with its operands: the last one is the destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Move,
    /// `destination = destination op source`; flags are not known afterwards.
    Combine(Op),
    /// Addition and subtraction leave a carry, and may take one.
    Add {
        carries: bool,
    },
    Subtract {
        borrows: bool,
    },
    /// `destination = op source`.
    Convert(Op),
    /// The index of the highest bit that is set. Of 0 it is undefined.
    HighestBit,
    /// Adds 1 or -1, and leaves the carry as it is.
    Step(u64),
    /// Signed and unsigned products of one word are alike.
    Product,
    /// A shift; the count is taken modulo the width.
    Shift(Op),
    Exchange,
    /// The bytes of the destination in the opposite order.
    Swap,
    Complement,
    Negate,
    /// `rdx:rax = rax * source`, `rax, rdx = rdx:rax divided by source`.
    Multiply,
    Divide,
}

/// Sorted by name; a suffix `l` or `q` says the width.
const INSTRUCTIONS: [(&str, Does); 27] = [
    ("adc", Does::Add { carries: true }),
    ("add", Does::Add { carries: false }),
    ("and", Does::Combine(Op::And)),
    ("bsf", Does::Convert(Op::Cttz)),
    ("bsr", Does::HighestBit),
    ("bswap", Does::Swap),
    ("dec", Does::Step(u64::MAX)),
    ("div", Does::Divide),
    ("imul", Does::Product),
    ("inc", Does::Step(1)),
    ("lzcnt", Does::Convert(Op::Ctlz)),
    ("mov", Does::Move),
    ("mul", Does::Multiply),
    ("neg", Does::Negate),
    ("not", Does::Complement),
    ("or", Does::Combine(Op::Or)),
    ("popcnt", Does::Convert(Op::Ctpop)),
    ("rol", Does::Combine(Op::Fshl)),
    ("ror", Does::Combine(Op::Fshr)),
    ("sar", Does::Shift(Op::Ashr)),
    ("sbb", Does::Subtract { borrows: true }),
    ("shl", Does::Shift(Op::Shl)),
    ("shr", Does::Shift(Op::Lshr)),
    ("sub", Does::Subtract { borrows: false }),
    ("tzcnt", Does::Convert(Op::Cttz)),
    ("xchg", Does::Exchange),
    ("xor", Does::Combine(Op::Xor)),
];

/// The registers of `mul` and `div`, as constraints name them.
const LOW: &str = "{ax}";
const HIGH: &str = "{dx}";
/// The register of a shift's count, in a constraint and in an instruction.
const COUNT: [&str; 2] = ["{cx}", "%cl"];

/// An operand of the template: a register that the compiler chose.
struct Register {
    /// As its constraint names it.
    name: String,
    /// Bits of its type.
    width: u16,
    /// `None`: undefined so far.
    value: Option<Slot>,
}

/// An operand of an instruction.
#[derive(Clone, Copy)]
enum Operand {
    /// The number of a register (when read: of the template's operand), and the bits that the instruction takes of it, if it says.
    Register(usize, Option<u16>),
    /// The register whose low byte counts a shift.
    Count(usize),
    Number(u64),
}

/// The registers, and the carry flag where it is known.
struct Machine {
    registers: Vec<Register>,
    /// Of each operand of the template, its register: an input that is tied to an output has that one's.
    operands: Vec<usize>,
    carry: Option<Slot>,
}

impl<'m> Body<'_, 'm> {
    /// Instructions that only compute in registers.
    pub fn arithmetic_asm(&mut self, v: Value<'m>, asm: Value<'m>, code: &[&str], constraints: &str) -> Lowered {
        let refused = || Unsupported::Asm(code.first().unwrap_or(&"").to_string());
        let widths: Vec<u16> = self.cx.types.shape(v.ty())?.leaves().collect();
        let mut machine = Machine { registers: Vec::new(), operands: Vec::new(), carry: None };
        let mut outputs = 0;
        let mut argument = 0;
        for constraint in constraints.split(',').filter(|c| !c.starts_with('~')) {
            if let Some(output) = constraint.strip_prefix('=') {
                let name = output.trim_start_matches('&').to_owned();
                let width = widths.get(outputs).copied().ok_or_else(refused)?;
                if name.starts_with('*') || name.starts_with("{@") {
                    return Err(refused());
                }
                outputs += 1;
                machine.operands.push(machine.registers.len());
                machine.registers.push(Register { name, width, value: None });
                continue;
            }
            if constraint.contains('*') {
                return Err(refused());
            }
            let input = v.operand(argument);
            let width = self.cx.types.scalar(input.ty())?;
            let value = self.scalar(input)?;
            argument += 1;
            let tied = constraint.trim_start_matches('%').parse().ok().filter(|n: &usize| *n < outputs);
            if let Some(output) = tied {
                if machine.registers[output].width != width {
                    return Err(refused());
                }
                machine.operands.push(output);
                machine.registers[output].value = Some(value);
                continue;
            }
            machine.operands.push(machine.registers.len());
            machine.registers.push(Register { name: constraint.to_owned(), width, value: Some(value) });
        }
        if outputs != widths.len() || outputs == 0 {
            return Err(refused());
        }
        for line in code.iter().flat_map(|line| statements(line)) {
            self.asm_instruction(line, asm.is_intel_asm(), &mut machine).ok_or_else(|| Unsupported::Asm(line.to_owned()))?;
        }
        let mut leaves = Vec::new();
        for register in machine.registers.into_iter().take(outputs) {
            leaves.push(register.value.unwrap_or_else(|| self.b.int(register.width, 0)));
        }
        Ok(Some(leaves.into_iter().collect::<Val>()))
    }

    /// One instruction; `None`: it is not known, or takes what is not.
    fn asm_instruction(&mut self, line: &str, intel: bool, machine: &mut Machine) -> Option<()> {
        let (name, operands) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let (does, suffix) = known(name)?;
        let shifts = matches!(does, Does::Shift(_) | Does::Combine(Op::Fshl | Op::Fshr));
        let count = || machine.registers.iter().position(|register| register.name == COUNT[0]).map(Operand::Count);
        let read = |text: &str| match operand(text, intel) {
            Some(Operand::Register(n, said)) => machine.operands.get(n).map(|register| Operand::Register(*register, said)),
            None if shifts && text == COUNT[1] => count(),
            other => other,
        };
        let mut operands: Vec<Operand> = operands.split(',').map(|text| read(text.trim())).collect::<Option<_>>()?;
        if intel {
            operands.reverse();
        }
        let (&destination, sources) = operands.split_last()?;
        let Operand::Register(to, said) = destination else { return None };
        let width = suffix.or(said).unwrap_or(machine.registers.get(to)?.width);
        if !matches!(width, 32 | 64) {
            return None;
        }
        // `imul number, source, destination`.
        if let (Does::Product, [number @ Operand::Number(_), source]) = (does, sources) {
            let (a, b) = (self.taken(*number, width, machine)?, self.taken(*source, width, machine)?);
            machine.carry = None;
            let product = self.b.binary(Op::Mul, width, a, b);
            return self.give(to, width, product, machine);
        }
        let source = match sources {
            [] => None,
            [source] => Some(self.taken(*source, width, machine)?),
            _ => return None,
        };
        let result = match (does, source) {
            (Does::Move, Some(source)) => source,
            (Does::Convert(op), Some(source)) => {
                machine.carry = None;
                self.b.unary(op, width, source)
            }
            (Does::HighestBit, Some(source)) => {
                machine.carry = None;
                let (zeros, last) = (self.b.unary(Op::Ctlz, width, source), self.b.int(width, u64::from(width) - 1));
                self.b.binary(Op::Sub, width, last, zeros)
            }
            (Does::Combine(op), Some(source)) => {
                let old = self.taken(destination, width, machine)?;
                machine.carry = None;
                match op {
                    Op::Fshl | Op::Fshr => self.b.value(op, width, old, old, source),
                    _ => self.b.binary(op, width, old, source),
                }
            }
            (Does::Product, Some(source)) => {
                let old = self.taken(destination, width, machine)?;
                machine.carry = None;
                self.b.binary(Op::Mul, width, old, source)
            }
            (Does::Shift(op), Some(count)) => {
                let (old, most) = (self.taken(destination, width, machine)?, self.b.int(width, u64::from(width) - 1));
                machine.carry = None;
                let count = self.b.binary(Op::And, width, count, most);
                self.b.binary(op, width, old, count)
            }
            (Does::Exchange, Some(source)) => {
                let (old, &Operand::Register(from, _)) = (self.taken(destination, width, machine)?, &sources[0]) else { return None };
                self.give(from, width, old, machine)?;
                source
            }
            (Does::Step(by), None) => {
                let (old, by) = (self.taken(destination, width, machine)?, self.b.int(width, by & u64::MAX >> (64 - width)));
                self.b.binary(Op::Add, width, old, by)
            }
            (Does::Add { carries }, Some(source)) => {
                let old = self.taken(destination, width, machine)?;
                self.with_carry([Op::Add, Op::UaddOverflow], width, [old, source], carries, machine)?
            }
            (Does::Subtract { borrows }, Some(source)) => {
                let old = self.taken(destination, width, machine)?;
                self.with_carry([Op::Sub, Op::UsubOverflow], width, [old, source], borrows, machine)?
            }
            (Does::Swap, None) => {
                let old = self.taken(destination, width, machine)?;
                self.b.unary(Op::Bswap, width, old)
            }
            (Does::Complement, None) => {
                let (old, ones) = (self.taken(destination, width, machine)?, self.b.int(width, u64::MAX >> (64 - width)));
                self.b.binary(Op::Xor, width, old, ones)
            }
            (Does::Negate, None) => {
                machine.carry = None;
                let (old, zero) = (self.taken(destination, width, machine)?, self.b.int(width, 0));
                self.b.binary(Op::Sub, width, zero, old)
            }
            (Does::Multiply | Does::Divide, None) => {
                let with = self.taken(destination, width, machine)?;
                return self.of_two_words(does, width, with, machine);
            }
            _ => return None,
        };
        self.give(to, width, result, machine)
    }

    /// `a op b`, and the carry that comes in; the carry that goes out is `overflow`'s.
    fn with_carry(
        &mut self,
        [op, overflow]: [Op; 2],
        width: u16,
        [a, b]: [Slot; 2],
        comes_in: bool,
        machine: &mut Machine,
    ) -> Option<Slot> {
        let carry = if comes_in { Some(machine.carry?) } else { None };
        let (mut result, mut out) = (self.b.binary(op, width, a, b), self.b.binary(overflow, width, a, b));
        if let Some(carry) = carry {
            let carry = self.b.cast(Op::Zext, width, 1, carry);
            let again = self.b.binary(overflow, width, result, carry);
            result = self.b.binary(op, width, result, carry);
            out = self.b.binary(Op::Or, 1, out, again);
        }
        machine.carry = Some(out);
        Some(result)
    }

    /// `mul` and `div`: their results are two words.
    fn of_two_words(&mut self, does: Does, width: u16, with: Slot, machine: &mut Machine) -> Option<()> {
        let bound = |name: &str| machine.registers.iter().position(|register| register.name == name);
        let (low, high) = (bound(LOW)?, bound(HIGH)?);
        let wide = 2 * width;
        let mut widened = |slot: Slot| self.integer_cast(Op::Zext, wide, width, slot);
        let results = if does == Does::Multiply {
            let with = widened(with);
            let factor = self.taken(Operand::Register(low, None), width, machine)?;
            let factor = self.integer_cast(Op::Zext, wide, width, factor);
            let product = self.b.binary(Op::Mul, wide, factor, with);
            [product, self.upper(width, product)]
        } else {
            let upper = self.taken(Operand::Register(high, None), width, machine)?;
            let lower = self.taken(Operand::Register(low, None), width, machine)?;
            // A quotient that one word cannot hold is the fault that a division by zero is.
            let (too_large, zero) = (self.b.binary(Op::Ule, width, with, upper), self.b.int(width, 0));
            let with = self.b.value(Op::Select, width, too_large, zero, with);
            let [upper, lower, with] = [upper, lower, with].map(|slot| self.integer_cast(Op::Zext, wide, width, slot));
            let bits = self.wide(wide, u64::from(width));
            let upper = self.b.binary(Op::Shl, wide, upper, bits);
            let dividend = self.b.binary(Op::Or, wide, upper, lower);
            [self.b.binary(Op::Udiv, wide, dividend, with), self.b.binary(Op::Urem, wide, dividend, with)]
        };
        machine.carry = None;
        for (to, result) in [low, high].into_iter().zip(results) {
            let result = self.integer_cast(Op::Trunc, width, wide, result);
            self.give(to, width, result, machine)?;
        }
        Some(())
    }

    /// The upper half of a value of two words of `width` bits, as a value of two words.
    fn upper(&mut self, width: u16, both: Slot) -> Slot {
        let bits = self.wide(2 * width, u64::from(width));
        self.b.binary(Op::Lshr, 2 * width, both, bits)
    }

    /// A number of `width` bits, which may be more than a word's.
    fn wide(&mut self, width: u16, number: u64) -> Slot {
        let word = self.b.int(64, number);
        self.integer_cast(Op::Zext, width, 64, word)
    }

    /// The `width` low bits of an operand; `None`: it has fewer, or none so far.
    fn taken(&mut self, operand: Operand, width: u16, machine: &Machine) -> Option<Slot> {
        match operand {
            Operand::Number(number) => Some(self.b.int(width, number & u64::MAX >> (64 - width))),
            // It may be narrower than what it shifts, which takes it modulo the width.
            Operand::Count(n) => {
                let register = machine.registers.get(n)?;
                let op = if register.width > width { Op::Trunc } else { Op::Zext };
                Some(self.integer_cast(op, width, register.width, register.value?))
            }
            Operand::Register(n, _) => {
                let register = machine.registers.get(n).filter(|register| register.width >= width)?;
                Some(self.integer_cast(Op::Trunc, width, register.width, register.value?))
            }
        }
    }

    /// Writes `width` bits to a register.
    fn give(&mut self, to: usize, width: u16, result: Slot, machine: &mut Machine) -> Option<()> {
        let register = machine.registers.get_mut(to)?;
        let op = if register.width < width { Op::Trunc } else { Op::Zext };
        register.value = Some(self.integer_cast(op, register.width, width, result));
        Some(())
    }
}

/// The statements of a line. `rep;bsf` is one: `tzcnt`, which gives the same but for 0. (`rep;bsr` is `lzcnt`, which does not.)
fn statements(line: &str) -> impl Iterator<Item = &str> {
    let line = line.strip_prefix("rep;").map(str::trim_start).filter(|rest| rest.starts_with("bsf")).unwrap_or(line);
    line.split(';').map(str::trim).filter(|statement| !statement.is_empty())
}

/// What an instruction does, and the width that its suffix says.
fn known(name: &str) -> Option<(Does, Option<u16>)> {
    let row = |name: &str| INSTRUCTIONS.binary_search_by_key(&name, |row| row.0).ok().map(|at| INSTRUCTIONS[at].1);
    row(name).map(|does| (does, None)).or_else(|| {
        let (short, width) = name.strip_suffix('q').map(|short| (short, 64)).or(name.strip_suffix('l').map(|short| (short, 32)))?;
        Some((row(short)?, Some(width)))
    })
}

/// `$1`, `${1:q}`, `$$7`, in Intel's syntax also `7`; `None` is anything else.
fn operand(text: &str, intel: bool) -> Option<Operand> {
    if let Some(number) = text.strip_prefix("$$").or(Some(text).filter(|_| intel && !text.starts_with('$'))) {
        return number.parse::<i64>().map(|n| n as u64).or_else(|_| number.parse()).ok().map(Operand::Number);
    }
    let number = text.strip_prefix('$')?;
    let (number, said) = match number.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inner) => {
            let (number, modifier) = inner.split_once(':')?;
            (number, Some(*[("k", 32), ("q", 64)].iter().find(|(name, _)| *name == modifier).map(|(_, width)| width)?))
        }
        None => (number, None),
    };
    Some(Operand::Register(number.parse().ok()?, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_found_by_name() {
        assert!(INSTRUCTIONS.windows(2).all(|w| w[0].0 < w[1].0));
        for (name, width) in [("mul", None), ("mulq", Some(64)), ("rol", None), ("roll", Some(32)), ("bsf", None)] {
            assert!(known(name).is_some_and(|(_, said)| said == width), "{name}");
        }
        assert!(["q", "l", "idiv", "rep", "movzbl"].iter().all(|name| known(name).is_none()));
    }
}
