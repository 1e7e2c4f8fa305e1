//! JSON lines: one object a line, each with its `type`, so that a script takes what it wants without reading the rest.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use crate::report::Report;

/// Writes `run`, then a line per `finding`, `end`, `test`, entry of the `ledger` and file's `coverage`.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let run = &report.run;
    let head = json!({
        "command": run.command, "folder": run.folder, "directory": report.directory, "version": report.version, "status": run.status,
        "seconds": run.seconds, "exit_code": run.exit_code(), "totals": run.totals, "lines": run.lines,
    });
    line(out, "run", &head)?;
    lines(out, "finding", &run.findings)?;
    lines(out, "end", &run.ends)?;
    lines(out, "test", &report.tests)?;
    lines(out, "ledger", &run.ledger)?;
    lines(out, "coverage", &report.coverage)
}

fn lines<T: Serialize>(out: &mut dyn Write, kind: &str, rows: &[T]) -> io::Result<()> {
    rows.iter().try_for_each(|row| line(out, kind, &serde_json::to_value(row)?))
}

fn line(out: &mut dyn Write, kind: &str, object: &Value) -> io::Result<()> {
    let mut object = object.clone();
    object["type"] = kind.into();
    writeln!(out, "{object}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::golden;

    #[test]
    fn every_line_is_an_object_that_says_what_it_is() {
        let mut out = Vec::new();
        write(&mut out, &golden()).expect("memory can be written");
        let rows: Vec<Value> = String::from_utf8(out).expect("text").lines().map(|l| serde_json::from_str(l).expect("an object")).collect();
        let kinds: Vec<_> = rows.iter().filter_map(|row| row["type"].as_str()).collect();
        assert_eq!(kinds, ["run", "finding", "end", "end", "end", "test", "ledger", "coverage", "coverage"]);
        assert_eq!(rows[1]["steps"][1]["decision"], "goes to line 7");
        assert_eq!(rows[7]["lines"][0], json!([3, false]));
    }
}
