//! SARIF 2.1.0 (OASIS standard): a result per finding, with its call stack, the decisions on the way as a code flow, its CWE as a taxon and
//! a fingerprint that stays the same from run to run and when lines move.
//!
//! The fingerprint hashes what names the defect and not where it stands: kind, the functions at the fault and at the application's
//! innermost frame, the text of the source line; equal ones are numbered. Files below the run's directory are relative to `SRCROOT`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::annotate;
use crate::report::Report;
use crate::run::{Class, CodeLine, Finding, Place, Status, Step};
use crate::units;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The name of the fingerprint; a new number where its ingredients change.
const FINGERPRINT: &str = "wryneck/v1";
/// What file names are relative to.
const ROOT: &str = "SRCROOT";

/// Writes one log with one run.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run(report)] });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn run(report: &Report) -> Value {
    let cwes = numbered(report.run.findings.iter().map(|f| f.kind.cwe));
    let rules = numbered(report.run.findings.iter().map(|f| f.kind.id.as_str()));
    let mut seen = BTreeMap::new();
    let results: Vec<_> = report.run.findings.iter().map(|f| result(report, f, &rules, &cwes, &mut seen)).collect();
    json!({
        "tool": { "driver": driver(report, &rules, &cwes) },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": { ROOT: { "uri": format!("{}/", file_uri(report.directory.trim_end_matches('/'))) } },
        "taxonomies": [{
            "name": "CWE", "organization": "MITRE", "shortDescription": { "text": "Common Weakness Enumeration" },
            "informationUri": "https://cwe.mitre.org/", "isComprehensive": false,
            "taxa": cwes.keys().map(|cwe| json!({ "id": cwe.to_string() })).collect::<Vec<_>>(),
        }],
        "invocations": [invocation(report)],
        "results": results,
        "properties": { "rules": report.run.rules },
    })
}

/// Distinct values in their order, numbered from 0.
fn numbered<T: Ord>(all: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut map: BTreeMap<T, usize> = all.map(|value| (value, 0)).collect();
    for (number, (_, index)) in map.iter_mut().enumerate() {
        *index = number;
    }
    map
}

fn taxon(cwe: u16, cwes: &BTreeMap<u16, usize>) -> Value {
    json!({ "id": cwe.to_string(), "index": cwes.get(&cwe), "toolComponent": { "name": "CWE", "index": 0 } })
}

fn driver(report: &Report, rules: &BTreeMap<&str, usize>, cwes: &BTreeMap<u16, usize>) -> Value {
    let rule = |id: &&str| {
        let cwe = report.run.findings.iter().find(|f| f.kind.id == *id).map(|f| f.kind.cwe);
        let relationships: Vec<_> = cwe.iter().map(|cwe| json!({ "target": taxon(*cwe, cwes), "kinds": ["superset"] })).collect();
        json!({
            "id": id, "name": id, "shortDescription": { "text": id.replace('-', " ") },
            "defaultConfiguration": { "level": "error" }, "relationships": relationships,
            "properties": { "tags": cwe.map(|cwe| vec![format!("external/cwe/cwe-{cwe:03}")]).unwrap_or_default() },
        })
    };
    json!({
        "name": "wryneck", "version": report.version, "semanticVersion": report.version,
        "rules": rules.keys().map(rule).collect::<Vec<_>>(),
        "supportedTaxonomies": [{ "name": "CWE", "index": 0 }],
    })
}

/// The command, how it went, and the ledger as notifications.
fn invocation(report: &Report) -> Value {
    let run = &report.run;
    let words: Vec<_> = run.command.iter().map(|w| units::shell_word(w)).collect();
    let internal = run.ends.iter().any(|e| e.class == Class::Internal);
    let note = |text: String| json!({ "level": "note", "message": { "text": text } });
    let ledger = run.ledger.iter().map(|row| {
        let flag = if row.flag.is_empty() { String::new() } else { format!(" (change: {})", row.flag) };
        note(format!("{}: {}, {} times{flag}", row.kind, row.what, row.count))
    });
    let status = match &run.status {
        Status::Complete => None,
        Status::Stopped { limit, flag, pending } => Some(note(format!("stopped: {limit} ({flag}), {pending} paths pending"))),
        Status::Unfinished => Some(note("the run has not ended: it goes on, or it was killed".into())),
    };
    let mut invocation = json!({
        "commandLine": words.join(" "), "arguments": run.command.get(1..).unwrap_or_default(),
        "workingDirectory": { "uri": format!("{}/", file_uri(report.directory.trim_end_matches('/'))) },
        "executionSuccessful": !internal && run.status != Status::Unfinished,
        "toolExecutionNotifications": status.into_iter().chain(ledger).collect::<Vec<_>>(),
    });
    if run.status != Status::Unfinished {
        invocation["exitCode"] = run.exit_code().into();
    }
    invocation
}

