//! A small generator of its own, so that a seed means the same programs and mutants for ever (Knuth's MMIX constants).

/// `main` of a program that computes `f` of two bytes: natively of all, else of those on standard input.
pub const OF_TWO_BYTES: &str = r#"#ifdef NATIVE
int main(void) { for (int n = 0; n < 65536; n++) printf("%d %d\n", n, f(n)); return 0; }
#else
int main(void) { unsigned short n; return read(0, &n, 2) == 2 ? f(n) : 99; }
#endif
"#;

#[derive(Default)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}
