//! The rule unchecked-results: a program checks what a function reports about its success.
//!
//! Each call of such a function that returns is an event. It is a violation if no path from the call checks its result ([`looked_at`]; for
//! machine code, [`looked_at::machine_code`]). This is a property of the call site: a call is not reported if some path checks its result.
//! `(void)` does not count as a check. The functions are those that glibc marks `warn_unused_result`, and those whose failure loses data
//! (CWE-252). `close`, `fclose`, `fflush` and output to streams are not among them, because programs rightly check `ferror` once, at the
//! end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use wryneck_exec::state::NoData;
use wryneck_exec::{CodePos, Cx, PathData, Stop, places};

use crate::checker::{About, At, Checker, Happened, Here, Learned, Occurrence, Operands, Severity, Shown, Wrong};
use crate::{explain, looked_at};

/// The functions that report their success by their result.
static FUNCTIONS: &[&str] = &[
    "asprintf", "chdir", "chown", "chroot", "dup", "dup2", "dup3", "fchdir", "fchmod", "fchown", "fchownat", "fdatasync", "fgets", "fread",
    "freopen", "fscanf", "fsync", "ftruncate", "getcwd", "getdelim", "getline", "initgroups", "lchown", "link", "linkat", "lockf",
    "mkdtemp", "mkostemp", "mkstemp", "nice", "pipe", "pipe2", "posix_memalign", "pread", "pthread_mutex_trylock", "pwrite", "read",
    "readlink", "readlinkat", "readv", "realpath", "rename", "renameat", "scanf", "setegid", "seteuid", "setgid", "setgroups", "setregid",
    "setresgid", "setresuid", "setreuid", "setuid", "sscanf", "symlink", "symlinkat", "system", "truncate", "vasprintf", "vfscanf",
    "vscanf", "vsscanf", "write", "writev",
];

/// Events.
const CHECKED: usize = 0;
const IGNORED: usize = 1;

/// The rule.
pub struct Unchecked {
    about: About,
    /// By call site: whether its result is checked. It is the same on every path.
    looked_at: RefCell<BTreeMap<CodePos, bool>>,
}

impl Unchecked {
    pub fn checker() -> Rc<dyn Checker> {
        let about = About {
            id: "unchecked-results".into(),
            summary: "what a function says of its success is looked at".into(),
            cwe: 252,
            severity: Severity::Warning,
            instance: "result".into(),
            notes: "A result is looked at if anything behind the call compares it, computes with it, passes it on, returns it, or stores it where others\n\
                may read. `(void)` is not looking. What is checked on one way from the call counts as checked on all.\n\
                `close`, `fclose`, `fflush` and output to streams are left out, since `ferror` may be asked once, at the end."
                .into(),
        };
        Rc::new(Unchecked { about, looked_at: RefCell::default() })
    }
}

impl Checker for Unchecked {
    fn about(&self) -> &About {
        &self.about
    }

    fn functions(&self) -> Vec<&str> {
        FUNCTIONS.to_vec()
    }

    fn operands(&self, _: &str) -> Operands {
        Operands::default()
    }

    fn event_name(&self, event: usize) -> &str {
        if event == CHECKED { "checked" } else { "ignored" }
    }

    fn start(&self) -> Rc<dyn PathData> {
        Rc::new(NoData)
    }

    fn events(&self, call: &Shown<'_>, _: &dyn PathData, cx: &mut Cx<'_>) -> Result<Vec<Occurrence>, Stop> {
        if call.at == At::Call {
            return Ok(Vec::new());
        }
        let mut known = self.looked_at.borrow_mut();
        let (image, source) = (&cx.core.image, cx.core.code_source.as_ref().filter(|_| cx.core.image.is_machine_code(call.pos.func)));
        let looked_at = *known.entry(call.pos).or_insert_with(|| match source {
            Some(source) => looked_at::machine_code::looked_at(&*source.borrow(), places::instruction(image, call.pos)),
            None => looked_at::looked_at(image, call.pos),
        });
        let event = if looked_at { CHECKED } else { IGNORED };
        Ok(vec![Occurrence { event, ..Occurrence::default() }])
    }

    fn learn(&self, event: &Occurrence, here: Here<'_>, _: &mut dyn PathData) -> Learned {
        let mut learned = Learned { instance: Some(0), wrong: Vec::new() };
        if event.event == IGNORED {
            let trail = vec![Happened { event: "ignored".into(), function: here.function.clone(), stack: here.stack }];
            let message = format!("result of `{}` is looked at by nobody", here.function);
            learned.wrong.push(Wrong { message, stack: here.stack, trail: Rc::new(trail) });
        }
        learned
    }

    fn at_exit(&self, _: &dyn PathData) -> Vec<Wrong> {
        Vec::new()
    }

    fn explain(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        explain::head(&self.about, out)?;
        explain::functions("events: return of", FUNCTIONS.iter().copied(), out)?;
        writeln!(out, "\n  checked: nothing\n  ignored: violation, result is looked at by nobody")
    }
}
