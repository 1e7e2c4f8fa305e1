//! The address space: a persistent, copy-on-write page table with translation buffers in front of it.
//!
//! A fork bumps one reference count. The first write after it copies the directory, one chunk of 64 page pointers, and one page. The
//! translation buffers hold raw pointers to pages. Invariants: the read buffer refers to pages that this space keeps alive; the write
//! buffer refers to pages that this space alone owns. So a fork empties the write buffer. Replacing a page, or changing its permissions,
//! removes it from both buffers.

use std::cell::RefCell;
use std::rc::Rc;

use wryneck_expr::{ExprId, Pool};

use super::page::{Byte, PAGE, Page};
use super::touch::{Reuse, Touch, Touched};
use crate::ground::sharing::{Memo, Visited};

const CHUNK: u64 = 64;
const ENTRIES: usize = 128;

#[derive(Clone)]
struct Chunk {
    pages: [Option<Rc<Page>>; CHUNK as usize],
}

#[derive(Clone, Default)]
struct Dir {
    /// Sorted by chunk number.
    chunks: Vec<(u64, Rc<Chunk>)>,
}

#[derive(Clone, Copy)]
struct Entry<P> {
    number: u64,
    page: P,
}

struct Tlb {
    read: [Entry<*const Page>; ENTRIES],
    write: [Entry<*mut Page>; ENTRIES],
}

/// Counts the pages that a space has made or copied to be written.
#[derive(Clone, Copy, Default)]
pub struct Copies {
    made: u64,
    /// When [`Copies::have_grown`] last said so.
    told: u64,
}

impl Copies {
    /// Whether so many bytes of pages were made since this was last so.
    pub fn have_grown(&mut self, bytes: u64) -> bool {
        let have = (self.made - self.told) * size_of::<Page>() as u64 >= bytes;
        if have {
            self.told = self.made;
        }
        have
    }
}

const NO_PAGE: u64 = u64::MAX;
impl Tlb {
    fn empty() -> Box<Tlb> {
        Box::new(Tlb {
            read: [Entry { number: NO_PAGE, page: std::ptr::null() }; ENTRIES],
            write: [Entry { number: NO_PAGE, page: std::ptr::null_mut() }; ENTRIES],
        })
    }
    fn forget_writes(&mut self) {
        for e in &mut self.write {
            e.number = NO_PAGE;
        }
    }
}

#[inline(always)]
fn slot_of(number: u64) -> usize {
    (number ^ (number >> 14)) as usize & (ENTRIES - 1)
}

/// An address space. Not `Clone`: a fork needs the original to give up its exclusive pages, see [`Space::fork`].
pub struct Space {
    dir: Rc<Dir>,
    tlb: Option<Box<Tlb>>,
    /// What all but [`Space::load`] and [`Space::store`] touch, while a path is recorded.
    log: Option<RefCell<Vec<Touch>>>,
    pub copies: Copies,
}

impl Default for Space {
    fn default() -> Space {
        Space { dir: Rc::default(), tlb: Some(Tlb::empty()), log: None, copies: Copies::default() }
    }
}

impl Space {
    /// A second space with the same contents; both copy what they write from now on.
    pub fn fork(&mut self) -> Space {
        if let Some(tlb) = &mut self.tlb {
            tlb.forget_writes();
        }
        Space { dir: self.dir.clone(), tlb: None, log: None, copies: self.copies }
    }

    /// As [`Space::fork`], from a space that is not running (its buffers are empty).
    pub fn fork_idle(&self) -> Space {
        debug_assert!(self.tlb.is_none(), "a running space is forked by `fork`");
        Space { dir: self.dir.clone(), tlb: None, log: None, copies: self.copies }
    }

    /// Gets ready to run: gives the space its translation buffers.
    pub fn wake(&mut self) {
        self.tlb = Some(Tlb::empty());
    }

    /// Begins to log what is touched.
    pub fn log(&mut self) {
        self.log = Some(RefCell::default());
    }

    /// Takes what was logged.
    pub fn drain_log(&mut self) -> impl Iterator<Item = Touch> {
        self.log.as_mut().into_iter().flat_map(|log| log.get_mut().drain(..))
    }