fn result(
    report: &Report,
    f: &Finding,
    rules: &BTreeMap<&str, usize>,
    cwes: &BTreeMap<u16, usize>,
    seen: &mut BTreeMap<String, u32>,
) -> Value {
    let place = f.stack.iter().find(|p| in_application(report, p)).unwrap_or(&f.stack[0]);
    let frames: Vec<_> = f.stack.iter().map(|p| json!({ "location": location(report, p, None) })).collect();
    let mut text = f.message.clone();
    if place != &f.stack[0] {
        text += &format!(" in `{}`", f.stack[0].function);
    }
    if !f.inputs.is_empty() {
        let inputs: Vec<_> = f.inputs.iter().map(|i| format!("{} = {}", i.name, units::c_string(&i.bytes))).collect();
        text += &format!("; when {}", inputs.join(", "));
    }
    let mut properties = Map::new();
    if !f.code.is_empty() {
        let line = |l: &CodeLine| format!("{} {:#x} {}: {}", if l.here { '>' } else { ' ' }, l.address, l.place, l.text);
        properties.insert("disassembly".into(), f.code.iter().map(line).collect());
    }
    properties.insert("paths".into(), f.count.into());
    properties.insert("inputs".into(), json!(f.inputs));
    if let Some(native) = &f.native {
        properties.insert("native".into(), json!(native));
    }
    if let Some(test) = &f.test {
        properties.insert("test".into(), json!(format!("{}/{test}", report.run.folder)));
    }
    // The standard wants the level "none" beside every kind but "fail".
    let (level, kind) = if f.is_denied() { ("none", "review") } else { ("error", "fail") };
    json!({
        "ruleId": f.kind.id, "ruleIndex": rules.get(f.kind.id.as_str()), "level": level, "kind": kind,
        "message": { "text": text },
        "locations": [at_address(location(report, place, None), f, place)],
        "stacks": [{ "message": { "text": "the call stack" }, "frames": frames }],
        "codeFlows": [{ "message": { "text": "the decisions on the way" }, "threadFlows": [{ "locations": flow(report, f) }] }],
        "partialFingerprints": { FINGERPRINT: fingerprint(report, f, place, seen) },
        "taxa": [taxon(f.kind.cwe, cwes)],
        "properties": properties,
    })
}

/// The decisions in their order, and the fault at the end.
fn flow(report: &Report, f: &Finding) -> Vec<Value> {
    let step = |s: &Step| {
        let times = if s.count > 1 { format!(" ({} times)", s.count) } else { String::new() };
        let text = format!("{}{times}", annotate::what(s));
        json!({ "location": location(report, &s.place, Some(&text)), "nestingLevel": s.depth.saturating_sub(1), "importance": "important" })
    };
    let end = json!({
        "location": location(report, &f.stack[0], Some(&f.message)), "nestingLevel": f.stack.len() - 1, "importance": "essential",
    });
    f.steps.iter().map(step).chain([end]).collect()
}

fn in_application(report: &Report, place: &Place) -> bool {
    !place.file.is_empty() && !report.coverage.iter().any(|c| c.library && c.file == place.file)
}

fn location(report: &Report, place: &Place, message: Option<&str>) -> Value {
    let symbol = place.function.split('+').next().filter(|_| place.file.is_empty());
    let mut location = json!({ "logicalLocations": [{ "name": symbol.unwrap_or(&place.function), "kind": "function" }] });
    if symbol.is_some_and(|symbol| symbol != place.function) {
        // A symbol and the distance from it.
        location["logicalLocations"][0]["fullyQualifiedName"] = place.function.as_str().into();
    }
    if !place.file.is_empty() {
        let mut physical = json!({ "artifactLocation": artifact(report, &place.file) });
        if place.line > 0 {
            physical["region"] = region(report, place);
        }
        location["physicalLocation"] = physical;
    }
    if let Some(text) = message {
        location["message"] = json!({ "text": text });
    }
    location
}

/// The location of a finding without source: its address.
fn at_address(mut location: Value, f: &Finding, place: &Place) -> Value {
    if let (true, Some(here)) = (place == &f.stack[0], f.code.iter().find(|line| line.here)) {
        let address =
            json!({ "absoluteAddress": here.address, "kind": "instruction", "fullyQualifiedName": here.place, "name": here.text });
        location["physicalLocation"] = json!({ "address": address });
    }
    location
}

/// Line and column; compilers count columns in bytes, SARIF in characters.
fn region(report: &Report, place: &Place) -> Value {
    let mut region = json!({ "startLine": place.line });
    let line = report.sources.line(&place.file, place.line);
    if let Some(before) = (place.column as usize).checked_sub(1) {
        let characters = line.and_then(|l| l.get(..before)).map_or(before, |l| l.chars().count());
        region["startColumn"] = (characters + 1).into();
    }
    if let Some(line) = line {
        region["snippet"] = json!({ "text": line });
    }
    region
}

