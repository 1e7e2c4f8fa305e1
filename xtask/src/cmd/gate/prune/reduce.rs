//! Shrinks a C program line by line as long as something stays wrong with it (delta debugging: Zeller, Hildebrandt, TSE 2002). Ranges of
//! lines go whose braces match, largest first, and braces around statements go with their heads.

/// The smallest text found for which `wrong` holds, as it does for `text`.
pub fn reduce(text: &str, mut wrong: impl FnMut(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    loop {
        let before = lines.len();
        let mut size = lines.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at + size <= lines.len() {
                let without = [&lines[..at], &lines[at + size..]].concat();
                if matches(&lines[at..at + size]) && wrong(&without.join("\n")) { lines = without } else { at += 1 }
            }
            size = if size > 8 { size / 2 } else { size - 1 };
        }
        unwrap(&mut lines, &mut wrong);
        if lines.len() == before {
            return lines.join("\n");
        }
    }
}

/// Takes braces and heads off whose statements suffice.
fn unwrap(lines: &mut Vec<&str>, wrong: &mut impl FnMut(&str) -> bool) {
    let mut at = 0;
    while at < lines.len() {
        let end = (at + 1..lines.len()).find(|end| matches(&lines[at..=*end]));
        if let (true, Some(end)) = (lines[at].ends_with('{'), end) {
            let without = [&lines[..at], &lines[at + 1..end], &lines[end + 1..]].concat();
            if wrong(&without.join("\n")) {
                *lines = without;
                continue;
            }
        }
        at += 1;
    }
}

fn matches(lines: &[&str]) -> bool {
    let mut depth = 0;
    let mut brace = |c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth >= 0
    };
    lines.iter().flat_map(|line| line.chars()).all(&mut brace) && depth == 0
}

#[cfg(test)]
mod tests {
    use super::reduce;

    #[test]
    fn what_does_not_matter_goes() {
        let text = "int a;\nint f() {\n  if (a) {\n    b();\n    bad();\n  }\n  else {\n  }\n}\nint c;";
        assert_eq!(reduce(text, |text| text.contains("bad()")), "    bad();");
        let balanced =
            |text: &str| text.contains("bad()") && text.contains("f()") && text.matches('{').count() == text.matches('}').count();
        assert_eq!(reduce(text, balanced), "int f() {\n    bad();\n}");
    }
}
