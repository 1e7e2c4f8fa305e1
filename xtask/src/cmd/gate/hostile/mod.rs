//! Hostile programs: each of `tests/hostile` tries one way out of the confinement of replays. It is run confined as root, as an ordinary
//! user, as root of a container, and where nothing can confine; none may have an effect, and where nothing confines none may run. Unconfined
//! it has its effect in one of these settings at least, so that the test can fail, or says why not.
//!
//! Each program is run by the crate that replays run by; a few are explored and replayed by `wryneck` itself ([`whole`]). What they attack
//! is the gate's own ([`arena`]). One more way out: a file in `tests/hostile`; its header says what it attacks (`attack`), which effect shows
//! that (`effect`, a row of [`arena::EFFECTS`]), and if need be why it has none unconfined (`unconfined`), the limit that ends it (`limit`) and
//! how many milliseconds later its effect shows (`wait`).

mod arena;
mod inside;
mod whole;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use self::arena::{Arena, EFFECTS};
use crate::cache::files;
use crate::process;

#[derive(clap::Args)]
pub struct Args {
    /// The launched half: confine (or not) and run a program
    #[arg(long, hide = true, num_args = 2, value_names = ["SETTING", "HOW"])]
    inside: Option<Vec<String>>,
    /// Only programs whose name has one of these words; after `--inside`, the program and its arguments
    words: Vec<String>,
}

/// Where the programs are.
const FOLDER: &str = "tests/hostile";
const COMPILER: &str = "clang-22";
/// A user that no machine has.
const USER: u32 = 48_213;
/// The powers of root in a container of Docker's.
const CONTAINER_POWERS: &str = "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap";

/// Who runs the tool, and what the machine lets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    Root,
    User,
    /// Root without the power to mount, under a filter that denies namespaces.
    Container,
    /// The same where Landlock is denied, too: nothing can confine.
    Bare,
}

const SETTINGS: [(Setting, &str); 4] =
    [(Setting::Root, "root"), (Setting::User, "user"), (Setting::Container, "container"), (Setting::Bare, "bare")];

impl Setting {
    fn name(self) -> &'static str {
        SETTINGS.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    fn of(name: &str) -> Result<Setting> {
        SETTINGS.iter().find(|row| row.1 == name).map(|row| row.0).with_context(|| format!("`{name}` is no setting"))
    }

    fn user(self) -> u32 {
        if self == Setting::User { USER } else { 0 }
    }

    /// The words before a command that make it run so; the filters come from [`inside::deny`].
    fn prefix(self) -> Vec<String> {
        let user = USER.to_string();
        let words: &[&str] = match self {
            Setting::Root => &[],
            Setting::User => &["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups"],
            Setting::Container | Setting::Bare => &["setpriv", "--inh-caps", "-all", "--bounding-set", CONTAINER_POWERS],
        };
        words.iter().map(|&word| word.to_owned()).collect()
    }
}

/// A program as its header says.
struct Hostile {
    name: String,
    file: PathBuf,
    effect: &'static str,
    /// Why it has no effect unconfined (`no: …`), or has none on some machines (`maybe: …`).
    tame: Option<String>,
    limit: Option<String>,
    wait: Duration,
}

impl Hostile {
    fn read(file: &Path) -> Result<Hostile> {
        let text = fs::read_to_string(file)?;
        let header =
            |name: &str| text.lines().find_map(|l| Some(l.strip_prefix("//@ ")?.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()));
        let wanted = header("effect").unwrap_or_default();
        let effect = EFFECTS.iter().find(|row| **row == wanted).with_context(|| format!("`{wanted}` is no effect"))?;
        ensure!(header("attack").is_some(), "it does not say what it attacks");
        Ok(Hostile {
            name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            file: file.to_owned(),
            effect,
            tame: header("unconfined"),
            limit: header("limit"),
            wait: Duration::from_millis(header("wait").map_or(Ok(30), |ms| ms.parse())?),
        })
    }
}

/// What one run showed.
struct Shown {
    effects: BTreeSet<&'static str>,
    /// What the launched half said.
    said: String,
}

