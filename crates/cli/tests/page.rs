//! The page of `wryneck report` in a browser: what a person sees and does there, at a wide and a narrow window, in light and in dark.
//!
//! A page is opened with two more scripts in it: `page/watch.js` notes errors and what is loaded, `page/use.js` uses the page and writes down what it shows.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

const WRYNECK: &str = env!("CARGO_BIN_EXE_wryneck");
const BROWSER: &str = "chromium-headless-shell";
const DARK: &str = "--blink-settings=preferredColorScheme=0";
const LIGHT: &str = "--blink-settings=preferredColorScheme=1";

/// A run of `page/program.c`, whose source, names and inputs look like markup.
fn explored() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("there is room");
    fs::write(dir.path().join("t.c"), include_str!("page/program.c")).expect("there is room");
    let words = ["run", "--quiet", "--output", "a 'b'", "t.c", "--sym-arg", "3", "--sym-stdin", "2", "<img src=x onerror=boom()>"];
    assert_eq!(wryneck(dir.path(), &words).status.code(), Some(1));
    assert_eq!(wryneck(dir.path(), &["report", "a 'b'"]).status.code(), Some(0));
    let page = fs::read_to_string(dir.path().join("wryneck-report.html")).expect("it was written");
    (dir, page)
}

fn wryneck(dir: &Path, words: &[&str]) -> Output {
    Command::new(WRYNECK).current_dir(dir).args(words).output().expect("the tool was built")
}

/// What using a page showed. `options` are the browser's.
#[track_caller]
fn used(dir: &Path, page: &str, fragment: &str, options: &[&str]) -> Value {
    let with = |script: &str| format!("<script>{script}</script>");
    let watched = page.replacen("<head>", &format!("<head>{}", with(include_str!("page/watch.js"))), 1);
    let (shown, rest) = watched.rsplit_once("</body>").expect("a page has a body");
    fs::write(dir.join("used.html"), format!("{shown}{}</body>{rest}", with(include_str!("page/use.js")))).expect("there is room");
    let out = Command::new("timeout")
        .args(["--kill-after=5", "120", BROWSER, "--no-sandbox", "--disable-dev-shm-usage", "--enable-logging=stderr"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.join("browser").display()))
        .args(options)
        .arg(format!("file://{}{fragment}", dir.join("used.html").display()))
        .output()
        .expect("coreutils are installed");
    assert_ne!(out.status.code(), Some(127), "`{BROWSER}` is not installed: install Debian's `{BROWSER}`");
    let (dom, log) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let seen = dom.rsplit_once("<pre id=\"seen\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (seen, _) = seen.unwrap_or_else(|| panic!("the use of the page did not end: {:?}\n{log}", out.status));
    let mut seen: Value = serde_json::from_str(seen).expect("it is JSON");
    seen["console"] = log.lines().filter(|line| line.contains(":CONSOLE:")).collect();
    seen
}

fn texts(seen: &Value) -> Vec<&str> {
    seen.as_array().expect("a list").iter().map(|text| text.as_str().expect("text")).collect()
}

#[track_caller]
fn contains(text: &Value, parts: &[&str]) {
    let text = text.as_str().expect("text");
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing: {text}");
    }
}

/// What must hold of every page at every size.
#[track_caller]
fn is_sound(seen: &Value, width: u64) {
    for what in ["complaints", "console", "resources", "made", "faint"] {
        assert_eq!(seen[what], json!([]), "{what}");
    }
    assert_eq!(seen["scripts"], 4, "the page has two scripts, the test adds two");
    assert_eq!(seen["width"], width);
    assert_eq!(seen["overflow"], json!([0, 0]), "the page is wider than the window");
}

