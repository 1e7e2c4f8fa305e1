//! The heap: one address region per size class, so that the object of an address is computed by arithmetic (docs/design/005).
//!
//! An object lies in a slot of its size class with at least [`SLACK`] dead bytes on both sides. Freed slots wait in a first-in first-out
//! quarantine before they are used again. Addresses depend only on the sequence of calls on the path.

use std::rc::Rc;

use wryneck_solver::PVec;

use crate::ground::image::CodePos;
use crate::ground::stacks::StackId;

/// First address of the heap's regions.
pub const HEAP_BASE: u64 = 1 << 40;
const REGION_BITS: u32 = 36;
/// Dead bytes before and after every object, at least.
pub const SLACK: u64 = 16;
/// Strides: 48, 64, 96, 128, … two to an octave.
const CLASSES: usize = 54;
/// Bytes of freed slots a class keeps unused.
const QUARANTINE: u64 = 1 << 20;
/// Largest object; a larger request fails as malloc does.
pub const MAX_SIZE: u64 = 1 << 31;
const NO_SLOT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Life {
    Live,
    /// Freed at this place.
    Freed(CodePos),
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    size: u64,
    /// Bytes from the slot's start to the object.
    lead: u32,
    next_free: u32,
    origin: StackId,
    life: Life,
    kind: u32,
}

impl Slot {
    /// The object of a slot that begins at `start`.
    fn object(&self, start: u64) -> HeapObject {
        HeapObject { base: start + u64::from(self.lead), size: self.size, life: self.life, origin: self.origin, kind: self.kind }
    }
}

#[derive(Clone)]
struct Class {
    slots: PVec<Slot>,
    oldest_free: u32,
    newest_free: u32,
    free_bytes: u64,
}

/// An object of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapObject {
    pub base: u64,
    pub size: u64,
    pub life: Life,
    /// Who allocated it.
    pub origin: StackId,
    /// Which allocator made it: the environment's number, so that it can tell malloc from others.
    pub kind: u32,
}

#[derive(Clone)]
pub struct Heap {
    classes: Rc<Vec<Class>>,
}

impl Default for Heap {
    fn default() -> Heap {
        let empty = Class { slots: PVec::default(), oldest_free: NO_SLOT, newest_free: NO_SLOT, free_bytes: 0 };
        Heap { classes: Rc::new(vec![empty; CLASSES]) }
    }
}

fn stride(class: usize) -> u64 {
    if class.is_multiple_of(2) { 48 << (class / 2) } else { 64 << (class / 2) }
}

fn class_of(bytes: u64) -> usize {
    (0..CLASSES).find(|&c| stride(c) >= bytes).unwrap_or(CLASSES - 1)
}

fn region(class: usize) -> u64 {
    HEAP_BASE + ((class as u64) << REGION_BITS)
}

/// Whether the address lies in the heap's part of the address space.
pub fn contains(addr: u64) -> bool {
    (HEAP_BASE..region(CLASSES)).contains(&addr)
}

/// Whether the address lies between the heap's part and the top of the stack.
pub fn is_stack(addr: u64) -> bool {
    (region(CLASSES)..super::STACK_TOP).contains(&addr)
}

impl Heap {
    /// Books `size` bytes aligned to `align` (a power of two); returns the address and the freed object whose slot is used again, or `None` if
    /// the request is too large. The caller makes the bytes live.
    pub fn allocate(&mut self, size: u64, align: u64, origin: StackId, kind: u32) -> Option<(u64, Option<HeapObject>)> {
        if size > MAX_SIZE || align > MAX_SIZE {
            return None;
        }
        let extra = if align > SLACK { align } else { 0 };
        let number = class_of(size + 2 * SLACK + extra);
        let class = &mut Rc::make_mut(&mut self.classes)[number];
        let reuse = class.oldest_free != NO_SLOT && class.free_bytes > QUARANTINE.max(2 * stride(number));
        let index = if reuse {
            let index = class.oldest_free;
            class.oldest_free = class.slots.get(index as usize)?.next_free;
            if class.oldest_free == NO_SLOT {
                class.newest_free = NO_SLOT;
            }
            class.free_bytes -= stride(number);
            index
        } else {
            u32::try_from(class.slots.len()).ok().filter(|&i| (u64::from(i) + 1) * stride(number) < 1 << REGION_BITS)?
        };
        let start = region(number) + u64::from(index) * stride(number);
        let base = (start + SLACK).next_multiple_of(align.max(SLACK));
        let slot = Slot { size, lead: (base - start) as u32, next_free: NO_SLOT, origin, life: Life::Live, kind };
        let replaced = class.slots.get(index as usize).map(|old| old.object(start));
        match class.slots.get_mut(index as usize) {
            Some(old) => *old = slot,
            None => class.slots.push(slot),
        }
        Some((base, replaced))
    }

