//! Notes to the user from work that has no other way to tell something. The library prints nothing itself.

use std::sync::OnceLock;

static GIVEN_TO: OnceLock<fn(&str)> = OnceLock::new();

/// From now on notes of this process are given to `printer`. Later calls change nothing.
pub fn give_to(printer: fn(&str)) {
    let _ = GIVEN_TO.set(printer);
}

/// Gives a note to whoever asked for them.
pub fn give(text: &str) {
    if let Some(printer) = GIVEN_TO.get() {
        printer(text);
    }
}
