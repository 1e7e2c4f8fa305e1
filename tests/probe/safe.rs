//! Rust: pointers from outside, options, slices, boxes.
#![allow(clippy::missing_safety_doc)]

#[repr(C)]
pub struct Node {
    key: i32,
    next: *mut Node,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad_last_key(n: *const Node) -> i32 {
    let n = unsafe { &*n };
    if n.next.is_null() {
        return unsafe { std::ptr::read(std::ptr::addr_of!((*n.next).key)) }; //~ null-dereference
    }
    n.key
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn good_last_key(n: *const Node) -> i32 {
    let n = unsafe { &*n };
    if n.next.is_null() {
        return n.key;
    }
    unsafe { std::ptr::read(std::ptr::addr_of!((*n.next).key)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad_boxed(n: *mut Node) -> i32 {
    let first = unsafe { Box::from_raw(n) };
    drop(first);
    unsafe { (*n).key } //~ use-after-free
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn good_boxed(n: *mut Node) -> i32 {
    let first = unsafe { Box::from_raw(n) };
    first.key
}
