//! Small programs by hand, one per thing an instruction can do to control or memory. The operators' values are compared with
//! native execution in `tests/operators.rs`.

use super::{Answer, ExternalCall, Fault, Interp, Libc, Stop};
use crate::link::{Program, Target, Unit};
use crate::{text, verify};

fn program(source: &str) -> Program {
    let module = text::parse(source).unwrap_or_else(|e| panic!("{e}"));
    verify::verify(&module).unwrap_or_else(|e| panic!("{e}"));
    Program::link(vec![Unit { name: "t".into(), module, library: false }]).unwrap_or_else(|e| panic!("{e}"))
}
/// Result of `f` on these limbs.
fn run(source: &str, args: &[u64]) -> Result<Vec<u64>, Fault> {
    let p = program(source);
    let Some(Target::Func(f)) = p.lookup("f") else { panic!("no f") };
    Interp::new(&p, Libc::default(), 100_000).unwrap().call(f, args).map_err(|stop| match stop {
        Stop::Fault { fault, .. } => fault,
        other => panic!("{other:?}"),
    })
}

#[test]
fn loops_copies_and_switches() {
    let gcd = "func strong @f(%a: 64, %b: 64) -> 64 {
        start: br loop(%x = %a, %y = %b)
        loop:  %zero = eq.64 %y, 0
               condbr %zero, done, step
        step:  %r = urem.64 %x, %y
               br loop(%x = %y, %y = %r)
        done:  ret.64 %x }";
    assert_eq!(run(gcd, &[48, 36]), Ok(vec![12]));
    // The copies of an edge happen at once.
    let swap = "func strong @f(%a: 64, %b: 64) -> 128 { s: br t(%a = %b, %b = %a) t: ret.128 {%a, %b} }";
    assert_eq!(run(swap, &[1, 2]), Ok(vec![2, 1]));
    let switch = "func strong @f(%a: 8) -> 8 { s: switch.8 %a [1: t(%r = 10), -1: t(%r = 20)] else t(%r = 30) t: ret.8 %r }";
    assert_eq!([1, 255, 7].map(|a| run(switch, &[a]).unwrap()[0]), [10, 20, 30]);
}

#[test]
fn calls_of_all_kinds() {
    let recursive = "func strong @f(%n: 64) -> 64 {
        a: %z = eq.64 %n, 0
           condbr %z, one, more
        one: ret.64 1
        more: %m = sub.64 %n, 1
           %p = call.indirect.64 @f(%m:64)
           %r = mul.64 %p, %n
           ret.64 %r }";
    assert_eq!(run(recursive, &[10]), Ok(vec![3_628_800]));
    let endless = "func strong @f() { a: call @f() ret }";
    assert_eq!(run(endless, &[]), Err(Fault::StackOverflow));
    let wild = "func strong @f() { a: call.indirect 12345() ret }";
    assert_eq!(run(wild, &[]), Err(Fault::BadCall { address: 12345 }));
    let unknown = "declare func @g func strong @f() { a: call @g() ret }";
    assert_eq!(run(unknown, &[]), Err(Fault::UndefinedFunction { name: "g".into() }));
    // The callee owns its copy of a structure passed by value.
    let by_value = "data strong @s size 8 = \"\\07\"
        func internal @g(%p: byval 8) { a: store.64 %p, 9 ret }
        func strong @f() -> 64 { a: call @g(@s:64) %v = load.64 @s ret.64 %v }";
    assert_eq!(run(by_value, &[]), Ok(vec![7]));
}

#[test]
fn memory_and_its_faults() {
    let f = |body: &str| {
        run(
            &format!(
                "data strong @d size 12 = \"abcdefgh\" {{ 0: @d+3 }} data strong @c size 4 [read_only] = \"xy\"
            func strong @f() -> 64 {{ $v: 16 align 16 a: %p = alloca $v {body} }}"
            ),
            &[],
        )
    };
    let out_of = |address: u64, size, write| Err(Fault::OutOfBounds { address, size, write });
    assert_eq!(f("store.24 %p, 0x123456 %x = load.64 %p ret.64 %x"), Ok(vec![0x12_3456]));
    assert_eq!(f("%x = load.64 @d %b = load.8 %x %r = zext.64 %b from 8 ret.64 %r"), Ok(vec![0]));
    assert_eq!(f("%b = load.12 @d+6 %r = zext.64 %b from 12 ret.64 %r"), Ok(vec![0]));
    let Err(Fault::OutOfBounds { size: 8, write: false, .. }) = f("%x = load.64 @d+5 ret.64 %x") else { panic!() };
    let Err(Fault::ReadOnly { size: 1, .. }) = f("store.8 @c, 1 ret.64 0") else { panic!() };
    assert_eq!(f("%x = load.64 0 ret.64 %x"), out_of(0, 8, false));
    let Err(Fault::Misaligned { align: 8, .. }) = f("%q = ptradd %p, 1 scale 4 %x = load.32 %q align 8 ret.64 0") else { panic!() };
    assert_eq!(f("mem.set %p, 7, 16 %x = load.64 %p ret.64 %x"), Ok(vec![0x0707_0707_0707_0707]));
    let Err(Fault::OutOfBounds { size: 17, write: false, .. }) = f("mem.set %p, 7, 17 ret.64 0") else { panic!() };
    assert_eq!(f("mem.copy %p, @c, 2 mem.copy %p, %p, 2 %x = load.64 %p ret.64 %x"), Ok(vec![0x7978]));
    assert_eq!(f("%q = ptradd %p, 1 scale 1 mem.copy %q, %p, 2 ret.64 0"), Err(Fault::Overlap));
    assert_eq!(f("store.16 %p, 0x4142 %q = ptradd %p, 1 scale 1 mem.move %q, %p, 2 %x = load.64 %p ret.64 %x"), Ok(vec![0x41_4242]));
    assert_eq!(f("%d = udiv.64 1, 0 ret.64 %d"), Err(Fault::DivisionByZero));
    assert_eq!(f("%d = sdiv.8 -128, -1 ret.64 0"), Err(Fault::DivisionOverflow));
    assert_eq!(f("%d = shl.64 1, 64 checked 1 ret.64 %d"), Err(Fault::ShiftTooFar));
    assert_eq!(f("%d = shl.64 1, 64 ret.64 %d"), Ok(vec![0]));
    assert_eq!(f("trap \"ud2\""), Err(Fault::Trap("ud2".into())));
    assert_eq!(f("unsupported \"x\""), Err(Fault::Unsupported("x".into())));
    assert_eq!(f("unreachable"), Err(Fault::Unreachable));
    assert_eq!(f("jump 77"), Err(Fault::Jump { address: 77 }));
}

