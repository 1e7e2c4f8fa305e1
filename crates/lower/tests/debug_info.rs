//! Positions, inlining and names reach the IR.

use std::path::Path;

use wryneck_ir::{LocId, Module, Op};

use crate::native::lower_source;

const SOURCE: &str = r#"
int global = 4;
static inline __attribute__((always_inline)) int inner(int value) {
  return *(volatile int *)&global / value;
}
int outer(int first, long second) {
  int local = first + 1;
  return inner(local) + (int)second;
}
void by_value(struct { long cells[4]; } pair);
"#;

fn module(flags: &[&str]) -> (tempfile::TempDir, Module) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let source = scratch.path().join("source.c");
    std::fs::write(&source, SOURCE).expect("written");
    let module = lower_source("clang-22", flags, &source, scratch.path());
    (scratch, module)
}

/// `function line` of a position, then of the call it was inlined at, and so on.
fn chain(m: &Module, loc: LocId) -> String {
    let l = m.locations[loc as usize];
    let here = format!("{} {}", m.str(l.function), l.line);
    if l.inlined_at == 0 { here } else { format!("{here} < {}", chain(m, l.inlined_at)) }
}

fn loc_of(m: &Module, op: Op) -> LocId {
    let at = m.insts.iter().position(|i| i.operator() == Some(op)).expect("the instruction is there");
    m.inst_locs[at]
}

#[test]
fn positions_have_absolute_files_and_inlining() {
    for level in ["-O0", "-O2"] {
        let (scratch, m) = module(&["-g", level]);
        let division = loc_of(&m, Op::Sdiv);
        assert_eq!(chain(&m, division), "inner 4 < outer 8", "{level}");
        let file = m.str(m.locations[division as usize].file);
        assert_eq!(Path::new(file), scratch.path().join("source.c"), "{level}");
        let global = m.globals[0];
        assert_eq!((m.str(m.symbols[global.symbol as usize].name), m.locations[global.loc as usize].line), ("global", 2));
        let outer = m.functions.iter().find(|f| m.str(f.name) == "outer").expect("it is there");
        assert_eq!(chain(&m, outer.loc), "outer 6");
        let names: Vec<&str> = m.params.range(outer.params).iter().map(|p| m.str(p.name)).collect();
        assert_eq!(names, ["first", "second"], "{level}");
    }
}

#[test]
fn variables_have_their_source_names_and_lines() {
    let (_scratch, m) = module(&["-g", "-O0"]);
    let mut found: Vec<(&str, u32)> = m.allocas.iter().map(|a| (m.str(a.name), m.locations[a.loc as usize].line)).collect();
    found.sort();
    assert_eq!(found, [("first", 6), ("local", 7), ("second", 6), ("value", 3)]);
}

#[test]
fn without_debug_information_the_values_names_are_used() {
    let (_scratch, m) = module(&["-O0", "-fno-discard-value-names"]);
    let outer = m.functions.iter().find(|f| m.str(f.name) == "outer").expect("it is there");
    let names: Vec<&str> = m.params.range(outer.params).iter().map(|p| m.str(p.name)).collect();
    assert_eq!((names, outer.loc, loc_of(&m, Op::Sdiv)), (vec!["first", "second"], 0, 0));
    assert!(m.allocas.iter().any(|a| m.str(a.name) == "local"));
}