/// The one text with this part.
#[track_caller]
fn with<'a>(all: &'a Value, part: &str) -> &'a Value {
    let mut found = all.as_array().expect("a list").iter().filter(|text| text.as_str().is_some_and(|text| text.contains(part)));
    let (first, more) = (found.next(), found.next());
    assert!(more.is_none(), "`{part}` is there more than once: {all:#}");
    first.unwrap_or_else(|| panic!("`{part}` is missing: {all:#}"))
}

#[test]
fn a_person_sees_every_section_and_can_use_it() {
    let (dir, page) = explored();
    let seen = used(dir.path(), &page, "", &["--window-size=1280,900"]);
    is_sound(&seen, 1280);
    contains(
        &seen["summary"],
        &["wryneck run", "'<img src=x onerror=boom()>'", "3 findings; every path was explored", "108 paths", "18 lines ran"],
    );
    for link in seen["nav"].as_array().expect("a list") {
        assert_eq!(link[1], true, "a link leads nowhere: {link}");
    }

    // Findings, with text that looks like markup.
    let division = with(&seen["findings"], "division by zero");
    contains(division, &["t.c:8:15 in parse", "by ", "<img src=x onerror=boom()>\"'.h:7:10 in main", "The way there: 4 decisions"]);
    contains(
        division,
        &[r#"stdin standard input "<0""#, r#"</td><img src=x onerror=boom()>"' "\x00\x00\x00\x00" 0"#, "natively reproduced"],
    );
    contains(division, &[r"replay wryneck replay 'a '\''b'\''/test000005.ktest' its test"]);
    contains(with(&seen["findings"], "at offset 4 of `name`"), &[r#"arg00 symbolic argument 1 "&"#, "variables: argc = 3"]);
    contains(with(&seen["findings"], "the program aborts"), &["which = 16777216", "7 end so"]);
    with(&seen["excerpt"], "\"> \"8    return 10 / (text[1] - '0');");
    with(&seen["steps"], "t.c:7:15 in parse: goes to line 8 if (text[0] == '<')");
    assert_eq!(seen["folded"], json!([true, false]));

    // Paths, coverage with lines, tests, ledger, time.
    with(&seen["ends"], "fault division-by-zero 7 6.5 %");
    with(&seen["files"], "t.c 15 of 16 lines (93.8 %), 2 of 3 functions entered");
    with(&seen["files"], "<img src=x onerror=boom()>\"'.h 2 of 2 lines");
    with(&seen["lines"], "\"- \"5static int never");
    with(&seen["lines"], "\"+ \"19  if (argc > 9) return never(argc); // </script ><script>boom()</script><img");
    with(&seen["lines"], "\"  \"16  int which;");
    assert_eq!(seen["tests"].as_array().map(Vec::len), Some(7));
    with(&seen["tests"], "test000004.ktest fault abort ");
    with(&seen["ledger"], "concretisation exit status 70");
    contains(&seen["time"], &["solver 0.", "0 calls for ", " queries", "the rest ", " instructions, ", " decisions"]);

    // The table of tests.
    contains(&seen["inputs"], &["arg00 symbolic argument 1 \"", r"replay wryneck replay 'a '\''b'\'''/test000001.ktest"]);
    assert_eq!(seen["expanded"], json!(["true", "false", 0]));
    assert_eq!(seen["found"]["FAULT zero"], json!(["1 of 1 shown, 7 in all", "fault division-by-zero"]));
    assert_eq!(seen["found"]["\"<"], json!(["2 of 2 shown, 7 in all", "fault division-by-zero", "exit 0"]));
    assert_eq!(seen["found"]["nothing like it"], json!(["0 of 0 shown, 7 in all"]));
    assert_eq!(seen["found"][""][0], "7 of 7 shown");
    assert_eq!(seen["ordered"], json!([["ascending", [3, 5, 5, 5, 5, 6, 7]], ["descending", [7, 6, 5, 5, 5, 5, 3]]]));
    assert_eq!(texts(&seen["linked"])[..2], ["#test000004.ktest", "test000004.ktest"]);
    contains(&seen["linked"][2], &["</td><img src=x onerror=boom()>\"' \"\\x00\\x00\\x00\\x01\" 16777216", "test000004.ktest"]);
    assert_eq!(seen["again"], "test000004.ktest");
}

#[test]
fn the_tree_names_the_line_of_each_fork_and_is_used_with_mouse_and_keys() {
    let (dir, page) = explored();
    let seen = used(dir.path(), &page, "", &["--window-size=1280,900"]);
    is_sound(&seen, 1280);
    let tree = &seen["tree"];
    contains(with(tree, "7 paths part"), &["t.c:20:7 in main after 1 decision if (strchr(argv[1], '&'))"]);
    contains(with(tree, "t.c:21:10"), &["2 paths part", "name[strlen(argv[1]) + 1] = 'x';"]);
    contains(with(tree, "4 paths part"), &["t.c:7:15 in parse after 3 decisions if (text[0] == '<')"]);
    contains(with(tree, "t.c:8:15"), &["2 paths part", "return 10 / (text[1] - '0');"]);
    with(tree, "test000004.ktest: fault abort, after 3 decisions");
    assert_eq!(tree.as_array().map(Vec::len), Some(13), "six forks and seven tests: {tree:#}");
    assert!(seen["colours"].as_u64() > Some(9), "nothing is drawn");
    let keys = texts(&seen["keys"]);
    assert_eq!(keys[0], keys[3]);
    for (text, part) in keys.iter().zip(["7 paths part", "5 paths part", "t.c:21:10"]) {
        assert!(text.contains(part), "{keys:#?}");
    }
    // Zoomed out, zoomed in on a fork with fewer nodes, and out again.
    let zoom = &seen["zoom"];
    contains(&zoom[1], &["5 paths part"]);
    assert_eq!(json!([zoom[0], zoom[2], zoom[3], zoom[4], zoom[5]]), json!([true, false, 9, true, 13]));
    contains(&seen["top"], &["7 paths part"]);
    assert_eq!(seen["leaf"], json!(["test000001.ktest", "test000001.ktest"]));
}

#[test]
fn the_page_fits_narrow_windows_and_dark_screens_and_opens_at_a_test() {
    let (dir, page) = explored();
    let seen = used(dir.path(), &page, "#test000005.ktest", &["--window-size=480,900", DARK]);
    is_sound(&seen, 480);
    assert_eq!((&seen["dark"], &seen["background"]), (&json!(true), &json!("rgb(20, 23, 27)")));
    assert_eq!(seen["target"], json!(["test000005.ktest", true]), "the test is not where the window is");
    contains(&seen["opened"][0], &["stdin standard input \"<0\""]);
    for (options, width, dark) in [(["--window-size=480,900", LIGHT], 480, false), (["--window-size=1280,900", DARK], 1280, true)] {
        let seen = used(dir.path(), &page, "", &options);
        is_sound(&seen, width);
        assert_eq!(seen["dark"], dark);
    }
}

/// What the other tests rely on: whatever must not be in a page, the browser names it.
#[test]
fn a_page_that_does_what_it_must_not_is_noticed() {
    let dir = tempfile::tempdir().expect("there is room");
    let page = "<!DOCTYPE html><html><head><meta http-equiv=Content-Security-Policy content=\"default-src 'none'; script-src 'unsafe-inline'\"></head>\
        <body><p>faint</p><script>document.body.style.cssText = 'color: #888; background: #fff; width: 2000px';\
        console.error('said'); new Image().src = 'missing.png'; boom(); null.x</script></body></html>";
    let seen = used(dir.path(), page, "", &["--window-size=800,600"]);
    for part in
        ["text of the program ran", "Cannot read properties of null (reading 'x')", "loads file (img-src)", "the use of the page failed"]
    {
        with(&seen["complaints"], part);
    }
    with(&seen["console"], "\"said\"");
    assert!(seen["overflow"][0].as_u64() > Some(1000), "{seen:#}");
}
