//! One JSON object per run: what scripts read.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::run::Run;

/// Writes the object and a line end.
pub fn write(out: &mut dyn Write, run: &Run) -> io::Result<()> {
    writeln!(out, "{}", value(run))
}

/// The object: what `Run` holds, `exit_code`, whether `every_path` was explored (a run that has ended, status `complete`, may have lost some), and
/// what was lost (`losses`).
pub fn value(run: &Run) -> Value {
    let mut value = serde_json::to_value(run).unwrap_or_else(|error| json!({ "error": error.to_string() }));
    value["exit_code"] = run.exit_code().into();
    value["every_path"] = run.is_complete().into();
    value["losses"] = run.losses().into();
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::golden;

    #[test]
    fn scripts_find_what_they_need() {
        let v = value(&golden());
        assert_eq!((&v["exit_code"], &v["every_path"]), (&json!(1), &json!(false)));
        assert!(v["losses"].as_array().is_some_and(|losses| !losses.is_empty()));
        assert_eq!(v["status"], json!({ "kind": "stopped", "limit": "time", "flag": "--max-time", "pending": 7 }));
        assert_eq!(v["ends"][0], json!({ "class": "exit", "what": "0", "count": 12 }));
        assert_eq!(v["findings"][0]["kind"]["cwe"], 787);
        assert_eq!(v["findings"][0]["stack"][0]["line"], 7);
        assert_eq!(v["lines"], json!({ "covered": 9, "all": 12 }));
    }
}
