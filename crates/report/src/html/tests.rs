//! The page as a browser takes it apart: its parts, text that would be markup, its size.

use scraper::{Html, Selector};
use serde_json::{Value, json};

use super::data::MOST_TESTS;
use super::*;
use crate::report::tests::golden;
use crate::report::{FileCoverage, FunctionCoverage, Test, TreeNode};
use crate::rules::{RuleResult, Verdict};
use crate::run::InputValue;

fn written(report: &Report) -> String {
    let mut out = Vec::new();
    write(&mut out, report).expect("memory can be written");
    String::from_utf8(out).expect("a page is UTF-8")
}

/// The texts of the elements that a selector finds.
fn texts(page: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).expect("it is a selector");
    page.select(&selector).map(|e| e.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn data_of(page: &Html) -> Value {
    serde_json::from_str(
        &page.select(&Selector::parse("#data").expect("it is a selector")).next().expect("there is data").text().collect::<String>(),
    )
    .expect("it is JSON")
}

#[test]
fn the_page_has_findings_with_their_path_coverage_paths_tests_and_ledger() {
    let page = Html::parse_document(&written(&golden()));
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    assert_eq!(texts(&page, "h1"), ["wryneck run t.c --sym-arg 2"]);
    assert_eq!(texts(&page, ".verdict"), ["1 finding; stopped: time (--max-time), 7 paths pending"]);
    assert_eq!(texts(&page, ".finding h3"), ["write of 1 byte at offset 4 of `a` (4 bytes)"]);
    assert_eq!(texts(&page, ".finding > pre .here"), ["7 a[i] = 1;"]);
    assert_eq!(texts(&page, ".finding > details summary"), ["by t.c:12:3 in main", "The way there: 2 decisions"]);
    assert_eq!(
        texts(&page, ".finding ol li"),
        ["t.c:11:7 in main: strchr looks at the input (3 times) if (strchr(v[1], 'x'))", "t.c:6:9 in fill: goes to line 7 if (i > 3)"]
    );
    assert_eq!(
        texts(&page, ".finding dd"),
        [r#"arg00 symbolic argument 1"x\x01\x00""#, "2 end so", "reproduced", "wryneck replay wryneck-out-3/test000002.ktest its test"]
    );
    assert_eq!(texts(&page, "#paths + div tbody tr:first-child td"), ["exit 0", "12", "80.0 %", ""]);
    assert!(texts(&page, "summary").iter().any(|text| text == "t.c 6 of 8 lines (75.0 %), 2 of 3 functions entered"));
    assert_eq!(texts(&page, "#ledger + div td"), ["undefined-function (change: --undefined)", "gadget", "3"]);
    let data = data_of(&page);
    assert_eq!(data["tests"], json!([["test000002.ktest", 0, 90, 4, [[0, r#""x\x01\x00""#]]]]));
    assert_eq!((&data["inputs"], &data["folder"]), (&json!([["arg00", "symbolic argument 1"]]), &json!("wryneck-out-3")));
    assert_eq!((&data["ends"], &data["kinds"]), (&json!(["fault out-of-bounds-write"]), &json!(["fault"])));
    assert_eq!(data["tree"], json!([[0, 0, -1, 0], [0, 4, 0, -1]]));
    assert_eq!(data["places"], json!([["t.c:11", "t.c:11:7 in main", "if (strchr(v[1], 'x'))"]]));
    assert_eq!(data["files"][0][1], json!([5, 6, 7, 8, 11, 12]));
}

#[test]
fn the_page_has_the_verdicts_on_rules() {
    let mut report = golden();
    assert!(texts(&Html::parse_document(&written(&report)), "#rules").is_empty());
    report.run.rules = vec![RuleResult {
        id: "open-close".into(),
        summary: "an opened stream is closed".into(),
        verdict: Verdict::Incomplete,
        relevant: 3,
        why: "stopped: <time>".into(),
        assumptions: Vec::new(),
    }];
    let rules = texts(&Html::parse_document(&written(&report)), "#rules pre");
    assert!(rules[0].starts_with("INCOMPLETE: open-close (an opened stream is closed): stopped: <time>; 3 of "), "{rules:?}");
}

#[test]
fn a_line_that_has_changed_is_shown_as_it_was() {
    let mut report = golden();
    report.run.findings[0].source_line = Some("    a[i] = 2;".into());
    let page = Html::parse_document(&written(&report));
    assert_eq!(texts(&page, ".finding > pre .here"), ["7 a[i] = 2;"]);
    assert!(texts(&page, ".finding > p.soft").contains(&"The source has changed since the run.".to_owned()));
}

#[test]
fn of_a_long_way_the_end_is_shown() {
    let mut report = golden();
    let f = &mut report.run.findings[0];
    let mut last = f.steps[0].clone();
    f.steps = vec![last.clone(); MOST_STEPS];
    last.decision = "the last one".into();
    f.steps.push(last);
    let page = Html::parse_document(&written(&report));
    assert!(texts(&page, ".finding li").last().is_some_and(|text| text.contains("the last one")));
    assert!(texts(&page, ".finding details p").contains(&"Not shown: 1 earlier decision".to_owned()));
}

#[test]
fn it_loads_nothing_and_text_of_programs_is_no_markup() {
    const EVIL: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"' &lt; \u{202e}\n";
    let mut report = golden();
    let f = &mut report.run.findings[0];
    (f.message, f.kind.id, f.test) = (EVIL.into(), EVIL.into(), Some(EVIL.into()));
    (f.stack[0].function, f.steps[0].decision, f.inputs[0].name) = (EVIL.into(), EVIL.into(), EVIL.into());
    f.variables[0][0].value = EVIL.into();
    report.run.command = vec![EVIL.into()];
    report.run.ends[0].what = EVIL.into();
    report.run.ledger[0].what = EVIL.into();
    report.coverage[0].file = EVIL.into();
    report.coverage[0].functions[0].name = EVIL.into();
    report.sources.add(EVIL.into(), EVIL);
    report.tests[0].file = EVIL.into();
    report.tests[0].what = EVIL.into();
    report.tests[0].inputs = Some(vec![InputValue { name: EVIL.into(), bytes: EVIL.into() }]);
    report.tree.places[0] = Place { function: EVIL.into(), file: EVIL.into(), line: 1, column: 1 };
    let text = written(&report);
    let page = Html::parse_document(&text);
    assert_eq!(texts(&page, "script").len(), 2, "data and script alone");
    for selector in ["img", "link", "iframe", "[src]", "[href]:not([href^='#'])", "[onerror]", "[onload]"] {
        assert_eq!(texts(&page, selector), Vec::<String>::new(), "{selector}");
    }
    assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("url("));
    let test = data_of(&page)["tests"][0][0].as_str().map(str::to_owned);
    assert_eq!(test.as_deref(), Some("</script><script>alert(1)</script><img src=x onerror=alert(1)>\"' &lt; \\u202e\\u000a"));
    assert!(text.contains("default-src 'none'"));
}

#[test]
fn a_large_run_is_a_page_of_less_than_six_megabytes() {
    let mut report = golden();
    let test = |n: u32| Test {
        file: format!("test{n:06}.ktest"),
        class: "exit".into(),
        what: (n % 7).to_string(),
        instructions: 1 << 20,
        depth: 300,
        inputs: Some(vec![InputValue { name: "stdin".into(), bytes: vec![0xff; 300] }]),
    };
    report.tests = (0..30_000).map(test).collect();
    report.tree.nodes = std::iter::once(TreeNode { parent: 0, decisions: 3, test: None, place: Some(0) })
        .chain((0..30_000).map(|n| TreeNode { parent: n, decisions: 1, test: Some(n), place: Some(0) }))
        .collect();
    let step = report.run.findings[0].steps[0].clone();
    report.run.findings = vec![report.run.findings[0].clone(); 2_000];
    report.run.findings[..100].iter_mut().for_each(|f| f.steps = vec![step.clone(); 500]);
    let function = FunctionCoverage { name: "function_of_a_usual_length".into(), line: 4, entered: false };
    report.coverage[0].functions = vec![function.clone(); 3_000];
    let line = "x = y; // ".repeat(8);
    for n in 0..200 {
        let file = format!("/w/f{n}.c");
        report.sources.add(file.clone(), &format!("{line}\n").repeat(500));
        report.coverage.push(FileCoverage {
            file,
            library: false,
            lines: (1..500).map(|l| (l, l % 3 == 0)).collect(),
            functions: vec![function.clone(); 100],
        });
    }
    let text = written(&report);
    assert!(text.len() < 6 << 20, "{}", text.len());
    let page = Html::parse_document(&text);
    assert!(page.errors.is_empty());
    assert_eq!(data_of(&page)["tests"].as_array().map(Vec::len), Some(MOST_TESTS));
    let more = texts(&page, "p.soft");
    assert!(more.iter().any(|text| text == "and 10,000 more in the run folder"), "{more:?}");
    assert!(more.iter().any(|text| text.starts_with("And 1,500 more")), "{more:?}");
}