    /// Logs that the heap object just allocated lies in the slot of a freed one.
    pub fn note_reuse(&self, reuse: Reuse) {
        self.log.iter().for_each(|log| log.borrow_mut().push(Touch::Reuse(reuse)));
    }

    fn touched(&self, address: u64, len: u64, how: Touched) {
        let Some(log) = &self.log else { return };
        let mut log = log.borrow_mut();
        match log.last_mut() {
            Some(Touch::Bytes { how: Touched::Read, len: before, address: first })
                if how == Touched::Read && *first + u64::from(*before) == address =>
            {
                *before += len as u32;
            }
            _ => log.push(Touch::Bytes { how, len: len as u32, address }),
        }
    }

    /// Drops the translation buffers (a snapshot does not need them).
    pub fn sleep(&mut self) {
        self.tlb = None;
    }

    /// The page with this number (address / [`PAGE`]).
    pub fn page(&self, number: u64) -> Option<&Page> {
        if let Some(tlb) = &self.tlb {
            let e = tlb.read[slot_of(number)];
            if e.number == number {
                // SAFETY: read entries point to pages this space holds, see the header.
                return Some(unsafe { &*e.page });
            }
        }
        let chunk = number / CHUNK;
        let i = self.dir.chunks.binary_search_by_key(&chunk, |c| c.0).ok()?;
        self.dir.chunks[i].1.pages[(number % CHUNK) as usize].as_deref()
    }

    /// The page with this number for writing, copied if it is shared; made if `create`.
    pub fn page_mut(&mut self, number: u64, create: bool) -> Option<&mut Page> {
        if let Some(tlb) = &self.tlb {
            let e = tlb.write[slot_of(number)];
            if e.number == number {
                // SAFETY: write entries point to pages only this space owns, see the header; the borrow is of the whole space.
                return Some(unsafe { &mut *e.page });
            }
        }
        let slot = slot_mut(&mut self.dir, number, create)?;
        if slot.is_none() && create {
            *slot = Some(Rc::new(Page::default()));
            self.copies.made += 1;
        }
        self.copies.made += u64::from(slot.as_ref().is_some_and(|page| Rc::strong_count(page) > 1));
        let page = slot.as_mut().map(Rc::make_mut)?;
        if let Some(tlb) = &mut self.tlb {
            let pointer = std::ptr::from_mut(page);
            tlb.read[slot_of(number)] = Entry { number, page: pointer };
            let owner = if page.is_writable() { number } else { NO_PAGE };
            tlb.write[slot_of(number)] = Entry { number: owner, page: pointer };
        }
        Some(page)
    }

    /// Drops what the buffers know of a page that is about to be replaced or to change its permissions.
    fn forget(&mut self, number: u64) {
        if let Some(tlb) = &mut self.tlb {
            tlb.read[slot_of(number)].number = NO_PAGE;
            tlb.write[slot_of(number)].number = NO_PAGE;
        }
    }

    /// Puts a whole (shared) page in place, or none.
    pub fn set_page(&mut self, number: u64, page: Option<Rc<Page>>) {
        if let Some(slot) = slot_mut(&mut self.dir, number, page.is_some()) {
            *slot = page;
        }
        self.forget(number);
    }

    /// The `n` (1, 2, 4, 8) bytes at `addr`, if they lie in one page and are all live and concrete.
    #[inline(always)]
    pub fn load(&mut self, addr: u64, n: usize) -> Option<u64> {
        let (number, offset) = (addr / PAGE, (addr % PAGE) as usize);
        if offset + n > PAGE as usize {
            return None;
        }
        let tlb = self.tlb.as_ref()?;
        let e = tlb.read[slot_of(number)];
        if e.number == number {
            // SAFETY: entries point to pages this space holds; replacing a page (page_mut, set_page) forgets its entry.
            return unsafe { &*e.page }.load(offset, n);
        }
        self.load_miss(number, offset, n)
    }

