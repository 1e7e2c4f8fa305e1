//! The C library that test programs need: formatted output from a `va_list`, and some
//! of libm.

use wryneck_ir::interp::{Answer, ExternalCall, Externals, Fault, Libc, Memory};

/// What is outside a test program.
#[derive(Default)]
pub struct World {
    libc: Libc,
    pub output: Vec<u8>,
}

type Unary = fn(f64) -> f64;

const DOUBLE: &[(&str, Unary)] = &[
    ("ceil", f64::ceil),
    ("cos", f64::cos),
    ("exp", f64::exp),
    ("fabs", f64::abs),
    ("floor", f64::floor),
    ("log", f64::ln),
    ("nearbyint", f64::round_ties_even),
    ("rint", f64::round_ties_even),
    ("round", f64::round),
    ("sin", f64::sin),
    ("sqrt", f64::sqrt),
    ("trunc", f64::trunc),
];

impl Externals for World {
    fn call(&mut self, call: ExternalCall) -> Result<Answer, Fault> {
        let bits = |n: u64| Ok(Answer::Return(vec![n]));
        let double = |i: usize| f64::from_bits(call.args.get(i).copied().unwrap_or(0));
        let float = |i: usize| f32::from_bits(call.args.get(i).copied().unwrap_or(0) as u32);
        match call.name {
            "printf" => {
                let text = format(call.memory, call.args[0], call.args[1])?;
                self.output.extend_from_slice(&text);
                bits(text.len() as u64)
            }
            "puts" => {
                let text = string(call.memory, call.args[0])?;
                self.output.extend_from_slice(&text);
                self.output.push(b'\n');
                bits(1)
            }
            "putchar" => {
                self.output.push(call.args[0] as u8);
                bits(call.args[0])
            }
            "vsnprintf" => {
                let mut text = format(call.memory, call.args[2], call.args[3])?;
                let len = text.len();
                text.truncate((call.args[1] as usize).saturating_sub(1));
                text.push(0);
                call.memory.write(call.args[0], &text)?;
                bits(len as u64)
            }
            "memcmp" | "bcmp" => {
                let (a, b) = (call.memory.read(call.args[0], call.args[2])?.to_vec(), call.memory.read(call.args[1], call.args[2])?);
                bits(a.as_slice().cmp(b) as i64 as u64)
            }
            "fmin" => bits(double(0).min(double(1)).to_bits()),
            "fmax" => bits(double(0).max(double(1)).to_bits()),
            "fma" => bits(double(0).mul_add(double(1), double(2)).to_bits()),
            "lround" => bits(double(0).round() as i64 as u64),
            "lrint" => bits(double(0).round_ties_even() as i64 as u64),
            name => {
                if let Some((_, f)) = DOUBLE.iter().find(|(n, _)| *n == name) {
                    return bits(f(double(0)).to_bits());
                }
                let single = name.strip_suffix('f').and_then(|base| DOUBLE.iter().find(|(n, _)| *n == base));
                if let Some((_, f)) = single {
                    return bits(u64::from((f(f64::from(float(0))) as f32).to_bits()));
                }
                self.libc.call(call)
            }
        }
    }
}

fn word(memory: &mut Memory, at: u64) -> Result<u64, Fault> {
    let bytes = memory.read(at, 8)?;
    Ok(u64::from_le_bytes(bytes.try_into().expect("eight bytes were read")))
}

fn string(memory: &mut Memory, at: u64) -> Result<Vec<u8>, Fault> {
    let mut text = Vec::new();
    loop {
        match memory.read(at + text.len() as u64, 1)?[0] {
            0 => return Ok(text),
            c => text.push(c),
        }
    }
}

/// The next word of the `va_list` at `list`.
fn argument(memory: &mut Memory, list: u64) -> Result<u64, Fault> {
    let offset = word(memory, list)?;
    let (words, of) = (offset & 0xffff_ffff, |n: u64| list + 8 * n);
    if words < 48 {
        memory.write(list, &(offset + 8).to_le_bytes())?;
        let area = word(memory, of(2))?;
        return word(memory, area + words);
    }
    let area = word(memory, of(1))?;
    memory.write(of(1), &(area + 8).to_le_bytes())?;
    word(memory, area)
}

/// `printf` of `%d %u %x %c %s` with `l`, `ll`, `h`, `hh`, zero padding and widths, from the words of a `va_list`.
fn format(memory: &mut Memory, format: u64, list: u64) -> Result<Vec<u8>, Fault> {
    let (text, mut out) = (string(memory, format)?, Vec::new());
    let mut chars = text.iter().copied();
    while let Some(c) = chars.next() {
        if c != b'%' {
            out.push(c);
            continue;
        }
        let (mut bits, mut spec) = (32, String::new());
        let conversion = loop {
            match chars.next().expect("a format is complete") {
                b'l' | b'z' => bits = 64,
                b'h' => {}
                d @ b'0'..=b'9' => spec.push(char::from(d)),
                b'#' => spec.push('#'),
                conversion => break conversion,
            }
        };
        if conversion == b'%' {
            out.push(b'%');
            continue;
        }
        let raw = argument(memory, list)?;
        let n = if bits == 32 { raw & 0xffff_ffff } else { raw };
        let signed = if bits == 32 { i64::from(n as i32) } else { n as i64 };
        let digits = match conversion {
            b'd' | b'i' => signed.to_string(),
            b'u' => n.to_string(),
            b'x' => format!("{n:x}"),
            b'X' => format!("{n:X}"),
            b'c' => String::from(char::from(n as u8)),
            b's' => String::from_utf8_lossy(&string(memory, raw)?).into_owned(),
            other => panic!("conversion `{}` is not one the tests use", char::from(other)),
        };
        let width: usize = spec.trim_start_matches('#').parse().unwrap_or(0);
        let pad = if spec.starts_with('0') { '0' } else { ' ' };
        out.extend(std::iter::repeat_n(pad as u8, width.saturating_sub(digits.len())));
        out.extend_from_slice(digits.as_bytes());
    }
    Ok(out)
}