pub fn run(args: &Args) -> Result<()> {
    if let Some(words) = &args.inside {
        let [setting, how] = &words[..] else { bail!("two words are needed") };
        return inside::run(Setting::of(setting)?, how, &args.words);
    }
    let mut all = Vec::new();
    for file in files(Path::new(FOLDER))?.iter().filter(|file| file.extension() == Some(OsStr::new("c"))) {
        all.push(Hostile::read(file).with_context(|| file.display().to_string())?);
    }
    all.retain(|h| args.words.is_empty() || args.words.iter().any(|word| h.name.contains(word.as_str())));
    ensure!(!all.is_empty(), "no such programs in {FOLDER}");
    let root = process::output(Command::new("id").arg("-u"))?.trim() == "0";
    ensure!(root, "only root can take the places of root, of a user and of a container");

    let base = tempfile::Builder::new().prefix("wryneck-hostile").tempdir()?;
    arena::open_to_all(base.path())?;
    let programs = base.path().join("programs");
    fs::create_dir(&programs)?;
    arena::open_to_all(&programs)?;
    process::parallel(&all, |hostile| compile(hostile, &programs))?;
    let own = base.path().join("xtask");
    fs::copy(std::env::current_exe()?, &own)?;

    let gate = Gate { base: base.path(), programs: &programs, own: &own };
    let mut wrong = Vec::new();
    let mut tame = Vec::new();
    let (mut refused, mut shown) = (0, 0);
    for (setting, name) in SETTINGS {
        let mut arena = Arena::new(base.path(), setting.user())?;
        for hostile in &all {
            let seen = gate.attempt(hostile, setting, "confined", &mut arena)?;
            let is_refused = seen.said.contains("REFUSED");
            refused += usize::from(is_refused);
            let complaint = if !seen.effects.is_empty() {
                format!("has an effect: {:?}", seen.effects)
            } else if is_refused != (setting == Setting::Bare) {
                format!("said `{}`", seen.said.trim())
            } else if let Some(limit) = hostile.limit.as_ref().filter(|limit| !is_refused && !seen.said.contains(limit.as_str())) {
                format!("is not ended by the limit of {limit}: `{}`", seen.said.trim())
            } else {
                continue;
            };
            wrong.push(format!("{name}: `{}` {complaint}", hostile.name));
            arena = Arena::new(base.path(), setting.user())?;
        }
    }
    for hostile in &all {
        let mut seen = None;
        for (setting, name) in SETTINGS {
            let mut arena = Arena::new(base.path(), setting.user())?;
            let run = gate.attempt(hostile, setting, "unconfined", &mut arena)?;
            if run.effects.contains(hostile.effect) {
                seen = Some(name);
                break;
            }
            if hostile.tame.as_ref().is_some_and(|why| why.starts_with("no: ")) {
                break;
            }
        }
        shown += usize::from(seen.is_some());
        match (&hostile.tame, seen) {
            (None, Some(_)) => {}
            (Some(why), Some(_)) if why.starts_with("maybe: ") => {}
            (Some(why), None) => tame.push(format!("not shown unconfined: `{}`: {why}", hostile.name)),
            (None, None) => wrong.push(format!("unconfined: `{}` has no effect anywhere, and does not say why", hostile.name)),
            (Some(why), Some(name)) => wrong.push(format!("unconfined: `{}` has its effect as {name}, but says `{why}`", hostile.name)),
        }
    }
    let whole = whole::run(&gate, &all, &mut wrong)?;
    tame.iter().for_each(|line| println!("{line}"));
    println!(
        "{} programs in {} settings: {} runs refused where nothing can confine, {} shown to have their effect unconfined, {whole} replayed by wryneck",
        all.len(),
        SETTINGS.len(),
        refused,
        shown
    );
    wrong.iter().for_each(|line| println!("{line}"));
    ensure!(wrong.is_empty(), "{} are not as they should be", wrong.len());
    Ok(())
}

fn compile(hostile: &Hostile, programs: &Path) -> Result<()> {
    let mut compiler = Command::new(COMPILER);
    compiler.args(["-DDIRECT", "-O1", "-w", "-o"]).arg(programs.join(&hostile.name)).arg(&hostile.file);
    process::output(&mut compiler).map(drop)
}

/// What all runs share.
struct Gate<'a> {
    base: &'a Path,
    /// The compiled programs.
    programs: &'a Path,
    /// A copy of this program that every user may run.
    own: &'a Path,
}

impl Gate<'_> {
    /// Runs a program in a setting, and looks at what it did to the arena.
    fn attempt(&self, hostile: &Hostile, setting: Setting, how: &str, arena: &mut Arena) -> Result<Shown> {
        let program = arena.take(&self.programs.join(&hostile.name))?;
        let mut words = setting.prefix();
        words.extend([self.own.display().to_string(), "gate".into(), "hostile".into(), "--inside".into()]);
        words.extend([setting.name().into(), how.into(), "--".into(), program.display().to_string()]);
        words.extend(arena.arguments());
        self.observe(hostile, words, arena)
    }

    /// Runs a command with a terminal if its program attacks that, and with a descriptor that is none of its business.
    fn observe(&self, hostile: &Hostile, words: Vec<String>, arena: &mut Arena) -> Result<Shown> {
        let before = arena.state()?;
        let quoted = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let line = format!("exec 9>>'{}'; {quoted}", arena.leak().display());
        let mut command = if hostile.effect == "terminal" {
            let mut command = Command::new("script");
            // What was put into the terminal is read from it.
            command.args(["-qec", &format!("export HOSTILE_TTY=$(tty); {line}; read -t 0.2 line"), "/dev/null"]).env("SHELL", "/bin/bash");
            command
        } else {
            let mut command = Command::new("bash");
            command.args(["-c", &line]);
            command
        };
        command.current_dir(self.base).env("HOSTILE_SHM", arena.shm()).stdin(std::process::Stdio::null());
        let out = command.output().context("cannot start `bash` or `script`")?;
        sleep(hostile.wait);
        let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        let mut effects = arena.effects(&before)?;
        effects.extend(said.contains("EFFECT").then_some("said"));
        effects.extend((hostile.effect == "terminal" && said.contains("hostile\r\n")).then_some("terminal"));
        Ok(Shown { effects, said })
    }
}