    #[inline(never)]
    fn load_miss(&mut self, number: u64, offset: usize, n: usize) -> Option<u64> {
        let page = self.page(number)?;
        let (pointer, value) = (std::ptr::from_ref(page), page.load(offset, n));
        if let Some(tlb) = &mut self.tlb {
            tlb.read[slot_of(number)] = Entry { number, page: pointer };
        }
        value
    }

    /// Writes the `n` (1, 2, 4, 8) low bytes of `value` at `addr`, if they lie in one page, are live, and may be written.
    #[inline(always)]
    pub fn store(&mut self, addr: u64, n: usize, value: u64) -> bool {
        let (number, offset) = (addr / PAGE, (addr % PAGE) as usize);
        if offset + n > PAGE as usize {
            return false;
        }
        let Some(tlb) = self.tlb.as_ref() else { return false };
        let e = tlb.write[slot_of(number)];
        if e.number == number {
            // SAFETY: write entries point to pages only this space owns; `fork` empties them, `page_mut` and `set_page` forget them.
            return unsafe { &mut *e.page }.store(offset, n, value);
        }
        self.store_miss(number, offset, n, value)
    }

    #[inline(never)]
    fn store_miss(&mut self, number: u64, offset: usize, n: usize, value: u64) -> bool {
        if !self.page(number).is_some_and(Page::is_writable) {
            return false;
        }
        self.page_mut(number, false).is_some_and(|p| p.store(offset, n, value))
    }

    pub fn byte(&self, addr: u64) -> Byte {
        self.touched(addr, 1, Touched::Read);
        self.page(addr / PAGE).map_or(Byte::Dead, |p| p.byte((addr % PAGE) as usize))
    }

    /// Whether a store to this byte is allowed by its page.
    pub fn is_writable(&self, addr: u64) -> bool {
        self.page(addr / PAGE).is_some_and(Page::is_writable)
    }

    /// The expression stored at exactly these bytes, if it is still whole.
    pub fn whole_cell(&self, addr: u64, len: u64) -> Option<ExprId> {
        let offset = addr % PAGE;
        if offset + len > PAGE {
            return None;
        }
        self.touched(addr, len, Touched::Read);
        self.page(addr / PAGE)?.whole_cell(offset as usize, len as usize)
    }

    /// Stores a symbolic value of `len` bytes; `false` if a byte is not live (bytes before it may have been written).
    pub fn store_expr(&mut self, addr: u64, len: u64, expr: ExprId, pool: &mut Pool) -> bool {
        self.touched(addr, len, Touched::Write);
        let offset = addr % PAGE;
        if offset + len <= PAGE {
            return self.page_mut(addr / PAGE, false).is_some_and(|p| p.store_cell(offset as usize, len as usize, expr, pool));
        }
        (0..len).all(|i| {
            let byte = pool.extract(expr, i as u32 * 8, 8);
            let at = addr + i;
            match pool.as_u64(byte) {
                Some(b) => self.write(at, &[b as u8]),
                None => self.page_mut(at / PAGE, false).is_some_and(|p| p.store_cell((at % PAGE) as usize, 1, byte, pool)),
            }
        })
    }

    /// Reads bytes that are all concrete; `false` at the first that is not.
    pub fn read(&self, addr: u64, out: &mut [u8]) -> bool {
        self.touched(addr, out.len() as u64, Touched::Read);
        parts(addr, out.len() as u64).all(|(number, offset, start, n)| {
            let Some(bytes) = self.page(number).and_then(|p| p.concrete_slice(offset, n)) else { return false };
            out[start..start + n].copy_from_slice(bytes);
            true
        })
    }

    /// Writes bytes, all of which must be live; page permissions are the caller's business. `false` at the first that is not.
    pub fn write(&mut self, addr: u64, bytes: &[u8]) -> bool {
        self.touched(addr, bytes.len() as u64, Touched::Write);
        parts(addr, bytes.len() as u64)
            .all(|(number, offset, start, n)| self.page_mut(number, false).is_some_and(|p| p.write_slice(offset, &bytes[start..start + n])))
    }

