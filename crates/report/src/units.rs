//! Numbers with units, as people read and write them.

use crate::shown::is_hidden;

/// `1234567` as `1.23 M`.
pub fn count(n: f64) -> String {
    scaled(n, 1000.0, &["", " k", " M", " G", " T"])
}

/// Bytes as `1.50 GiB`.
pub fn bytes(n: u64) -> String {
    scaled(n as f64, 1024.0, &[" B", " KiB", " MiB", " GiB", " TiB"])
}

/// Seconds as `0.012 s`, `3.4 s`, `2 min 5 s`.
pub fn seconds(s: f64) -> String {
    match s {
        s if s < 0.1 => format!("{s:.3} s"),
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 120.0 => format!("{s:.1} s"),
        s => format!("{} min {} s", s as u64 / 60, s as u64 % 60),
    }
}

fn scaled(mut n: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while n >= step && unit + 1 < units.len() {
        n /= step;
        unit += 1;
    }
    match unit {
        0 => format!("{n:.0}{}", units[0]),
        _ => format!("{n:.2}{}", units[unit]),
    }
}

/// Bytes as a C string literal, as long as they are printed: `"ab\x01"`.
pub fn c_string(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    let mut hex = false;
    for &b in bytes {
        match b {
            b'"' | b'\\' => out.extend(['\\', b as char]),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            // A hexadecimal digit right after a hexadecimal escape would belong to it.
            b' '..=b'~' if !(hex && b.is_ascii_hexdigit()) => out.push(b as char),
            _ => out.push_str(&format!("\\x{b:02x}")),
        }
        hex = !matches!(b, b' '..=b'~' | b'\n' | b'\t') || hex && b.is_ascii_hexdigit();
    }
    out.push('"');
    out
}

/// A word as a shell reads it back.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if word.contains(is_hidden) {
        // The quotes of ksh, bash, zsh and POSIX 2024, whose escapes are C's.
        let byte = |b: u8| match b {
            b'\'' | b'\\' => format!("\\{}", char::from(b)),
            b' '..=b'~' => char::from(b).to_string(),
            _ => format!("\\{b:03o}"),
        };
        return format!("$'{}'", word.bytes().map(byte).collect::<String>());
    }
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(count(999.0), "999");
        assert_eq!(count(1_234_567.0), "1.23 M");
        assert_eq!(bytes(3 << 29), "1.50 GiB");
        assert_eq!(seconds(0.0123), "0.012 s");
        assert_eq!(seconds(125.0), "2 min 5 s");
    }

    #[test]
    fn bytes_read_back_as_c() {
        assert_eq!(c_string(b"a\"\\\n\x01"), r#""a\"\\\n\x01""#);
        assert_eq!(c_string(b"\x01a"), r#""\x01\x61""#);
        assert_eq!(c_string(b"\x01xa"), r#""\x01xa""#);
    }

    #[test]
    fn words_read_back_in_a_shell() {
        assert_eq!(shell_word("a-b.c"), "a-b.c");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("a'\n\u{1b}[1mé"), r"$'a\'\012\033[1m\303\251'");
    }
}
