//! Statements that hide from a slicer what they do: addresses that move as bytes, halves, tagged, scrambled and scaled numbers, and streams and pipes
//! that hand on whether something was written, as do addresses that searches return, arrays of variable length, heap slots that are used again, and
//! mappings that move. Each has its value saved in one form and taken out of the same form.

use super::{Generator, Part, Shape};

/// A form in which the address of an integer is saved, and how it is taken out; `%` is a pointer.
const FORMS: [(&str, &str); 10] = [
    ("copy_bytes(&pb@, &%, sizeof pb@);", "copy_bytes(&%, &pb@, sizeof pb@);"),
    ("hi@ = (unsigned long)% >> 32; lo@ = (unsigned long)%;", "% = (int *)((unsigned long)hi@ << 32 | lo@);"),
    ("tag@ = (unsigned long)% | 1;", "% = (int *)(tag@ & ~1ul);"),
    ("xor@ = (unsigned long)% ^ (unsigned long)&g0@;", "% = (int *)(xor@ ^ (unsigned long)&g0@);"),
    ("order@ = __builtin_bswap64((unsigned long)%);", "% = (int *)__builtin_bswap64(order@);"),
    ("part@ = (unsigned long)% / 4;", "% = (int *)(part@ * 4);"),
    ("far@ = (long)((unsigned long)% - (unsigned long)&g2@);", "% = (int *)((unsigned long)&g2@ + far@);"),
    ("put_bytes(ring@, &%);", "get_bytes(&%, ring@);"),
    (
        "words@[0] = (unsigned long)%; words@[1] = (unsigned long)% >> 16; words@[2] = (unsigned long)% >> 32; words@[3] = (unsigned long)% >> 48;",
        "% = (int *)((unsigned long)words@[3] << 48 | (unsigned long)words@[2] << 32 | (unsigned long)words@[1] << 16 | words@[0]);",
    ),
    ("un@.pointer = %;", "% = (int *)un@.number;"),
];
/// What the forms are saved in.
pub(super) const STORE: &str = "static int *pb@;\nstatic unsigned hi@, lo@;\nstatic unsigned long tag@, xor@, order@, part@;\n\
    static long far@;\nstatic unsigned char ring@[16];\nstatic unsigned short words@[4];\n\
    static union { int *pointer; unsigned long number; unsigned char bytes[8]; } un@;\nstatic unsigned long fun@;\n";

impl Generator {
    /// Saves an address in every form, so that each can be taken out.
    pub(super) fn save_all(&mut self) {
        for (save, _) in FORMS {
            self.line(&save.replace('%', "s@.p"));
        }
        self.line("fun@ = (unsigned long)f@ << 1;");
    }

    pub(super) fn hidden_address(&mut self) {
        const POINTERS: [&str; 3] = ["q@", "s@.p", "o@.p"];
        let pointer = self.pick(&POINTERS);
        let line = match self.below(8) {
            0 => format!("swap_bytes(&{pointer}, &{}, sizeof q@);", self.pick(&POINTERS)),
            1 => format!("copy_bytes(&{pointer}, &{}, sizeof q@);", self.pick(&POINTERS)),
            2 if self.has(Part::FunctionPointers) => "copy_bytes(&f@, &s@.f, sizeof f@);".into(),
            3 if self.has(Part::FunctionPointers) => "fun@ = (unsigned long)f@ << 1;".into(),
            4 if self.has(Part::FunctionPointers) => "f@ = (int (*)(int))(fun@ >> 1);".into(),
            n => {
                let (save, take) = self.pick(&FORMS);
                if n % 2 == 0 { save } else { take }.replace('%', pointer)
            }
        };
        // Sides with calls of their own, too: what is hidden is hidden under a condition.
        match self.below(3) {
            0 => {
                let c = self.condition();
                self.line(&format!("if ({c}) {{ {line} }}"));
            }
            _ => self.line(&line),
        }
    }

    pub(super) fn stream(&mut self) {
        let (c, place) = (self.condition(), self.place());
        const HIDE: [&str; 11] = [
            "written_to_memory", "through_pipe", "next_descriptor", "read_back", "found", "at_the_end", "of_length", "used_again",
            "moved_on", "by_hook", "input_moved",
        ];
        const ERRORS: [&str; 10] = [
            "call_failed", "number_too_large", "errno_by_address", "errno_in_words", "written_or_not", "stream_failed", "input_written",
            "stream_chosen", "errno_kept", "close_failed",
        ];
        let hide = self.pick(if self.shape == Shape::Errors { &ERRORS[..] } else { &HIDE });
        self.line(&format!("{place} = {hide}({c});"));
    }
}