    /// Makes a range live: zero, or uninitialised. Whole pages are shared until they are written, and so are whole chunks of them.
    pub fn make_live(&mut self, addr: u64, len: u64, zero: bool, pool: &mut Pool) {
        self.touched(addr, len, Touched::Allocate);
        let offset = addr % PAGE;
        if (1..PAGE).contains(&len) && offset + len < PAGE {
            // Most frames and small objects.
            if let Some(page) = self.page_mut(addr / PAGE, true) {
                page.make_live(offset as usize, len as usize, zero, pool);
            }
            return;
        }
        let end = addr.saturating_add(len);
        let (first, behind) = (addr.div_ceil(CHUNK * PAGE), end / (CHUNK * PAGE));
        if first >= behind {
            return make_pages_live(self, addr, len, zero, pool);
        }
        let (low, high) = (first * CHUNK * PAGE, behind * CHUNK * PAGE);
        make_pages_live(self, addr, low - addr, zero, pool);
        let page = fresh(zero, pool);
        let chunk = Rc::new(Chunk { pages: std::array::from_fn(|_| Some(page.clone())) });
        let chunks = &mut Rc::make_mut(&mut self.dir).chunks;
        let (from, to) = (chunks.partition_point(|c| c.0 < first), chunks.partition_point(|c| c.0 < behind));
        chunks.splice(from..to, (first..behind).map(|number| (number, chunk.clone())));
        if let Some(tlb) = &mut self.tlb {
            **tlb = *Tlb::empty();
        }
        make_pages_live(self, high, end - high, zero, pool);
    }

    /// Writes zeros, as [`Space::write`] does. Whole pages are shared until they are written.
    pub fn clear(&mut self, addr: u64, len: u64, pool: &mut Pool) -> bool {
        self.touched(addr, len, Touched::Clear);
        let mut shared: Option<Rc<Page>> = None;
        parts(addr, len).all(|(number, offset, _, n)| {
            if n as u64 == PAGE && self.page(number).is_some_and(|page| page.all_live(0, n) && page.is_writable()) {
                let page = shared.get_or_insert_with(|| fresh(true, pool)).clone();
                self.set_page(number, Some(page));
                return true;
            }
            self.page_mut(number, false).is_some_and(|page| page.write_slice(offset, &[0; PAGE as usize][..n]))
        })
    }

    /// Makes a range belong to no object.
    pub fn make_dead(&mut self, addr: u64, len: u64, pool: &mut Pool) {
        for (number, offset, _, n) in parts(addr, len) {
            if n as u64 == PAGE {
                self.set_page(number, None);
            } else if let Some(p) = self.page_mut(number, false) {
                p.make_dead(offset, n, pool);
            }
        }
    }

    /// Sets whether the pages a range touches may be written. Pages that are so already stay shared.
    pub fn set_writable(&mut self, addr: u64, len: u64, writable: bool) {
        if len == 0 {
            return;
        }
        let (first, last) = (addr / PAGE, (addr + (len - 1)) / PAGE);
        let chunks = &self.dir.chunks;
        let (from, to) = (chunks.partition_point(|c| c.0 < first / CHUNK), chunks.partition_point(|c| c.0 <= last / CHUNK));
        let pages = chunks[from..to].iter().flat_map(|(chunk, of)| (chunk * CHUNK..).zip(&of.pages));
        let wrong = |page: &Option<Rc<Page>>| page.as_ref().is_some_and(|page| page.is_writable() != writable);
        let wrong: Vec<u64> =
            pages.filter(|(number, page)| (first..=last).contains(number) && wrong(page)).map(|(number, _)| number).collect();
        for number in wrong {
            if let Some(p) = self.page_mut(number, false) {
                p.set_writable(writable);
            }
            self.forget(number);
        }
    }

    /// Bytes of the engine's memory that the pages take. A page that lies several times in a row, as in new memory, counts once. Looks at all pages.
    pub fn held(&self) -> u64 {
        let (mut last_chunk, mut last_page, mut bytes) = (std::ptr::null(), std::ptr::null(), 0);
        for (_, chunk) in &self.dir.chunks {
            if std::mem::replace(&mut last_chunk, Rc::as_ptr(chunk)) == Rc::as_ptr(chunk) {
                continue;
            }
            for page in chunk.pages.iter().flatten() {
                if std::mem::replace(&mut last_page, Rc::as_ptr(page)) != Rc::as_ptr(page) {
                    bytes += size_of::<Page>() + size_of_val(page.cells());
                }
            }
        }
        bytes as u64
    }

