//! lcov's tracefile (geninfo(1)): per source file its functions (`FN`, `FNDA`) and lines (`DA`). Counts are 1 for what ran and 0 for what
//! never did: paths share their beginnings, so executions are not counted. The format has no escapes: a name that would end its line is written as it
//! is shown to people.

use std::io::{self, Write};

use crate::report::{FileCoverage, Report};
use crate::shown;

/// Writes a record per source file.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    report.coverage.iter().try_for_each(|file| write_record(out, file))
}

fn write_record(out: &mut dyn Write, file: &FileCoverage) -> io::Result<()> {
    writeln!(out, "TN:\nSF:{}", shown::text(&file.file))?;
    for f in &file.functions {
        writeln!(out, "FN:{},{}", f.line, shown::text(&f.name))?;
    }
    for f in &file.functions {
        writeln!(out, "FNDA:{},{}", u8::from(f.entered), shown::text(&f.name))?;
    }
    writeln!(out, "FNF:{}\nFNH:{}", file.functions.len(), file.functions.iter().filter(|f| f.entered).count())?;
    for &(line, ran) in &file.lines {
        writeln!(out, "DA:{line},{}", u8::from(ran))?;
    }
    writeln!(out, "LF:{}\nLH:{}\nend_of_record", file.lines.len(), file.covered())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::golden;
    use expect_test::expect;

    #[test]
    fn a_record_has_functions_and_lines() {
        let mut report = golden();
        report.coverage.truncate(1);
        let mut out = Vec::new();
        write(&mut out, &report).expect("memory can be written");
        expect![[r#"
            TN:
            SF:t.c
            FN:3,unused
            FN:4,fill
            FN:10,main
            FNDA:0,unused
            FNDA:1,fill
            FNDA:1,main
            FNF:3
            FNH:2
            DA:3,0
            DA:5,1
            DA:6,1
            DA:7,1
            DA:8,1
            DA:11,1
            DA:12,1
            DA:13,0
            LF:8
            LH:6
            end_of_record
        "#]]
        .assert_eq(&String::from_utf8_lossy(&out));
    }
}
