//! Inline assembly: what does nothing, what stops the program, questions to the processor, and arithmetic in registers.

use wryneck_ir::build::{CallDef, Callee, Slot};
use wryneck_ir::{ASKS_PROCESSOR, NONE, Op, PROCESSOR, Round, X87};

use crate::body::Body;
use crate::error::Unsupported;
use crate::ffi::Value;
use crate::inst::Lowered;
use crate::value::Val;

/// Inline assembly that does nothing in a single-threaded program without interrupts.
const INERT_ASM: &[&str] = &["nop", "pause", "rep nop", "rep; nop", "mfence", "lfence", "sfence", "endbr64", "lock; addl $0,0(%rsp)"];
/// Inline assembly that stops the program.
const TRAP_ASM: &[&str] = &["ud2", "int3", "int $3", "hlt"];

/// What `cpuid` writes, as constraints name it; it reads the first.
const CPUID: [&str; 4] = ["{ax}", "{bx}", "{cx}", "{dx}"];
/// `cpuid` as Rust's library writes it: LLVM uses `rbx` itself, so the first output takes its value.
const CPUID_BESIDE_RBX: [&str; 3] = ["mov ${0:q}, rbx", "cpuid", "xchg ${0:q}, rbx"];
/// What an instruction of the x87 does with the top of its stack.
#[derive(Clone, Copy)]
enum OnTop {
    Function(X87),
    Round,
    Root,
}

/// Instructions of the x87 that leave one number in the place of what they take.
const X87_ASM: [(&str, OnTop); 8] = [
    ("f2xm1", OnTop::Function(X87::PowerLessOne)),
    ("fcos", OnTop::Function(X87::Cosine)),
    ("fpatan", OnTop::Function(X87::Angle)),
    ("frndint", OnTop::Round),
    ("fsin", OnTop::Function(X87::Sine)),
    ("fsqrt", OnTop::Root),
    ("fyl2x", OnTop::Function(X87::Logarithm)),
    ("fyl2xp1", OnTop::Function(X87::LogarithmOfOneMore)),
];
/// The C library's system call, which has a number and six arguments.
const SYSTEM_CALL: &str = "__wryneck_syscall";

/// The instructions of a template, without comments.
fn instructions(template: &str) -> Vec<&str> {
    let lines = template.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| !(line.is_empty() || line.starts_with("/*") && line.ends_with("*/"))).collect()
}