    /// All pages in address order.
    pub fn pages(&self) -> impl Iterator<Item = (u64, &Rc<Page>)> {
        self.dir.chunks.iter().flat_map(|(number, chunk)| {
            let pages = chunk.pages.iter().enumerate();
            pages.filter_map(move |(i, p)| p.as_ref().map(|p| (number * CHUNK + i as u64, p)))
        })
    }

    /// Calls `f` with every page not met before.
    pub fn for_each_new_page(&self, visited: &mut Visited, f: &mut dyn FnMut(&Page)) {
        if !visited.is_new(&self.dir) {
            return;
        }
        for (_, chunk) in &self.dir.chunks {
            if visited.is_new(chunk) {
                chunk.pages.iter().flatten().filter(|page| visited.is_new(page)).for_each(|page| f(page));
            }
        }
    }

    /// Has `renumber` change every page that holds symbolic cells (at a compaction). What spaces share, `memo` keeps shared.
    pub fn replace_symbolic_pages(&mut self, memo: &mut SpaceMemo, renumber: &mut dyn FnMut(&mut Page)) {
        if let Some(tlb) = &mut self.tlb {
            **tlb = *Tlb::empty();
        }
        let SpaceMemo { dirs, chunks, pages } = memo;
        let symbolic = |chunk: &Chunk| chunk.pages.iter().flatten().any(|page| !page.cells().is_empty());
        let any = |dir: &Dir| dir.chunks.iter().any(|(_, chunk)| symbolic(chunk));
        dirs.change(&mut self.dir, any, |dir| {
            for (_, chunk) in &mut dir.chunks {
                chunks.change(chunk, symbolic, |chunk| {
                    for page in chunk.pages.iter_mut().flatten().filter(|page| !page.cells().is_empty()) {
                        pages.change(page, |_| true, &mut *renumber);
                    }
                });
            }
        });
    }
}

/// Where the page with this number is kept, in a chunk that only this directory owns.
fn slot_mut(dir: &mut Rc<Dir>, number: u64, create: bool) -> Option<&mut Option<Rc<Page>>> {
    let chunk = number / CHUNK;
    let dir = Rc::make_mut(dir);
    let i = match dir.chunks.binary_search_by_key(&chunk, |c| c.0) {
        Ok(i) => i,
        Err(_) if !create => return None,
        Err(i) => {
            let pages = [const { None }; CHUNK as usize];
            dir.chunks.insert(i, (chunk, Rc::new(Chunk { pages })));
            i
        }
    };
    Some(&mut Rc::make_mut(&mut dir.chunks[i].1).pages[(number % CHUNK) as usize])
}

/// The part of `[addr, addr + len)` in each page: page number, offset in it, start in the range, length.
fn parts(addr: u64, len: u64) -> impl Iterator<Item = (u64, usize, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done >= len {
            return None;
        }
        let at = addr.wrapping_add(done);
        let n = (PAGE - at % PAGE).min(len - done);
        let part = (at / PAGE, (at % PAGE) as usize, done as usize, n as usize);
        done += n;
        Some(part)
    })
}

/// Makes a range live, page by page.
fn make_pages_live(space: &mut Space, addr: u64, len: u64, zero: bool, pool: &mut Pool) {
    let mut shared: Option<Rc<Page>> = None;
    for (number, offset, _, n) in parts(addr, len) {
        if n as u64 == PAGE {
            let page = shared.get_or_insert_with(|| fresh(zero, pool)).clone();
            space.set_page(number, Some(page));
        } else if let Some(p) = space.page_mut(number, true) {
            p.make_live(offset, n, zero, pool);
        }
    }
}

/// A whole page of live bytes: zero, or uninitialised.
fn fresh(zero: bool, pool: &mut Pool) -> Rc<Page> {
    let mut page = Page::default();
    page.make_live(0, PAGE as usize, zero, pool);
    Rc::new(page)
}

