//! What the world says of files and of itself, as the path sees it where facts are noted: attributes are symbolic input named by their question.

use std::ops::Range;

use wryneck_exec::{Value, inputs, memory, seed};

use super::path::{AT_FDCWD, Place};
use super::{Done, Sys};
use crate::content::{Byte, Content};
use crate::errno::Halt;
use crate::input::mode;
use crate::observed::{self, BYTES, SIZE};
use crate::state::{NodeId, NodeKind, STDERR};

/// Bytes of `struct stat` that are symbolic where attributes are: all but mode and owners, which the models use, and what is always zero.
const STAT: Layout = Layout {
    owners: 24..36,
    size: 48..56,
    symbolic: [0..24, 40..120],
    whole: [0..24, 24..144],
    read: 72..88,
    written: [48..56, 64..72, 88..120],
};
/// The same of `struct statx`.
const STATX: Layout = Layout {
    owners: 20..30,
    size: 40..48,
    symbolic: [0..20, 32..256],
    whole: [0..20, 20..256],
    read: 64..80,
    written: [40..48, 48..56, 96..128],
};

/// Where a structure of attributes has what.
struct Layout {
    owners: Range<usize>,
    size: Range<usize>,
    symbolic: [Range<usize>; 2],
    whole: [Range<usize>; 2],
    /// When the file was read last.
    read: Range<usize>,
    /// What changes as a file is written: its size, blocks, times of change.
    written: [Range<usize>; 3],
}

/// The name of an input that is the answer to a question about a file.
fn input_of(kind: &str, path: &str) -> String {
    format!("{kind} {path}\0")
}

/// How far a path knows a file whose attributes it asks for.
#[derive(Clone, Copy, Default)]
pub struct Touched {
    /// It opened the file, and may have read it: when that was last is the kernel's to say.
    pub opened: bool,
    /// It knows the content.
    pub content: bool,
    /// The length of the content is input.
    pub any_length: bool,
}

impl Sys<'_, '_> {
    /// The host's answer to a question, where facts are noted.
    pub fn observed(&self, question: &[u8]) -> Option<Vec<u8>> {
        self.linux.captured.log.as_ref()?;
        self.linux.captured.seen(question).map(|answer| answer.to_vec())
    }

    /// Where `.` and `..` stand in the list of a directory, and their inodes: as the host lists them, if facts are noted.
    pub fn dots(&self, id: NodeId) -> Option<[(usize, u64); 2]> {
        self.linux.captured.log.as_ref()?;
        let answer = self.linux.captured.seen(&observed::question("dots", self.world().node(id).host.as_ref()?))?;
        let mut numbers = std::str::from_utf8(&answer).ok()?.split(' ').map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        Some([(next()? as usize, next()?), (next()? as usize, next()?)])
    }

    /// The length of the content of a file of the host, if it is input: any number up to the one that is asked for will do. Decides on input that
    /// [`Self::content_of_host`] makes. Changes nothing.
    pub fn length_of_host(&mut self, place: &Place) -> Result<Option<u64>, Halt> {
        let files = &self.linux.input.named_files;
        let Place::Host(path, stat) = place else { return Ok(None) };
        let (Ok(name), mode::REGULAR) = (std::str::from_utf8(path), stat.mode & mode::KIND) else { return Ok(None) };
        let Some(real) = self.linux.captured.any_length(path, files) else { return Ok(None) };
        let bytes = seed::coming_input(self.cx, &input_of(SIZE, name), &real.to_le_bytes());
        let size = memory::joined(self.cx, &bytes);
        let most = self.cx.core.pool.bits(64, files.up_to);
        let allowed = self.cx.core.pool.ule(size, most);
        self.cx.assume(allowed)?;
        Ok(Some(self.cx.concretise(Value::Sym(size), "the length of a file")?))
    }

    /// The content of a file of the host: symbolic input named by its question, if the file is one of those; else a fact. `len`: its length, where that
    /// was decided.
    pub fn content_of_host(&mut self, path: &[u8], len: Option<u64>) -> Result<Content, Halt> {
        let captured = &self.linux.captured;
        let name = std::str::from_utf8(path).ok();
        let Some((name, real)) =
            name.and_then(|name| Some((name, captured.short_file(path, &self.linux.input.named_files, len.is_some())?)))
        else {
            return Ok(Content::captured(captured.file(path)?));
        };
        let mut seed = real.to_vec();
        if let Some(len) = len {
            // Decided before, when it got the seed's bytes.
            inputs::new_input(self.cx, &input_of(SIZE, name), 8);
            seed.resize(len as usize, 0);
        }
        let bytes = seed::seeded_input(self.cx, &input_of(BYTES, name), &seed);
        let mut content = Content::default();
        content.write(0, &bytes.into_iter().map(Byte::Symbolic).collect::<Vec<_>>());
        Ok(content)
    }

    /// The question about the attributes of a node, if they are to be noted: a stream's, or those of a file of the host.
    pub fn question_of_node(&self, id: NodeId) -> Option<Vec<u8>> {
        self.linux.captured.log.as_ref()?;
        if id <= STDERR {
            return Some(observed::numbered("fstat", id));
        }
        match &self.world().node(id).host {
            Some(path) => Some(observed::question("lstat", path)),
            None => {
                self.linux.captured.note_unknown("the attributes of a file that the program makes");
                None
            }
        }
    }

