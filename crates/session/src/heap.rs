//! The process's own heap: it grows in large steps and rarely shrinks.
//!
//! By default every 128 KiB cost a system call and every 4 KiB a page fault of about 2 µs, a third of the time of a small program's run.
//! So the heap is extended in large steps, and its beginning uses huge pages where the kernel has them. This affects time only.

/// Bytes that the heap grows by at a time, and of its beginning that may have huge pages.
const STEP: usize = 16 << 20;
/// Larger blocks (bytes) are mapped one by one, so that they can grow without being copied.
const LARGE: i32 = 4 << 20;
/// Bytes free at the end of the heap from which on they are given back.
const FREE: i32 = 128 << 20;
/// A huge page's bytes.
const HUGE: usize = 2 << 20;

/// Before much is allocated.
#[cfg(target_env = "gnu")]
pub fn prepare() {
    // SAFETY: these set numbers of the allocator's and ask the kernel for another size of pages under memory that stays as it is; nobody looks into
    // the blocks.
    unsafe {
        libc::mallopt(libc::M_TOP_PAD, STEP as i32);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, FREE);
        let heap = libc::sbrk(0) as usize;
        let begin = heap.next_multiple_of(HUGE);
        // What is before the first huge page stays unused, and so no memory.
        std::hint::black_box(libc::malloc(begin - heap));
        libc::free(std::hint::black_box(libc::malloc(HUGE)));
        let end = libc::sbrk(0) as usize;
        if begin < end {
            // Refused where the kernel has none: pages are small then.
            let _ = libc::madvise(begin as *mut libc::c_void, end - begin, libc::MADV_HUGEPAGE);
        }
    }
}

/// Other allocators have ways of their own.
#[cfg(not(target_env = "gnu"))]
pub fn prepare() {}
