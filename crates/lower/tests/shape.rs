//! What single constructs lower to: nothing superfluous, nothing silently wrong. Written in LLVM's text form.

use wryneck_lower::{Note, Options, bitcode, lower_module};

fn lower(text: &str) -> (String, Vec<Note>) {
    lower_with(text, Options::default())
}

fn lower_with(text: &str, options: Options) -> (String, Vec<Note>) {
    let llvm = bitcode::read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    let lowered = lower_module(&llvm, options).expect("the builder is used well");
    wryneck_ir::verify::verify(&lowered.module).unwrap_or_else(|e| panic!("{e}\n{}", wryneck_ir::text::print(&lowered.module)));
    (wryneck_ir::text::print(&lowered.module), lowered.notes)
}

/// The instructions of the only function, one a line, without labels.
fn body(text: &str) -> Vec<String> {
    let (printed, _) = lower(text);
    let function = printed.split("func ").nth(1).expect("a function");
    function.lines().skip(1).map(str::trim).filter(|l| !l.ends_with(':') && *l != "}" && !l.is_empty()).map(str::to_owned).collect()
}

#[test]
fn casts_that_change_no_bits_are_no_instructions() {
    let code = body(
        "define i64 @f(ptr %p, i64 %n) {
           %a = ptrtoint ptr %p to i64
           %b = freeze i64 %a
           %c = bitcast i64 %b to double
           %d = bitcast double %c to <2 x float>
           %e = bitcast <2 x float> %d to i64
           %s = insertvalue { i64, i64 } poison, i64 %n, 1
           %t = extractvalue { i64, i64 } %s, 1
           %r = add i64 %a, %t
           ret i64 %r
         }",
    );
    // The way through two floats is taken apart and put together; nothing else is there but the addition.
    assert_eq!(code.iter().filter(|l| l.contains("add.64")).count(), 1, "{code:#?}");
    assert_eq!(code.len(), 5, "{code:#?}");
}

#[test]
fn promises_not_to_overflow_are_checked_where_they_are_sure_to_matter() {
    let text = "
         define i32 @f(i32 %x, i32 %y) #0 {
           %a = add nsw i32 %x, %y
           %b = add i32 %a, %y
           %c = mul nuw i32 %b, %y
           %d = sub nsw i32 %c, %y
           ret i32 %d
         }
         define i32 @g(i1 %c, i32 %x) {
           %a = add nsw i32 %x, 1
           br i1 %c, label %used, label %out
         used:
           %b = mul nsw i32 %x, 3
           ret i32 %b
         out:
           %p = phi i32 [ %a, %0 ]
           ret i32 %p
         }
         attributes #0 = { noinline optnone }";
    let checks = |options| lower_with(text, options).0.matches("__wryneck_overflow(").count();
    assert_eq!(checks(Options::default()), 0);
    // Two of `f`; of `g`, which is optimised, the one whose result is returned in its block.
    assert_eq!(checks(Options { overflow: true, ..Options::default() }), 3);
}

#[test]
fn conditions_are_folded_into_branches() {
    let code = body(
        "define i32 @f(i32 %x) {
           %c = icmp sgt i32 %x, 5
           %n = xor i1 %c, true
           %z = zext i1 %n to i32
           %t = icmp ne i32 %z, 0
           br i1 %t, label %a, label %b
         a:
           br label %c.2
         b:
           br label %c.2
         c.2:
           %p = phi i32 [ 1, %a ], [ 2, %b ]
           ret i32 %p
         }",
    );
    assert!(code[0].contains("slt.32 5, "), "{code:#?}");
    assert!(!code.iter().any(|l| l.contains("zext")), "{code:#?}");
}

#[test]
fn a_bit_cut_out_is_there_for_its_test_and_for_its_extension() {
    let code = body(
        "define i32 @f(i32 %x) {
           %b = trunc i32 %x to i1
           %z = zext i1 %b to i32
           %c = icmp eq i32 %z, 0
           %s = select i1 %c, i32 %x, i32 %z
           ret i32 %s
         }",
    );
    assert!(code[0].contains("trunc.1"), "{code:#?}");
    let masked = body("define i32 @f(i32 %x) { %b = trunc i32 %x to i8\n %z = zext i8 %b to i32\n ret i32 %z\n }");
    assert!(masked.len() == 2 && masked[0].contains("and.32"), "{masked:#?}");
}

#[test]
fn variables_beyond_the_address_space_are_gaps() {
    let (printed, notes) = lower(
        "@huge = global [281474976710656 x i8] zeroinitializer
         define void @f() {
           %a = alloca [281474976710656 x i8]
           ret void
         }",
    );
    assert!(printed.contains("unsupported") && printed.contains("281474976710656 bytes"), "{printed}");
    assert_eq!(notes, [Note::TooLarge { global: "huge".to_owned(), bytes: 1 << 48 }]);
}

