//! What hostile programs may attack, all of it the gate's own: files, FIFOs, sockets, a process, objects of System V; and what has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::process;

/// What a program can be seen to have done. One more: a row, and a line of [`Arena::effects`].
pub(super) const EFFECTS: [&str; 9] = ["fifo", "file", "ipc", "left", "mount", "process", "said", "socket", "terminal"];

const O_NONBLOCK: i32 = 0o4000;
/// In the full FIFO.
const CONTENT: &[u8] = b"content\n";

pub(super) struct Arena {
    dir: tempfile::TempDir,
    user: u32,
    victim: Child,
    port: u16,
    tcp: TcpListener,
    udp: UdpSocket,
    stream: UnixListener,
    datagram: UnixDatagram,
    named: UnixListener,
    fifo: File,
    full: File,
    /// Numbers of a segment, a semaphore set and a queue.
    objects: [u32; 3],
    shm: PathBuf,
}

/// What can be compared before and after.
#[derive(PartialEq, Eq)]
pub(super) struct State {
    files: BTreeMap<PathBuf, String>,
    process: String,
    objects: String,
}

/// Lets every user in.
pub(super) fn open_to_all(dir: &Path) -> Result<()> {
    Ok(fs::set_permissions(dir, Permissions::from_mode(0o755))?)
}