#[test]
fn lives_of_stack_and_heap() {
    let dangling = "func internal @g() -> 64 { $v: 8 a: %p = alloca $v ret.64 %p }
        func strong @f() -> 64 { a: %p = call.64 @g() %x = load.64 %p ret.64 %x }";
    let Err(Fault::OutOfBounds { .. }) = run(dangling, &[]) else { panic!() };
    let dynamic = |end: &str| {
        run(
            &format!(
                "func strong @f(%n: 64) -> 64 {{ a: %m = stack.save %p = alloca.dyn %n align 32 store.64 %p, 5
            {end} %x = load.64 %p ret.64 %x }}"
            ),
            &[8],
        )
    };
    assert_eq!(dynamic(""), Ok(vec![5]));
    assert!(dynamic("stack.restore %m").is_err());
    let heap = |body: &str| {
        run(
            &format!(
                "declare func @malloc declare func @free declare func @realloc declare func @calloc
            func strong @f() -> 64 {{ a: %p = call.64 @malloc(8:64) store.64 %p, 5 {body} %x = load.64 %p ret.64 %x }}"
            ),
            &[],
        )
    };
    assert_eq!(heap(""), Ok(vec![5]));
    assert!(matches!(heap("call @free(%p:64)"), Err(Fault::OutOfBounds { .. })));
    assert!(matches!(heap("call @free(%p:64) call @free(%p:64)"), Err(Fault::BadFree { .. })));
    assert_eq!(heap("%q = call.64 @realloc(%p:64, 32:64) %y = load.64 %q ret.64 %y b:"), Ok(vec![5]));
}

#[test]
fn a_whole_program() {
    let p = program(
        "declare func @puts declare func @exit declare func @custom
        data internal @n size 4
        ctor @second 200 ctor @first 100 dtor @bye 1
        func internal @first() { a: store.32 @n, 3 ret }
        func internal @second() { a: %x = load.32 @n %y = mul.32 %x, 5 store.32 @n, %y ret }
        func internal @bye() { a: %r = call.32 @puts(@s:64) ret }
        data internal @s size 4 [read_only] = \"bye\"
        func strong @main(%argc: 32, %argv: ptr) -> 32 {
        a: %arg = ptradd %argv, 1 scale 8
           %text = load.64 %arg
           %r = call.32 @puts(%text:64)
           %x = load.32 @n
           %sum = add.32 %x, %argc
           ret.32 %sum }",
    );
    let mut interp = Interp::new(&p, Libc::default(), 1000).unwrap();
    assert_eq!(interp.run_main(&[b"prog", b"hello"]), Some(Stop::Exit(17)));
    assert_eq!(interp.externals.output, b"hello\nbye\n");
    let mut short = Interp::new(&p, Libc::default(), 4).unwrap();
    assert_eq!(short.run_main(&[b"prog", b"hello"]), Some(Stop::Limit));
    // Externals are whatever answers.
    let own = |call: ExternalCall| Ok(if call.name == "puts" { Answer::Exit(5) } else { Answer::Unknown });
    assert_eq!(Interp::new(&p, own, 1000).unwrap().run_main(&[b"prog"]).and_then(|s| s.status()), Some(5));
}

/// Verified modules of random instructions run to some end without a panic.
#[test]
fn random_modules_run() {
    for seed in 0..400 {
        let module = crate::samples::random(seed);
        let p = Program::link(vec![Unit { name: "r".into(), module, library: false }]).unwrap_or_else(|e| panic!("{e}"));
        let mut interp = Interp::new(&p, Libc::default(), 3_000).unwrap();
        let args: Vec<u64> = (0..20).map(|i| (i * seed) ^ 1).collect();
        let _ = interp.call(crate::link::FuncId(0), &args);
    }
}
