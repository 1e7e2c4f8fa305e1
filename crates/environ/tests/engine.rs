//! Runs a C program in the engine, and natively.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use wryneck_environ::{DirEntry, Host, Linux, ProgramInput, STDOUT, Stat, World, start};
use wryneck_exec::core::Core;
use wryneck_exec::{Config, Control, Ended, Explorer, Image, Limit, Outcome, PathEnd, search};
use wryneck_expr::Pool;
use wryneck_ir::link::{Program, Target, Unit};
use wryneck_lower::{Options, bitcode, lower_module};
use wryneck_solver::Solver;

/// How a path ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub end: PathEnd,
    pub stdout: String,
    /// Names and bytes of the inputs, in the order they were made.
    pub inputs: Vec<(String, Vec<u8>)>,
}

/// What an exploration gave.
pub struct Explored {
    pub ends: Vec<End>,
    /// The ledger's rows as text.
    pub ledger: Vec<String>,
}

/// The real file system.
struct Real;

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn number(e: std::io::Error) -> i32 {
    e.raw_os_error().unwrap_or(5)
}

impl Host for Real {
    fn stat(&self, at: &[u8], follow: bool) -> Result<Stat, i32> {
        let m = if follow { fs::metadata(path(at)) } else { fs::symlink_metadata(path(at)) }.map_err(number)?;
        let (dev, ino, nlink, mode, uid, gid, rdev, size) = (m.dev(), m.ino(), m.nlink(), m.mode(), m.uid(), m.gid(), m.rdev(), m.size());
        let (atime, mtime, ctime) = ((m.atime(), m.atime_nsec()), (m.mtime(), m.mtime_nsec()), (m.ctime(), m.ctime_nsec()));
        Ok(Stat { dev, ino, nlink, mode, uid, gid, rdev, size, atime, mtime, ctime })
    }
    fn read_file(&self, at: &[u8]) -> Result<std::sync::Arc<Vec<u8>>, i32> {
        fs::read(path(at)).map(std::sync::Arc::new).map_err(number)
    }
    fn list_dir(&self, at: &[u8]) -> Result<Vec<DirEntry>, i32> {
        let entries = fs::read_dir(path(at)).map_err(number)?;
        let entry = |e: std::io::Result<fs::DirEntry>| {
            let e = e.map_err(number)?;
            let m = e.path().symlink_metadata().map_err(number)?;
            Ok(DirEntry { name: e.file_name().as_bytes().to_vec(), ino: m.ino(), kind: m.mode() & 0o170000 })
        };
        entries.map(entry).collect()
    }
    fn read_link(&self, at: &[u8]) -> Result<Vec<u8>, i32> {
        fs::read_link(path(at)).map(|p| p.as_os_str().as_bytes().to_vec()).map_err(number)
    }
}

struct Collect(Vec<End>);

impl Control for Collect {
    fn stop(&mut self, core: &Core, _: usize) -> Option<Limit> {
        (core.stats.paths > 10_000).then_some(Limit::Forks)
    }
    fn ended(&mut self, core: &mut Core, ended: Ended) {
        let world = World::left_by(ended.data.environment()).expect("the environment is Linux");
        let stdout = String::from_utf8_lossy(&world.written(STDOUT, &core.pool, &ended.model)).into_owned();
        let bytes = |i: &wryneck_exec::Input| i.bytes.iter().map(|s| ended.model.get(*s) as u8).collect();
        let inputs = ended.inputs.iter().map(|i| (i.name.to_string(), bytes(i))).collect();
        self.0.push(End { end: ended.end, stdout, inputs });
    }
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn clang() -> Command {
    let mut command = Command::new("clang-22");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/include");
    command.args(["-w", "-O1", "-fno-builtin", "-I"]).arg(include);
    command
}

/// Explores a program (below `tests/`) to the end.
pub fn explore(program: &str, input: ProgramInput, directory: &Path) -> Explored {
    explore_with(program, input, directory, Config::default())
}

/// As [`explore`], with other bounds and switches.
pub fn explore_with(program: &str, mut input: ProgramInput, directory: &Path, config: Config) -> Explored {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let bc = scratch.path().join("program.bc");
    let status = clang().args(["-emit-llvm", "-c", "-o"]).arg(&bc).arg(sources().join(program)).status();
    assert!(status.expect("clang-22 runs").success(), "{program} compiles");
    let llvm = bitcode::read(&fs::read(&bc).expect("the bitcode")).expect("bitcode of clang's");
    let module = lower_module(&llvm, Options::default()).expect("it lowers").module;
    let unit = Unit { name: program.into(), module, library: false };
    let linked = Program::link(vec![unit, start::unit().expect("it is well-formed")]).expect("it links");
    input.working_directory = directory.as_os_str().as_bytes().to_vec();
    input.user = fs::metadata(directory).expect("the directory").uid();
    let environment = Rc::new(Linux::new(input, Rc::new(Real)));
    let mut pool = Pool::new();
    let image = Image::new(linked, &*environment, &mut pool);
    let Some(Target::Func(entry)) = image.program.lookup(start::ENTRY) else { panic!("the start is linked") };
    let search = search::by_names(&["bfs".into()], 0).expect("a searcher");
    let solver = Solver::new(Default::default()).expect("the default back end");
    let mut explorer = Explorer::new(image, pool, solver, environment, None, config, search);
    explorer.start(entry.0, |_| Ok(Vec::new())).expect("it starts");
    let mut control = Collect(Vec::new());
    assert_eq!(explorer.explore(&mut control), Outcome::Complete);
    let ledger = explorer.core.ledger.rows.keys().map(|(kind, what)| format!("{kind:?}: {what}")).collect();
    Explored { ends: control.0, ledger }
}

/// A program compiled for this machine.
pub struct Native(tempfile::TempDir);

impl Native {
    pub fn new(program: &str) -> Native {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let status = clang()
            .arg("-o")
            .arg(scratch.path().join("program"))
            .arg(sources().join(program))
            .arg(sources().join("programs/kernel.c"))
            .status();
        assert!(status.expect("clang-22 runs").success(), "{program} compiles");
        Native(scratch)
    }

    /// Runs it in a directory: output and exit code.
    pub fn run(&self, directory: &Path, stdin: &Path, args: &[&str]) -> (String, Option<i32>) {
        let mut command = Command::new(self.0.path().join("program"));
        command.current_dir(directory).args(args).stdin(fs::File::open(stdin).expect("the input"));
        let out = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().expect("it runs");
        (String::from_utf8_lossy(&out.stdout).into_owned(), out.status.code())
    }
}
