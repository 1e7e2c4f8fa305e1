//! `wryneck-lower IN -o OUT.wir [--library] [--overflow] [--print]`: one module in, one IR file out.
//!
//! Made to be run as a limited child: it reads one file, writes one, and says what is wrong as lines of JSON on the
//! error output ([`Diagnostic`]). Exit code 0: the file is written; 2: it is not, and one line of level `error` says
//! why. LLVM may still crash on bitcode made to crash it; the parent sees a signal then.

use std::ffi::{CStr, OsString, c_char};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use wryneck_lower::{Diagnostic, Options, ReadError, bitcode, ffi, lower_module};

const USAGE: &str = "usage: wryneck-lower IN -o OUT.wir [--library] [--overflow] [--print]";

/// Deep enough for LLVM's recursions over nested constants.
const STACK_BYTES: usize = 256 << 20;

struct Args {
    input: PathBuf,
    output: Option<PathBuf>,
    options: Options,
    print: bool,
}

fn main() -> ExitCode {
    ffi::on_fatal_error(fatal);
    let Some(args) = parse(std::env::args_os().skip(1)) else {
        report("error", "usage", "the arguments are not understood", USAGE);
        return ExitCode::from(2);
    };
    let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || run(&args));
    let outcome = match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(ReadError::Internal { why: "the lowering panicked".to_owned() }),
        Err(e) => Err(ReadError::Internal { why: format!("no thread: {e}") }),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report("error", error.kind(), &error.to_string(), error.help());
            ExitCode::from(2)
        }
    }
}

fn parse(mut args: impl Iterator<Item = OsString>) -> Option<Args> {
    let (mut input, mut output, mut options, mut print) = (None, None, Options::default(), false);
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("-o") => output = Some(PathBuf::from(args.next()?)),
            Some("--library") => options.library = true,
            Some("--overflow") => options.overflow = true,
            Some("--print") => print = true,
            Some(flag) if flag.starts_with('-') => return None,
            _ if input.is_some() => return None,
            _ => input = Some(PathBuf::from(arg)),
        }
    }
    let args = Args { input: input?, output, options, print };
    (args.output.is_some() || args.print).then_some(args)
}

fn run(args: &Args) -> Result<(), ReadError> {
    let path = |p: &PathBuf| p.display().to_string();
    let bytes = std::fs::read(&args.input).map_err(|e| ReadError::Io { path: path(&args.input), why: e.to_string() })?;
    let llvm = bitcode::read(&bytes)?;
    let internal = |why: String| ReadError::Internal { why };
    let lowered = lower_module(&llvm, args.options).map_err(|e| internal(e.to_string()))?;
    wryneck_ir::verify::verify(&lowered.module).map_err(|e| internal(e.to_string()))?;
    for note in &lowered.notes {
        report("note", note.kind(), &note.to_string(), "");
    }
    let write_error = |p: String, why: String| ReadError::Write { path: p, why };
    if args.print {
        let text = wryneck_ir::text::print(&lowered.module);
        std::io::stdout().write_all(text.as_bytes()).map_err(|e| write_error("standard output".to_owned(), e.to_string()))?;
    }
    if let Some(output) = &args.output {
        wryneck_ir::file::write(&lowered.module, output).map_err(|e| write_error(path(output), e.to_string()))?;
    }
    Ok(())
}

fn report(level: &str, kind: &str, message: &str, help: &str) {
    // There is nobody left to tell if the error output is closed.
    let _ = writeln!(std::io::stderr(), "{}", Diagnostic { level, kind, message, help }.line());
}

/// LLVM's last words. It must not return.
extern "C" fn fatal(reason: *const c_char) {
    // SAFETY: LLVM passes a NUL-terminated string.
    let why = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    let error = ReadError::Fatal { why };
    report("error", error.kind(), &error.to_string(), error.help());
    std::process::exit(2);
}