/// What a compaction has rebuilt of address spaces.
#[derive(Default)]
pub struct SpaceMemo {
    dirs: Memo<Dir>,
    chunks: Memo<Chunk>,
    pages: Memo<Page>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_do_not_see_each_other() {
        let mut pool = Pool::new();
        let mut a = Space::default();
        a.make_live(PAGE - 4, 2 * PAGE, true, &mut pool);
        assert!(a.store(PAGE, 4, 1));
        assert_eq!(a.load(PAGE, 4), Some(1));
        let mut b = a.fork();
        b.wake();
        assert!(a.store(PAGE, 4, 2));
        assert!(b.store(PAGE + 4, 4, 3));
        assert_eq!((a.load(PAGE, 8), b.load(PAGE, 8)), (Some(2), Some(3 << 32 | 1)));
        let mut c = b.fork();
        c.wake();
        assert_eq!(c.load(PAGE, 8), Some(3 << 32 | 1));
        b.make_dead(PAGE, 8, &mut pool);
        assert_eq!((b.load(PAGE, 1), c.load(PAGE, 1)), (None, Some(1)));
        assert!(!b.store(PAGE, 1, 0));
        assert_eq!(a.load(0, 1), None);
    }

    /// Ranges of several chunks, over what was there: as page by page.
    #[test]
    fn whole_chunks_are_live_as_their_pages_are() {
        let mut pool = Pool::new();
        let chunk = CHUNK * PAGE;
        for (addr, len) in [(10, 5 * chunk), (chunk, 2 * chunk), (chunk - PAGE, chunk + 2 * PAGE), (3 * chunk + 5, chunk - 5)] {
            let (mut whole, mut single) = (Space::default(), Space::default());
            for space in [&mut whole, &mut single] {
                space.make_live(2 * chunk + 100, 3000, true, &mut pool);
                assert!(space.write(2 * chunk + 200, &[7; 2000]));
            }
            let mut before = whole.fork();
            before.wake();
            whole.make_live(addr, len, true, &mut pool);
            make_pages_live(&mut single, addr, len, true, &mut pool);
            for space in [&mut whole, &mut single] {
                assert!(space.write(addr + len / 2, &[1, 2, 3]));
                space.set_writable(addr + len / 2, 1, false);
            }
            assert!(!whole.store(addr + len / 2, 1, 0) && whole.is_writable(addr) && whole.is_writable(addr + len - 1));
            let all = |space: &Space| -> Vec<_> {
                space.pages().map(|(n, p)| (n, p.is_writable(), p.concrete_slice(0, 1).map(<[u8]>::to_vec))).collect()
            };
            assert!(all(&whole) == all(&single));
            assert!((0..6 * chunk).step_by(500).all(|at| whole.byte(at) == single.byte(at)));
            assert!((addr..addr + 3).chain(addr + len / 2 - 2..addr + len / 2 + 5).all(|at| whole.byte(at) == single.byte(at)));
            assert_eq!((before.load(2 * chunk + 200, 2), before.load(addr, 1)), (Some(0x0707), None));
        }
    }

    #[test]
    fn ranges_cross_pages() {
        let mut pool = Pool::new();
        let mut m = Space::default();
        m.make_live(10, 3000, false, &mut pool);
        assert!(!m.read(10, &mut [0; 4]));
        let bytes: Vec<u8> = (0..3000u32).map(|i| i as u8).collect();
        assert!(m.write(10, &bytes));
        let mut out = vec![0; 3000];
        assert!(m.read(10, &mut out));
        assert_eq!(out, bytes);
        assert!(!m.write(3009, &[1, 2]));
        let s = pool.symbol("s", 0, 32);
        let s = pool.sym(s);
        assert!(m.store_expr(PAGE - 2, 4, s, &mut pool));
        assert!(matches!(m.byte(PAGE - 1), Byte::Symbolic { .. }));
        assert!(matches!(m.byte(PAGE + 1), Byte::Symbolic { .. }));
        assert_eq!(m.byte(PAGE + 2), Byte::Concrete(bytes[PAGE as usize - 8]));
        m.set_writable(10, 1, false);
        assert!(!m.store(20, 1, 0));
    }
}