impl<'m> Body<'_, 'm> {
    /// Inline assembly without text does nothing but tie operands.
    pub fn inline_asm(&mut self, v: Value<'m>, asm: Value<'m>) -> Lowered {
        let (text, constraints) = asm.inline_asm();
        let constraints = String::from_utf8_lossy(constraints);
        let template = String::from_utf8_lossy(text);
        let text = template.replace("$$", "$");
        let code = instructions(&text);
        if let [trap] = code[..]
            && TRAP_ASM.contains(&trap)
        {
            self.b.trap(trap);
            return Ok(None);
        }
        if code == ["cpuid"] || code == CPUID_BESIDE_RBX {
            return self.identify(v, &constraints, code.len() > 1);
        }
        if let [name] = code[..]
            && let Some((_, does)) = X87_ASM.iter().find(|row| row.0 == name)
        {
            return self.x87_asm(v, name, &constraints, *does);
        }
        if !code.iter().all(|line| INERT_ASM.contains(line)) {
            return self.arithmetic_asm(v, asm, &instructions(&template), &constraints);
        }
        let ties = Ties::of(&constraints);
        let mut leaves = Vec::new();
        for tie in ties.outputs {
            match tie {
                Some(argument) => leaves.extend_from_slice(self.value(v.operand(argument))?.leaves()),
                None => return self.untied(v),
            }
        }
        let shape = self.cx.types.shape(v.ty())?;
        if leaves.len() != shape.leaves().count() {
            return Err(Unsupported::Asm("operands of different types are tied".to_owned()));
        }
        Ok(Some(leaves.into_iter().collect::<Val>()).filter(|_| !shape.pieces.is_empty()))
    }
    /// `cpuid`: the processor that machine code meets here, too.
    fn identify(&mut self, v: Value<'m>, constraints: &str, beside_rbx: bool) -> Lowered {
        let refused = || Err(Unsupported::Asm("cpuid".to_owned()));
        let constraints = || constraints.split(',').filter(|c| !c.starts_with('~'));
        let outputs: Vec<_> = constraints().map_while(|c| Some(c.strip_prefix('=')?.trim_start_matches('&'))).collect();
        let named = |output: &&str| CPUID.iter().position(|name| name == output || beside_rbx && *output == "r" && *name == CPUID[1]);
        let registers: Vec<_> = outputs.iter().filter_map(named).collect();
        let is_leaf = |c: &str| c == CPUID[0] || c.parse().is_ok_and(|n: usize| registers.get(n) == Some(&0));
        let shape = self.cx.types.shape(v.ty())?;
        let Some(leaf) = constraints().skip(outputs.len()).position(is_leaf) else { return refused() };
        if registers.len() != outputs.len() || shape.leaves().count() != outputs.len() {
            return refused();
        }
        let leaf = self.scalar(v.operand(leaf as u32))?;
        // So that a verdict can name it.
        let mut asks = [(self.word(0), 64); 7];
        asks[0].0 = self.word(ASKS_PROCESSOR);
        let symbol = self.b.names.symbol(self.b.module, SYSTEM_CALL);
        self.b.call(Callee::Symbol(symbol), CallDef { args: &asks, ret_width: 64, flags: 0, named: 7 });
        let mut answers: Vec<Slot> = registers.iter().map(|_| self.b.int(32, 0)).collect();
        for (number, values) in PROCESSOR {
            let number = self.b.int(32, *number);
            let is_asked = self.b.binary(Op::Eq, 32, leaf, number);
            for (answer, register) in answers.iter_mut().zip(&registers) {
                let value = self.b.int(32, values[*register]);
                *answer = self.b.value(Op::Select, 32, is_asked, value, *answer);
            }
        }
        Ok(Some(answers.into_iter().collect()))
    }
    /// An instruction of the x87 on the top of its stack, and perhaps the number below it, rounded to 64 bits of significand and then to the type.
    fn x87_asm(&mut self, v: Value<'m>, name: &str, constraints: &str, does: OnTop) -> Lowered {
        let refused = || Unsupported::Asm(name.to_owned());
        let inputs: Vec<&str> = constraints.split(',').filter(|c| !c.starts_with(['=', '~'])).collect();
        let mut operand = |names: &[&str]| {
            let n = inputs.iter().position(|input| names.contains(input)).ok_or_else(refused)?;
            let value = v.operand(n as u32);
            let width = self.cx.types.float(value.ty()).ok().filter(|width| *width <= 80).ok_or_else(refused)?;
            let number = self.scalar(value)?;
            Ok(if width == 80 { number } else { self.b.cast(Op::Fcast, 80, width, number) })
        };
        let top = operand(&["0", "{st}"])?;
        let below =
            if let OnTop::Function(X87::Angle | X87::Logarithm | X87::LogarithmOfOneMore) = does { operand(&["{st(1)}"])? } else { top };
        let width = self.cx.types.float(v.ty()).ok().filter(|width| *width <= 80).ok_or_else(refused)?;
        let result = match does {
            OnTop::Function(function) => self.b.value(Op::X87, 80, top, below, function as u32),
            OnTop::Round => self.b.value(Op::Fround, 80, top, Round::Even as u32, NONE),
            OnTop::Root => self.b.unary(Op::Fsqrt, 80, top),
        };
        let result = if width == 80 { result } else { self.b.cast(Op::Fcast, width, 80, result) };
        Ok(Some([result].into_iter().collect()))
    }
    /// An output that no input is tied to holds whatever was in the register: as undefined as `undef`.
    fn untied(&mut self, v: Value<'m>) -> Lowered {
        let shape = self.cx.types.shape(v.ty())?;
        Ok(Some(shape.leaves().map(|bits| self.b.int(bits, 0)).collect()))
    }
}

/// Which argument each direct output of inline assembly is tied to.
struct Ties {
    outputs: Vec<Option<u32>>,
}

impl Ties {
    /// Reads LLVM's constraint string: outputs `=…` (indirect ones, `=*…`, are pointer arguments), inputs (a number
    /// ties it to that output), clobbers `~…`.
    fn of(constraints: &str) -> Ties {
        let (mut outputs, mut positions, mut argument) = (Vec::new(), Vec::new(), 0);
        for constraint in constraints.split(',').filter(|c| !c.is_empty() && !c.starts_with('~')) {
            if let Some(output) = constraint.strip_prefix('=') {
                if output.trim_start_matches('&').starts_with('*') {
                    positions.push(None);
                    argument += 1;
                } else {
                    positions.push(Some(outputs.len()));
                    outputs.push(None);
                }
                continue;
            }
            let tied = constraint.parse().ok().and_then(|n: usize| positions.get(n).copied().flatten());
            if let Some(output) = tied {
                outputs[output] = Some(argument);
            }
            argument += 1;
        }
        Ties { outputs }
    }
}