fn artifact(report: &Report, file: &str) -> Value {
    let root = format!("{}/", report.directory.trim_end_matches('/'));
    match (file.strip_prefix(&root), file.starts_with('/')) {
        (Some(below), _) => json!({ "uri": encoded(below), "uriBaseId": ROOT }),
        (None, true) => json!({ "uri": file_uri(file) }),
        (None, false) => json!({ "uri": encoded(file), "uriBaseId": ROOT }),
    }
}

fn file_uri(path: &str) -> String {
    format!("file://{}", encoded(path))
}

/// A path as part of a URI (RFC 3986): all but unreserved characters and slashes escaped.
fn encoded(path: &str) -> String {
    let byte = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(b).to_string(),
        _ => format!("%{b:02X}"),
    };
    path.bytes().map(byte).collect()
}

/// What names a defect, hashed; a number after it where several look the same.
fn fingerprint(report: &Report, f: &Finding, place: &Place, seen: &mut BTreeMap<String, u32>) -> String {
    let line = match place == &f.stack[0] {
        true => f.source_line.as_deref(),
        false => report.sources.line(&place.file, place.line),
    };
    let text: String = line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let mut hasher = blake3::Hasher::new();
    for part in [f.kind.id.as_str(), &f.stack[0].function, &place.function, &text] {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    let hash = hasher.finalize().to_hex()[..32].to_owned();
    let number = seen.entry(hash.clone()).or_default();
    *number += 1;
    format!("{hash}:{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::golden;

    fn log(report: &Report) -> Value {
        let mut out = Vec::new();
        write(&mut out, report).expect("memory can be written");
        serde_json::from_slice(&out).expect("one JSON object")
    }

    #[test]
    fn a_result_has_place_flow_taxon_and_message() {
        let log = log(&golden());
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["ruleId"], "out-of-bounds-write");
        assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"], json!({ "uri": "t.c", "uriBaseId": "SRCROOT" }));
        assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
        assert_eq!(result["taxa"][0], json!({ "id": "787", "index": 0, "toolComponent": { "name": "CWE", "index": 0 } }));
        let flow = &result["codeFlows"][0]["threadFlows"][0]["locations"];
        assert_eq!(flow[0]["location"]["message"]["text"], "`strchr` looks at the input (3 times)");
        assert_eq!(flow[2]["location"]["message"]["text"], "write of 1 byte at offset 4 of `a` (4 bytes)");
        assert_eq!(log["runs"][0]["invocations"][0]["exitCode"], 1);
    }

    #[test]
    fn a_fingerprint_survives_moved_lines_and_other_inputs() {
        let fingerprint = |report: &Report| log(report)["runs"][0]["results"][0]["partialFingerprints"][FINGERPRINT].clone();
        let (first, mut moved) = (golden(), golden());
        let f = &mut moved.run.findings[0];
        f.stack.iter_mut().for_each(|p| p.line += 20);
        f.source_line = Some("\ta[i] =  1;".into());
        f.inputs[0].bytes.push(7);
        f.message += "!";
        assert_eq!(fingerprint(&first), fingerprint(&moved));
        moved.run.findings[0].stack[0].function = "spill".into();
        assert_ne!(fingerprint(&first), fingerprint(&moved));
        let mut twice = golden();
        twice.run.findings.push(twice.run.findings[0].clone());
        let results = &log(&twice)["runs"][0]["results"];
        assert_ne!(results[0]["partialFingerprints"], results[1]["partialFingerprints"]);
    }

    /// The types are made from the standard's schema: a missing, misspelt or mistyped property does not come back as it was.
    #[test]
    fn logs_have_the_schema_s_shape() {
        let unfinished = {
            let mut report = golden();
            report.run.status = Status::Unfinished;
            report.run.findings[0].native = Some(crate::run::Native::NotReproduced("exit 0".into()));
            report.run.findings[0].stack[0].column = 0;
            let result = &log(&report)["runs"][0]["results"][0];
            assert_eq!((&result["level"], &result["kind"]), (&json!("none"), &json!("review")), "a denied finding is no error");
            report
        };
        let mut clean = golden();
        clean.run.findings.clear();
        for report in [golden(), unfinished, clean] {
            let log = log(&report);
            let read: serde_sarif::sarif::Sarif = serde_json::from_value(log.clone()).expect("it has the schema's shape");
            let again = serde_json::to_value(&read).expect("it is JSON");
            assert_eq!(again, log);
        }
    }

    #[test]
    fn names_of_files_are_uris() {
        let report = golden();
        assert_eq!(artifact(&report, "/home/me/a b.c"), json!({ "uri": "a%20b.c", "uriBaseId": "SRCROOT" }));
        assert_eq!(artifact(&report, "/home/me2/ä.c"), json!({ "uri": "file:///home/me2/%C3%A4.c" }));
    }

    #[test]
    fn columns_count_characters() {
        let mut report = golden();
        report.sources.add("u.c".into(), "/* ä */ x = 1;\n");
        let place = Place { function: "f".into(), file: "u.c".into(), line: 1, column: 10 };
        assert_eq!(region(&report, &place)["startColumn"], 9);
    }
}