    /// Notes whether a file may be accessed so, as the model decided; the kernel knows more than owners and modes.
    pub fn note_access(&self, question: Option<&[u8]>, want: u32, permits: bool) {
        match question.and_then(|question| question.strip_prefix(b"lstat ")) {
            Some(path) => {
                let question = observed::question(&format!("access {want}"), path);
                let given: &[u8] = if permits { b"yes" } else { b"no" };
                self.linux.captured.note_same(question, given, "whether this user may access a file");
            }
            None => self.linux.captured.note_unknown("whether this user may access a stream"),
        }
    }

    /// Makes the attributes at a checked address, `told` so far, symbolic.
    pub fn put_seen(&mut self, addr: u64, told: &[u8], question: &[u8], touched: Touched) -> Result<(), Halt> {
        let is_stream = question.starts_with(b"fstat ");
        let writes = self.has_written();
        if writes && !is_stream {
            let path = question.splitn(if question.starts_with(b"statx ") { 4 } else { 2 }, |b| *b == b' ').last();
            self.linux.captured.note_apart(path.unwrap_or_default());
        }
        let captured = &self.linux.captured;
        let layout = if question.starts_with(b"statx ") { STATX } else { STAT };
        let real = captured.seen(question).filter(|real| real.len() == told.len());
        let fits = |range: &Range<usize>| real.as_ref().is_some_and(|real| real[range.clone()] == told[range.clone()]);
        let known_size = touched.content && !touched.any_length;
        if !is_stream && (!fits(&layout.owners) || known_size && !fits(&layout.size)) || real.is_none() {
            captured.note_unknown("the attributes of a file that the program changed, or that changes");
            return Ok(());
        }
        let [first, second] = layout.symbolic;
        let without_size = [first.clone(), second.start..layout.size.start, layout.size.end..second.end];
        let ranges: &[Range<usize>] = match (is_stream, touched.content) {
            (true, _) => &layout.whole,
            (false, true) => &without_size,
            (false, false) => &[first, second],
        };
        let real = real.unwrap_or_default();
        self.put_attributes(addr, question, &real, ranges)?;
        if is_stream || touched.opened {
            self.put_volatile(addr, "when a file was read last", &real, &[layout.read])?;
        }
        if is_stream && writes {
            self.put_volatile(addr, "the size of a stream that the program writes to, and when it was written", &real, &layout.written)?;
        }
        Ok(())
    }

    /// Whether the path has written to a stream.
    fn has_written(&self) -> bool {
        let node = |stream| self.world().node(stream);
        (0..=STDERR).any(|stream| node(stream).kind == NodeKind::Output && !node(stream).content.is_empty())
    }

    /// Parts of a structure at an address that have another value at each run.
    fn put_volatile(&mut self, addr: u64, what: &str, real: &[u8], ranges: &[Range<usize>]) -> Result<(), Halt> {
        for range in ranges {
            let bytes = self.volatile_bytes(what, &real[range.clone()]);
            memory::write_bytes(self.cx, addr + range.start as u64, &bytes)?;
        }
        Ok(())
    }

    /// Attributes at an address, named by their question. `real` is what they are now.
    fn put_attributes(&mut self, addr: u64, question: &[u8], real: &[u8], ranges: &[Range<usize>]) -> Result<(), Halt> {
        if !self.linux.input.attributes {
            return Ok(());
        }
        let Ok(name) = std::str::from_utf8(question) else {
            self.linux.captured.note_unknown("attributes of a file whose name is not UTF-8");
            return Ok(());
        };
        // The zero tells the number of a repeated question from its path.
        let bytes = seed::seeded_input(self.cx, &format!("{name}\0"), real);
        for range in ranges {
            memory::write_bytes(self.cx, addr + range.start as u64, &bytes[range.clone()])?;
        }
        Ok(())
    }

    /// A structure at a checked address as the host says it: parts that stay are attributes, parts that change are nobody's to know.
    pub fn put_told(&mut self, addr: u64, zeros: &[u8], question: &[u8], stays: &[Range<usize>], changes: &[Range<usize>]) -> Done {
        self.put(addr, zeros)?;
        let Some(real) = self.linux.captured.seen(question).filter(|real| real.len() == zeros.len()) else {
            self.linux.captured.note_unknown("what is free on the file system of a stream, or of a file that the program makes");
            return Ok(0);
        };
        self.put_attributes(addr, question, &real, stays)?;
        self.put_volatile(addr, "what is free, or how busy the system is", &real, changes)?;
        Ok(0)
    }

    /// Whether a relative path begins here: then the answer depends on the working directory.
    pub fn note_start(&self, name: &[u8], at: i32) {
        if name.first() == Some(&b'/') {
            return;
        }
        if at == AT_FDCWD {
            observed::cwd(self);
        } else if self.world().open_of(at).is_none_or(|open| open.node <= STDERR) {
            self.linux.captured.note_unknown("what kind of file a stream is");
        }
    }
}