#[test]
fn address_arithmetic_is_one_step_per_variable_and_one_for_the_rest() {
    let code = body(
        "%s = type { i32, [10 x { i64, i16 }] }
         define i16 @f(ptr %p, i32 %i, i64 %j) {
           %a = getelementptr %s, ptr %p, i64 %j, i32 1, i32 %i, i32 1
           %v = load i16, ptr %a
           ret i16 %v
         }",
    );
    let steps: Vec<&String> = code.iter().filter(|l| l.contains("ptradd")).collect();
    assert_eq!(steps.len(), 3, "{code:#?}");
    assert!(steps[0].ends_with("scale 168") && steps[1].ends_with("scale 16") && steps[2].contains(", 16"), "{code:#?}");
}

#[test]
fn a_loop_counter_needs_no_copy() {
    let code = body(
        "define void @f(ptr %p) {
           br label %loop
         loop:
           %i = phi i64 [ 0, %0 ], [ %next, %loop ]
           %a = getelementptr i8, ptr %p, i64 %i
           store i8 1, ptr %a
           %next = add i64 %i, 3
           %c = icmp ult i64 %next, 100
           br i1 %c, label %loop, label %out
         out:
           ret void
         }",
    );
    let back = code.iter().find(|l| l.starts_with("condbr")).expect("a branch");
    assert!(!back.contains('='), "{code:#?}");
}

#[test]
fn a_phi_read_after_its_next_value_keeps_its_slot() {
    let code = body(
        "define i64 @f() {
           br label %loop
         loop:
           %i = phi i64 [ 0, %0 ], [ %next, %loop ]
           %next = add i64 %i, 3
           %c = icmp ult i64 %i, 100
           br i1 %c, label %loop, label %out
         out:
           ret i64 %next
         }",
    );
    let back = code.iter().find(|l| l.starts_with("condbr")).expect("a branch");
    assert!(back.contains('='), "{code:#?}");
}

#[test]
fn shifts_are_checked_only_where_their_result_is_used_for_sure() {
    let (guarded, _) = lower(
        "define i32 @f(i32 %x) {
           %c = icmp ult i32 %x, 32
           %s = shl i32 1, %x
           %r = select i1 %c, i32 %s, i32 0
           ret i32 %r
         }",
    );
    assert!(!guarded.contains("checked"), "{guarded}");
    let (used, _) = lower("define i32 @f(i32 %x) { %s = shl i32 1, %x\n ret i32 %s\n }");
    assert!(used.contains("checked"), "{used}");
    let (constant, _) = lower("define i32 @f(i32 %x) { %s = shl i32 %x, 31\n ret i32 %s\n }");
    assert!(!constant.contains("checked"), "{constant}");
}

#[test]
fn what_cannot_be_lowered_is_named_where_it_stands() {
    let cases = [
        ("%r = call ptr @llvm.eh.dwarf.cfa(i32 0)\n ret void", "declare ptr @llvm.eh.dwarf.cfa(i32)", "intrinsic llvm.eh.dwarf.cfa"),
        ("call void asm sideeffect \"cpuid\\0Anop\", \"~{eax}\"()\n ret void", "", "inline assembly `cpuid`"),
        ("%r = load <vscale x 4 x i32>, ptr null\n ret void", "", "type `<vscale x 4 x i32>`"),
        ("%r = fadd bfloat 1.0, 2.0\n ret void", "", "arithmetic on `bfloat`"),
        ("%r = load i70000, ptr null\n ret void", "", "a value of 70000 bits"),
        (
            "call void @resolved()\n ret void",
            "@resolved = ifunc void (), ptr @resolver\n define ptr @resolver() { ret ptr null }",
            "indirect function `resolved`",
        ),
    ];
    for (code, declarations, expected) in cases {
        let (printed, _) = lower(&format!("{declarations}\ndefine void @before_f() {{ {code} }}"));
        assert!(printed.contains("unsupported") && printed.contains(expected), "{expected}: {printed}");
    }
}

#[test]
fn asking_for_the_processor_has_an_answer() {
    let asked = |constraints: &str| {
        let call = format!("call {{ i32, i32, i32, i32 }} asm sideeffect \"cpuid\", \"={constraints},~{{dirflag}}\"(i32 %leaf)");
        lower(&format!("define i32 @f(i32 %leaf) {{ %r = {call}\n %v = extractvalue {{ i32, i32, i32, i32 }} %r, 1\n ret i32 %v\n }}")).0
    };
    for constraints in ["{ax},={bx},={cx},={dx},{ax}", "{ax},=&{bx},={cx},={dx},0", "{dx},={bx},={cx},={ax},3"] {
        let printed = asked(constraints);
        assert!(printed.contains("__wryneck_syscall") && !printed.contains("unsupported"), "{constraints}: {printed}");
    }
    assert!(asked("r,={bx},={cx},={dx},{ax}").contains("unsupported"));
}

