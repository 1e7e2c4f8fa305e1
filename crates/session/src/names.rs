//! Functions as they are named in options: by patterns and by addresses.

/// Whether a name matches a pattern with `*` and `?`.
pub fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.chars().next(), name.chars().next()) {
        (None, None) => true,
        (Some('*'), _) => {
            let rest = &pattern[1..];
            (0..=name.len()).filter(|i| name.is_char_boundary(*i)).any(|i| matches(rest, &name[i..]))
        }
        (Some('?'), Some(c)) => matches(&pattern[1..], &name[c.len_utf8()..]),
        (Some(p), Some(c)) if p == c => matches(&pattern[p.len_utf8()..], &name[c.len_utf8()..]),
        _ => false,
    }
}

/// The address that a word is, of a function of machine code without a symbol.
pub fn address(word: &str) -> Option<u64> {
    word.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        assert!(matches("list_*", "list_head") && matches("*", "") && matches("a?c", "abc") && matches("abc", "abc"));
        assert!(!matches("list_*", "my_list_head") && !matches("a?c", "ac") && !matches("abc", "abcd"));
    }

    #[test]
    fn addresses_begin_as_in_c() {
        assert_eq!((address("0x1f"), address("1f"), address("0xg")), (Some(31), None, None));
    }
}
