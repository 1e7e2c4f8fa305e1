//! Extended attributes of files (xattr(7)): no file has one here.

use super::path::{AT_FDCWD, Follow};
use super::{Done, Sys};
use crate::errno::{EBADF, ENODATA, ERANGE, Halt};

/// The longest name of an attribute, in bytes.
const LONGEST_NAME: usize = 255;

/// The file of a path is looked for.
fn found(s: &mut Sys<'_, '_>, follow: Follow) -> Result<(), Halt> {
    s.path(AT_FDCWD, s.args[0], follow)?.there()?;
    Ok(())
}

/// The file of a descriptor is looked for.
fn opened(s: &mut Sys<'_, '_>) -> Result<(), Halt> {
    let descriptor = s.int(0)?;
    if descriptor < 0 { Err(EBADF.into()) } else { s.opened(descriptor).map(|_| ()) }
}

/// The name of the attribute, which no file has.
fn named(s: &mut Sys<'_, '_>) -> Done {
    let len = s.string(s.args[1])?.len();
    Err(if len == 0 || len > LONGEST_NAME { ERANGE } else { ENODATA }.into())
}

/// getxattr(path, name, value, size).
pub fn get(s: &mut Sys<'_, '_>) -> Done {
    found(s, Follow::Yes)?;
    named(s)
}

/// lgetxattr: of a symbolic link itself.
pub fn get_of_link(s: &mut Sys<'_, '_>) -> Done {
    found(s, Follow::No)?;
    named(s)
}

/// fgetxattr(descriptor, name, value, size).
pub fn get_of_descriptor(s: &mut Sys<'_, '_>) -> Done {
    opened(s)?;
    named(s)
}

/// listxattr(path, list, size): an empty list.
pub fn list(s: &mut Sys<'_, '_>) -> Done {
    found(s, Follow::Yes)?;
    Ok(0)
}

pub fn list_of_link(s: &mut Sys<'_, '_>) -> Done {
    found(s, Follow::No)?;
    Ok(0)
}

pub fn list_of_descriptor(s: &mut Sys<'_, '_>) -> Done {
    opened(s)?;
    Ok(0)
}
