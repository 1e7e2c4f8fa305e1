//! Printing and parsing are inverse, the text says all that matters, and bad text is told where it is bad.

use expect_test::expect;

use super::{parse, print};
use crate::module::Module;
use crate::samples::{self, Rng};
use crate::verify::verify;
use crate::{file, inst::Op};

fn round_trip(m: &Module) -> Module {
    let text = print(m);
    let back = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&back).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(print(&back), text);
    back
}

#[test]
fn the_text_of_everything() {
    let m = samples::everything();
    round_trip(&m);
    expect![[r#"
        loc 1 = "dir/a b.c" 3:7 in "main"
        loc 2 = "dir/a b.c" 9:1 in "dir/a b.c" inlined 1 library
        declare func @printf
        declare extern_weak @maybe
        data strong @table size 32 align 8 [read_only] !1 = "\01\00\ff" { 8: @table, 16: @f-4 }
        data internal @".str\0a\221\22" size 3 = "hi"
        alias weak @alias = @table+8
        ctor @f 65535

        func strong @f(%0: 32 "n", %1: ptr "p", %2: 128, %4: byval 24 "s", %5: va) -> 128 [variadic] slots 24 !1 {
          $0: 16 align 8 "var" !2
        b0:
          !2
          %6 = alloca $0
          store.128 %6, %2 align 8
          %7 = ptradd @table+8, 2 scale 4
          %8 = load.32 %7
          %9 = add.128 %2, 0x60000000000000005
          br b1(%11 = 0, %2 = %9, %3 = %10)
        b1:
          switch.32 %0 [0: b2, 7: b3] else b4
        b2:
          %12 = call.32 @printf(%1:64, %9:128, %8:32) named 1 [variadic]
          %13 = slt.32 %12, %11
          condbr %13, b1(%11 = %12), b3
        b3:
          call.indirect %1(2:64)
          %14 = trunc.64 %9 from 128
          %15 = extract.16 %9 at 60 of 128
          %16 = concat.80 %15, %14 low 64
          %18 = fround.80 %16 to even
          %20 = x87.80 %18, %16 function angle
          %22 = fcast.64 %20 from 80
          %23 = fcmp.64 %22, %14 is ueq
          ret.128 %9
        b4:
          unsupported "an \22odd\22 thing"
        }
    "#]]
    .assert_eq(&print(&m));
}

#[test]
fn random_modules_come_back() {
    let mut seen = vec![false; Op::ALL.len()];
    for seed in 0..400 {
        let m = samples::random(seed);
        m.insts.iter().for_each(|i| seen[usize::from(i.op)] = true);
        let back = round_trip(&m);
        // What a text gives is canonical: the same records again, byte for byte.
        let again = parse(&print(&back)).unwrap();
        assert_eq!(file::to_bytes(&back), file::to_bytes(&again));
    }
    let missing: Vec<Op> = Op::ALL.iter().copied().filter(|&op| !seen[op as usize]).collect();
    // The generator makes no others.
    assert_eq!(missing, [Op::Jump, Op::Unsupported]);
}

#[test]
fn the_text_tells_modules_apart() {
    // Any change of a used record shows, so nothing is lost in print.
    type Edit = fn(&mut Module);
    let edits: &[Edit] = &[
        |m| m.locations.owned()[1].line += 1,
        |m| m.locations.owned()[1].column += 1,
        |m| m.locations.owned()[2].inlined_at = 0,
        |m| m.locations.owned()[2].library = 0,
        |m| m.inst_locs.owned()[0] = 1,
        |m| m.symbols.owned()[0].linkage = 2,
        |m| m.globals.owned()[0].size += 1,
        |m| m.globals.owned()[0].align = 16,
        |m| m.globals.owned()[0].flags ^= 2,
        |m| m.globals.owned()[0].loc = 2,
        |m| m.globals.owned()[0].init.count = 1,
        |m| m.bytes.owned()[1] = 7,
        |m| m.relocs.owned()[0].addend = 1,
        |m| m.relocs.owned()[0].offset -= 1,
        |m| m.relocs.owned()[0].symbol = 0,
        |m| m.ctors.owned()[0].priority = 1,
        |m| m.ctors.owned()[0].at_exit = 1,
        |m| m.functions.owned()[0].slots += 1,
        |m| m.functions.owned()[0].flags |= 1,
        |m| m.functions.owned()[0].flags |= 4,
        |m| m.functions.owned()[0].loc = 2,
        |m| m.functions.owned()[0].name = 1,
        |m| m.params.owned()[0].width = 31,
        |m| m.params.owned()[0].kind = 2,
        |m| m.params.owned()[3].size = 25,
        |m| m.params.owned()[2].name = 1,
        |m| m.consts.owned()[0].value += 1,
        |m| m.consts.owned()[1].value += 1,
        |m| m.allocas.owned()[0].size += 1,
        |m| m.allocas.owned()[0].align = 4,
        |m| m.allocas.owned()[0].loc = 0,
        |m| m.edges.owned()[0].block = 2,
        |m| m.copies.owned()[0].dst += 6,
        |m| m.cases.owned()[0].value = 1,
        |m| m.calls.owned()[0].flags = 0,
        |m| m.calls.owned()[0].named = 0,
    ];
    let good = print(&samples::everything());
    for (i, edit) in edits.iter().enumerate() {
        let mut m = samples::everything();
        edit(&mut m);
        verify(&m).unwrap_or_else(|e| panic!("edit {i}: {e}"));
        assert_ne!(print(&m), good, "edit {i}");
        round_trip(&m);
    }
    // And every field of every instruction.
    for i in 0..samples::everything().insts.len() {
        for field in 0..4 {
            for delta in [1, 2, 64] {
                let mut m = samples::everything();
                let inst = &mut m.insts.owned()[i];
                let fields = [&mut inst.dst, &mut inst.a, &mut inst.b, &mut inst.c];
                for (n, f) in fields.into_iter().enumerate().filter(|(n, _)| *n == field) {
                    *f = f.wrapping_add(delta + n as u32 - field as u32);
                }
                if verify(&m).is_ok() {
                    assert_ne!(print(&m), good);
                }
            }
        }
    }
}

#[test]
fn names_and_numbers_by_hand() {
    let text = r#"
        ; the greatest common divisor
        func strong @gcd(%a: 64, %b: 64) -> 64 {
        start: br loop(%x = %a, %y = %b)
        loop:  %zero = eq.64 %y, 0
               condbr %zero, done, step
        step:  %r = urem.64 %x, %y
               br loop(%x = %y, %y = %r)
        done:  ret.64 %x
        }
        func internal @wide(%v: 128) -> 128 {
          $buffer: 16 align 16
        a: %p = alloca $buffer
           store.128 %p, -1
           %t = trunc.8 -2 from 16
           %s = sext.128 %t from 8
           call @gcd(-1:8, 0x10000000000000000:65)
           br b(%w:128 = %s)
        b: %z = add.128 %w, 0xffffffffffffffffffffffffffffffff
           ret.128 {%z, 7}
        }
    "#;
    let m = parse(text).unwrap();
    verify(&m).unwrap();
    expect![[r#"

        func strong @gcd(%0: 64 "a", %1: 64 "b") -> 64 slots 6 {
        b0:
          br b1(%2 = %0, %3 = %1)
        b1:
          %4 = eq.64 %3, 0
          condbr %4, b3, b2
        b2:
          %5 = urem.64 %2, %3
          br b1(%2 = %3, %3 = %5)
        b3:
          ret.64 %2
        }

        func internal @wide(%0: 128 "v") -> 128 slots 10 {
          $0: 16 align 16 "buffer"
        b0:
          %2 = alloca $0
          store.128 %2, 0xffffffffffffffffffffffffffffffff
          %3 = trunc.8 -2 from 16
          %4 = sext.128 %3 from 8
          call @gcd(-1:8, 0x10000000000000000:65)
          br b1(%6 = %4, %7 = %5)
        b1:
          %8 = add.128 %6, 0xffffffffffffffffffffffffffffffff
          ret.128 {%8, 7}
        }
    "#]]
    .assert_eq(&print(&m));
    round_trip(&m);
}

#[test]
fn errors_say_where() {
    let error = |text: &str| parse(text).err().map_or("none".to_owned(), |e| e.to_string());
    let body = |line: &str| error(&format!("func strong @f(%x: 8) {{\na:\n  {line}\n  ret\n}}"));
    expect!["1:1: expected an item, found a number"].assert_eq(&error("17"));
    expect!["2:6: expected a linkage, found `@x`"].assert_eq(&error("; c\ndata @x"));
    expect!["1:17: expected `size`, found the end"].assert_eq(&error("data internal @x"));
    expect!["1:25: a string that does not end"].assert_eq(&error("data strong @x size 3 = \"ab"));
    expect!["1:38: symbol `x` is defined twice"].assert_eq(&error("alias weak @x = @y alias weak @x = @y"));
    expect!["1:5: positions are numbered from 1 without gaps, the next is 1"].assert_eq(&error("loc 2 = \"f\" 1:1 in \"g\""));
    expect!["3:8: `frob.8` is no operator"].assert_eq(&body("%y = frob.8 %x"));
    expect!["3:8: `add` is no operator"].assert_eq(&body("%y = add %x, 1"));
    expect!["3:20: the number does not fit in 8 bits"].assert_eq(&body("%y = add.8 %x,   256"));
    expect!["3:20: the number does not fit in 8 bits"].assert_eq(&body("%y = add.8 %x,   -129"));
    expect!["none"].assert_eq(&body("%y = add.8 %x, -128"));
    expect!["3:18: `%q` is never written"].assert_eq(&body("%y = add.8 %x, %q"));
    expect!["2:7: block `nowhere` does not exist"].assert_eq(&error("func strong @f() {\na: br nowhere }"));
    expect!["3:15: `$v` is not declared"].assert_eq(&body("%y = alloca $v"));
    expect!["3:4: position 4 does not exist"].assert_eq(&body("!4 ret"));
    expect!["3:21: `?` is no character of the text form"].assert_eq(&body("%y = add.8 %x,    ?"));
    expect!["5:3: expected `from` and its value, found `ret`"].assert_eq(&body("%y = zext.16 %x\n"));
}

/// Text with bytes changed, cut or doubled: an error or a module, never a panic.
#[test]
fn random_text_never_panics() {
    let rng = &mut Rng(11);
    let (mut good, mut bad) = (0, 0);
    for round in 0..2_000 {
        let text = print(&if round % 3 == 0 { samples::everything() } else { samples::random(round % 50) });
        let mut bytes = text.into_bytes();
        for _ in 0..=rng.below(3) {
            let i = rng.below(bytes.len());
            match rng.below(4) {
                0 => bytes[i] = b"{}()[]%@$!:,=-+#\"; 019xab.\n"[rng.below(27)],
                1 => drop(bytes.drain(i..(i + rng.below(20)).min(bytes.len()))),
                2 => bytes.extend_from_within(i..(i + 30).min(i.max(bytes.len()))),
                _ => bytes[i] = rng.next() as u8,
            }
            if bytes.is_empty() {
                break;
            }
        }
        match parse(&String::from_utf8_lossy(&bytes)) {
            Ok(m) => {
                good += 1;
                if verify(&m).is_ok() {
                    round_trip(&m);
                }
            }
            Err(e) => {
                bad += 1;
                assert!(e.line > 0 && e.column > 0);
            }
        }
    }
    assert!(good > 50 && bad > 500, "{good} good, {bad} bad");
}