impl Arena {
    pub(super) fn new(base: &Path, user: u32) -> Result<Arena> {
        let dir = tempfile::Builder::new().prefix("arena").tempdir_in(base)?;
        open_to_all(dir.path())?;
        let place = |name: &str| dir.path().join(name);
        fs::create_dir(place("folder"))?;
        fs::create_dir(place("program"))?;
        for name in ["victim", "leak", "victim-out"] {
            fs::write(place(name), "intact\n")?;
        }
        process::output(Command::new("mkfifo").args([place("fifo"), place("full-fifo")]))?;
        let (stream, datagram) = (UnixListener::bind(place("stream"))?, UnixDatagram::bind(place("datagram"))?);
        let shm = PathBuf::from(format!("/dev/shm/{}", dir.path().file_name().unwrap_or_default().to_string_lossy()));
        fs::write(&shm, "intact\n")?;
        for entry in fs::read_dir(dir.path())? {
            chown(entry?.path(), Some(user), Some(user))?;
        }
        chown(&shm, Some(user), Some(user))?;
        chown(dir.path(), Some(user), Some(user))?;
        let open = |name: &str| OpenOptions::new().read(true).write(true).custom_flags(O_NONBLOCK).open(place(name));
        let (fifo, mut full) = (open("fifo")?, open("full-fifo")?);
        full.write_all(CONTENT)?;
        let out = OpenOptions::new().append(true).open(place("victim-out"))?;
        let victim = Command::new("sleep")
            .arg("600")
            .uid(user)
            .gid(user)
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let named = UnixListener::bind_addr(&SocketAddr::from_abstract_name(format!("wryneck-hostile-{}", victim.id()))?)?;
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = tcp.local_addr()?.port();
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, port))?;
        tcp.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        stream.set_nonblocking(true)?;
        datagram.set_nonblocking(true)?;
        named.set_nonblocking(true)?;
        let object = |kind: &[&str]| -> Result<u32> {
            let said = process::output(Command::new("ipcmk").args(["-p", "0666"]).args(kind))?;
            said.trim().rsplit(' ').next().and_then(|id| id.parse().ok()).context("`ipcmk` tells no number")
        };
        let objects = [object(&["-M", "4096"])?, object(&["-S", "1"])?, object(&["-Q"])?];
        Ok(Arena { dir, user, victim, port, tcp, udp, stream, datagram, named, fifo, full, objects, shm })
    }

    /// The program's copy in the arena.
    pub(super) fn take(&self, program: &Path) -> Result<PathBuf> {
        let copy = self.dir.path().join("program").join(program.file_name().unwrap_or_default());
        let _ = fs::remove_file(&copy);
        fs::copy(program, &copy)?;
        chown(&copy, Some(self.user), Some(self.user))?;
        Ok(copy)
    }

    /// What programs are told of it.
    pub(super) fn arguments(&self) -> Vec<String> {
        let numbers = [self.victim.id(), self.port.into()].into_iter().chain(self.objects);
        [self.dir.path().display().to_string()].into_iter().chain(numbers.map(|n| n.to_string())).collect()
    }

    /// A file that is open in the tool as it starts.
    pub(super) fn leak(&self) -> PathBuf {
        self.dir.path().join("leak")
    }

    pub(super) fn shm(&self) -> &Path {
        &self.shm
    }

    pub(super) fn state(&self) -> Result<State> {
        let mut files = BTreeMap::new();
        look(self.dir.path(), &mut files)?;
        look(&self.shm, &mut files)?;
        Ok(State { files, process: self.process(), objects: self.objects() })
    }

    /// What others can see of the victim; empty if it is gone.
    fn process(&self) -> String {
        let read = |name: &str| fs::read(format!("/proc/{}/{name}", self.victim.id())).unwrap_or_default();
        let text = |name: &str| String::from_utf8_lossy(&read(name)).into_owned();
        let stat = text("stat");
        // Priority, niceness and policy, as proc(5) numbers them; the first two fields end with a bracket.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let state = fields.first().copied().unwrap_or_default();
        let shown: Vec<&str> = [18, 19, 41].iter().filter_map(|field| fields.get(field - 3).copied()).collect();
        let allowed: String =
            text("status").lines().filter(|l| ["Cpus_allowed", "SigPnd", "ShdPnd"].iter().any(|name| l.starts_with(name))).collect();
        if state.is_empty() || state == "Z" {
            return String::new();
        }
        // Stopped or traced, or else as it was.
        format!("{} {shown:?} {allowed} {} {} {}", state.eq_ignore_ascii_case("t"), text("limits"), text("cmdline"), text("oom_score_adj"))
    }

    fn objects(&self) -> String {
        let row = |(kind, id): (&str, u32)| {
            let table = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
            table.lines().find(|line| line.split_whitespace().nth(1) == Some(&id.to_string())).unwrap_or_default().to_owned()
        };
        ["shm", "sem", "msg"].into_iter().zip(self.objects).map(row).collect()
    }

    /// What has been done to it since it was as it was before.
    pub(super) fn effects(&mut self, before: &State) -> Result<BTreeSet<&'static str>> {
        let mut effects = BTreeSet::new();
        let now = self.state()?;
        effects.extend((now.files != before.files).then_some("file"));
        effects.extend((now.process != before.process).then_some("process"));
        effects.extend((now.objects != before.objects).then_some("ipc"));
        let came = |result: std::io::Result<()>| !matches!(result, Err(e) if e.kind() == ErrorKind::WouldBlock);
        let mut buffer = [0; 64];
        let reached = [
            came(self.tcp.accept().map(drop)),
            came(self.stream.accept().map(drop)),
            came(self.named.accept().map(drop)),
            came(self.udp.recv(&mut buffer).map(drop)),
            came(self.datagram.recv(&mut buffer).map(drop)),
        ];
        effects.extend(reached.contains(&true).then_some("socket"));
        let written = came(self.fifo.read(&mut buffer).map(drop));
        let read = self.full.read(&mut buffer).unwrap_or(0);
        effects.extend((written || &buffer[..read] != CONTENT).then_some("fifo"));
        self.full.write_all(CONTENT)?;
        let here = self.dir.path().display().to_string();
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        if mounts.contains(&here) {
            effects.insert("mount");
            process::output(Command::new("umount").arg(self.dir.path().join("folder")))?;
        }
        let programs = self.dir.path().join("program").display().to_string();
        let is_left = |line: Vec<u8>| String::from_utf8_lossy(&line).starts_with(&programs);
        let mut lines = fs::read_dir("/proc")?.flatten().filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        effects.extend(lines.any(is_left).then_some("left"));
        Ok(effects)
    }
}

/// What is seen of a file or folder and all in it. What is read changes no time that is noted.
fn look(path: &Path, seen: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    let about = fs::symlink_metadata(path)?;
    let content = if about.is_file() { fs::read(path).map(|bytes| blake3::hash(&bytes).to_hex().to_string())? } else { String::new() };
    let change = (about.ctime(), about.ctime_nsec(), about.mtime(), about.mtime_nsec());
    seen.insert(path.to_owned(), format!("{:o} {} {} {:?} {content}", about.mode(), about.uid(), about.nlink(), change));
    if about.is_dir() {
        for entry in fs::read_dir(path)? {
            look(&entry?.path(), seen)?;
        }
    }
    Ok(())
}

impl Drop for Arena {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = fs::remove_file(&self.shm);
        for (option, id) in ["-m", "-s", "-q"].iter().zip(self.objects) {
            let _ = Command::new("ipcrm").arg(option).arg(id.to_string()).stderr(Stdio::null()).status();
        }
    }
}