    fn locate(addr: u64) -> Option<(usize, usize)> {
        if !contains(addr) {
            return None;
        }
        let class = ((addr - HEAP_BASE) >> REGION_BITS) as usize;
        Some((class, ((addr - region(class)) / stride(class)) as usize))
    }

    /// The object whose slot the address lies in, live or freed, whether or not the address is inside its bounds.
    pub fn find(&self, addr: u64) -> Option<HeapObject> {
        let (class, index) = Heap::locate(addr)?;
        let slot = self.classes[class].slots.get(index)?;
        Some(slot.object(region(class) + index as u64 * stride(class)))
    }

    /// The addresses of the slot that a heap address lies in, whatever objects it holds one after the other.
    pub fn slot(addr: u64) -> Option<std::ops::Range<u64>> {
        let (class, index) = Heap::locate(addr)?;
        let start = region(class) + index as u64 * stride(class);
        Some(start..start + stride(class))
    }

    /// The first address after a heap address that the next slot, or region, begins at.
    pub fn next_slot(&self, addr: u64) -> u64 {
        let Some((class, index)) = Heap::locate(addr) else { return region(CLASSES) };
        let used = self.classes[class].slots.len();
        if index < used { region(class) + (index as u64 + 1) * stride(class) } else { region(class + 1) }
    }

    /// Gives a live object another kind.
    pub fn set_kind(&mut self, object: &HeapObject, kind: u32) {
        let Some((number, index)) = Heap::locate(object.base) else { return };
        if let Some(slot) = Rc::make_mut(&mut self.classes)[number].slots.get_mut(index) {
            slot.kind = kind;
        }
    }

    /// Marks the live object at exactly `base` as freed; the caller checked that it is one, and makes its bytes dead.
    pub fn free(&mut self, base: u64, site: CodePos) {
        let Some((number, index)) = Heap::locate(base) else { return };
        let class = &mut Rc::make_mut(&mut self.classes)[number];
        if let Some(slot) = class.slots.get_mut(index) {
            slot.life = Life::Freed(site);
            slot.next_free = NO_SLOT;
        }
        match class.slots.get_mut(class.newest_free as usize) {
            Some(newest) if class.newest_free != NO_SLOT => newest.next_free = index as u32,
            _ => class.oldest_free = index as u32,
        }
        class.newest_free = index as u32;
        class.free_bytes += stride(number);
    }

    /// Every object that is live, in address order.
    pub fn live(&self) -> impl Iterator<Item = HeapObject> {
        self.classes.iter().enumerate().flat_map(|(number, class)| {
            let live = class.slots.iter().enumerate().filter(|(_, s)| s.life == Life::Live);
            live.map(move |(i, s)| s.object(region(number) + i as u64 * stride(number)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: CodePos = CodePos { func: 0, op: 0 };

    fn someone() -> StackId {
        crate::ground::stacks::Stacks::default().intern(&[HERE])
    }

    #[test]
    fn address_to_object_is_arithmetic() {
        let mut heap = Heap::default();
        let mut all = Vec::new();
        for (i, size) in [0, 1, 16, 17, 100, 1000, 4096, 1 << 20, 1 << 30].into_iter().cycle().take(90).enumerate() {
            let align = 16 << (i % 4);
            let (base, _) = heap.allocate(size, align, someone(), 0).expect("fits");
            assert_eq!(base % align, 0);
            all.push((base, size));
        }
        for &(base, size) in &all {
            for addr in [base, base + size / 2, base + size + SLACK - 1, base - SLACK] {
                let o = heap.find(addr).expect("inside a slot");
                assert_eq!((o.base, o.size), (base, size));
            }
        }
        assert_eq!(heap.live().count(), all.len());
        all.sort_unstable();
        assert!(all.windows(2).all(|w| w[0].0 + w[0].1 + SLACK <= w[1].0));
        assert!(heap.allocate(MAX_SIZE + 1, 16, someone(), 0).is_none());
    }

    #[test]
    fn freed_slots_wait_before_they_come_back() {
        let mut heap = Heap::default();
        let (first, _) = heap.allocate(32, 16, someone(), 0).expect("fits");
        heap.free(first, HERE);
        assert_eq!(heap.find(first).map(|o| o.life), Some(Life::Freed(HERE)));
        let mut again = None;
        for i in 0..40_000u64 {
            let (p, replaced) = heap.allocate(32, 16, someone(), 0).expect("fits");
            assert_eq!(replaced.map(|old| (old.base, old.life)), (p == first).then_some((first, Life::Freed(HERE))));
            if p == first {
                again = Some(i);
                break;
            }
            heap.free(p, HERE);
        }
        assert!(again.is_some_and(|i| i * 64 >= QUARANTINE - 128), "{again:?}");
    }
}