#[test]
fn a_failed_check_of_a_sanitizer_is_named() {
    let source = "int f(int a, int b, int *p) { switch (b) { case 0: return a + b; case 1: return a - b; case 2: return a * b; case 3: return a << b;
      case 4: return -a; case 5: return a / b; case 6: return p[b]; case 7: { int v[4]; return v[a & 7]; } } return 0; }";
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("source.c");
    std::fs::write(&file, source).expect("written");
    let flags = ["-O0", "-fsanitize=undefined,bounds", "-fsanitize-trap=all"];
    let printed = wryneck_ir::text::print(&crate::native::lower_source("clang-22", &flags, &file, scratch.path()));
    for check in [
        "add-overflow",
        "subtraction-overflow",
        "multiplication-overflow",
        "shift-out-of-bounds",
        "negation-overflow",
        "division-overflow",
        "type-mismatch",
        "pointer-overflow",
        "out-of-bounds",
    ] {
        assert!(printed.contains(&format!("\"ubsan: {check}\"")), "{check}: {printed}");
    }
}

#[test]
fn data_that_cannot_be_expressed_is_noted() {
    let (_, notes) = lower(
        "@a = global i32 0
         @b = global { i64, i32 } { i64 5, i32 ptrtoint (ptr @a to i32) }
         module asm \"  .globl x\"",
    );
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes.contains(&Note::Initializer { global: "b".to_owned(), offset: 8, bytes: 4 }), "{notes:?}");
}

#[test]
fn tables_of_differences_become_tables_of_addresses() {
    let (printed, notes) = lower(
        "@s = private constant [2 x i8] c\"x\\00\"
         @t = private constant [2 x i8] c\"y\\00\"
         @reltable = internal constant [2 x i32] [
           i32 trunc (i64 sub (i64 ptrtoint (ptr @s to i64), i64 ptrtoint (ptr @reltable to i64)) to i32),
           i32 trunc (i64 sub (i64 ptrtoint (ptr @t to i64), i64 ptrtoint (ptr @reltable to i64)) to i32)]
         declare ptr @llvm.load.relative.i64(ptr, i64)
         define ptr @f(i64 %i) {
           %o = shl i64 %i, 2
           %p = call ptr @llvm.load.relative.i64(ptr @reltable, i64 %o)
           ret ptr %p
         }",
    );
    assert!(notes.is_empty(), "{notes:?}");
    assert!(printed.contains("@reltable size 16") && printed.contains("8: @t") && printed.contains("load.64"), "{printed}");
}

#[test]
fn linkage_aliases_and_constructors_are_kept() {
    let (printed, _) = lower(
        "@strong = global i32 1
         @weak = weak global i32 2
         @common = common global [3 x i32] zeroinitializer
         @local = internal constant i32 3
         @tls = thread_local global i32 4
         @alias = alias i32, getelementptr (i8, ptr @strong, i64 2)
         @maybe = extern_weak global i32
         @llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [
           { i32, ptr, ptr } { i32 65535, ptr @later, ptr null }, { i32, ptr, ptr } { i32 101, ptr @first, ptr null }]
         @llvm.used = appending global [1 x ptr] [ptr @local]
         define linkonce_odr void @later() { ret void }
         define internal void @first() { ret void }
         define available_externally i32 @elsewhere() { ret i32 1 }
         define ptr @use() { ret ptr @maybe }",
    );
    for expected in [
        "data strong @strong",
        "data weak @weak",
        "data common @common",
        "data internal @local size 4 align 4 [read_only]",
        "alias strong @alias = @strong+2",
        "extern_weak @maybe",
        "ctor @first 101",
        "ctor @later 65535",
        "func weak @later",
        "func internal @first",
    ] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    assert!(!printed.contains("func strong @elsewhere") && !printed.contains("llvm."), "{printed}");
}

#[test]
fn a_landing_pad_is_a_block_behind_its_call() {
    let code = body(
        "declare i32 @callee(i32)
         declare i32 @personality(...)
         define i32 @f(i32 %x) personality ptr @personality {
           %r = invoke i32 @callee(i32 %x) to label %ok unwind label %bad
         ok:
           ret i32 %r
         bad:
           %l = landingpad { ptr, i32 } cleanup
           resume { ptr, i32 } %l
         }",
    );
    let parts =
        ["call.32 @callee", "unwound @\"landing pad\"", "condbr", "load.64", "load.32", "call @_Unwind_Resume", "unreachable", "ret"];
    let mut left = code.iter();
    for part in parts {
        assert!(left.any(|line| line.contains(part)), "{part}: {code:#?}");
    }
}
