//! `/proc/self/maps` of machine code (proc(5)): what is mapped, as text. glibc looks for the first thread's stack there, as Rust's start does.

use std::fmt::Write;

use super::fd::O_CLOEXEC;
use super::memory::PAGE;
use super::{Done, Sys};
use crate::content::Byte;
use crate::libc::alloc::MAPPED;
use crate::state::NodeKind;

pub const PATH: &[u8] = b"/proc/self/maps";
/// What the objects that a program cannot reach are called.
const SHADOW: &str = "the shadow of the stack";

/// A line of the file.
struct Line {
    from: u64,
    to: u64,
    writable: bool,
    name: &'static str,
}

impl Sys<'_, '_> {
    /// Whether the program has such a file. Where facts are noted nothing below `/proc` can be checked.
    pub fn has_maps(&self) -> bool {
        self.linux.input.process.is_some() && !self.notes()
    }

    /// Opens the file, as it is now.
    pub fn open_maps(&mut self, flags: u32) -> Done {
        self.cx.state.approximates("the addresses in `/proc/self/maps` are those of this run");
        let text: Vec<Byte> = self.maps().into_bytes().into_iter().map(Byte::Concrete).collect();
        let descriptor = self.open_nameless(NodeKind::Regular, flags & O_CLOEXEC)?;
        let node = self.opened(descriptor as i32)?.0.node;
        self.change().node_mut(node).content.write(0, &text);
        Ok(descriptor)
    }

    fn maps(&self) -> String {
        let memory = &self.cx.state.memory;
        let source = self.cx.core.code_source.as_ref().map(|source| source.borrow());
        let stack = source.as_ref().and_then(|source| source.stack());
        let code = source.as_ref().map_or_else(Vec::new, |source| source.executable());
        let statics = memory.statics.iter().filter(|s| s.size > 0 && !s.name.starts_with(SHADOW)).map(|s| (s.base, s.size, s.writable));
        let mapped = memory.heap.live().filter(|object| object.kind == MAPPED).map(|object| (object.base, object.size, true));
        let mut all: Vec<(u64, u64, bool)> = statics.chain(mapped).collect();
        all.sort_unstable();
        let mut lines: Vec<Line> = Vec::new();
        for (base, size, writable) in all {
            let (from, to) = (base / PAGE * PAGE, (base + size).next_multiple_of(PAGE));
            let name = if stack.is_some_and(|stack| stack.contains(base)) { "[stack]" } else { "" };
            match lines.last_mut() {
                // Sections of one page.
                Some(last) if from < last.to => {
                    last.to = last.to.max(to);
                    last.writable |= writable;
                }
                Some(_) | None => lines.push(Line { from, to, writable, name }),
            }
        }
        lines.iter().fold(String::new(), |mut text, Line { from, to, writable, name }| {
            let is_code = code.iter().any(|(base, size)| *from < base + size && *base < *to);
            let may = [if *writable { 'w' } else { '-' }, if is_code { 'x' } else { '-' }];
            let _ = writeln!(text, "{from:08x}-{to:08x} r{}{}p 00000000 00:00 0 {name:>35}", may[0], may[1]);
            text
        })
    }
}
