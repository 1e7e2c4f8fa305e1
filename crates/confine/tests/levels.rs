//! Programs under each level of confinement that works here: they run as they do without, and keep to their limits.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use wryneck_confine::{Confinement, Ended, Job, Level, Limit, Limits, Put};

fn levels() -> Vec<Confinement> {
    let probed = [Level::Full, Level::Plain].map(Confinement::probe_level);
    probed.into_iter().filter_map(Result::ok).chain([Confinement::unconfined()]).collect()
}

/// What is collected can be read while the scratch folder is there.
fn run_in(scratch: &Path, confinement: Confinement, script: &str, limits: Limits) -> Ended {
    let dir = fs::canonicalize(scratch).expect("it is there");
    let (work, told) = (dir.join("work"), dir.join("told"));
    for dir in [&work, &told] {
        fs::create_dir(dir).expect("there is room");
    }
    let job = Job {
        program: "/bin/sh".into(),
        args: vec![b"sh".into(), b"-c".into(), script.into(), b"sh".into(), told.to_str().expect("it is text").into()],
        env: vec![b"PATH=/usr/bin:/bin".into()],
        work,
        stdin: "/dev/null".into(),
        collect: vec![told],
        ..Job::default()
    };
    confinement.run(&job, &limits, &|| false).expect("it was probed")
}

fn run_limited(confinement: Confinement, script: &str, limits: Limits) -> Ended {
    run_in(tempfile::tempdir().expect("there is room").path(), confinement, script, limits)
}

fn run(confinement: Confinement, script: &str) -> Ended {
    run_limited(confinement, script, Limits::default())
}

#[test]
fn output_status_and_folders_come_back() {
    assert!(Confinement::probe().is_ok(), "{:?}", Confinement::probe());
    for confinement in levels() {
        let level = confinement.level();
        let scratch = tempfile::tempdir().expect("there is room");
        let ended = run_in(
            scratch.path(),
            confinement,
            "echo out; echo err >&2; echo told > \"$1/file\"; ln -s /etc/passwd \"$1/link\"; mkfifo \"$1/fifo\"; exit 3",
            Limits::default(),
        );
        assert_eq!((ended.status.code(), ended.limit), (Some(3), None), "{level:?}");
        assert_eq!((&ended.stdout[..], &ended.stderr[..]), (&b"out\n"[..], &b"err\n"[..]), "{level:?}");
        let [told] = &ended.collected[..] else { panic!("one folder was asked for") };
        assert_eq!(told.read("file".as_ref(), 100).as_deref(), Some(&b"told\n"[..]), "{level:?}");
        assert_eq!((told.read("link".as_ref(), 100), told.read("fifo".as_ref(), 100)), (None, None), "{level:?}");
        let mut names = told.names();
        names.sort();
        assert_eq!(names, ["fifo", "file", "link"], "{level:?}");
    }
}

#[test]
fn signals_are_the_programs_own_end() {
    for confinement in levels() {
        for signal in [libc::SIGKILL, libc::SIGABRT, libc::SIGTERM] {
            let ended = run(confinement, &format!("kill -{signal} $$"));
            assert_eq!((ended.status.signal(), ended.limit), (Some(signal), None), "{:?}", confinement.level());
        }
    }
}

#[test]
fn limits_have_names() {
    let limits = Limits { time: Duration::from_secs(1), memory: 200 << 20, file: 1 << 20, processes: 20, ..Limits::default() };
    let cases = [
        ("sleep 100", Limit::Time),
        ("sleep 100 & exec sleep 50", Limit::Time),
        (
            "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do sleep 20 & done; wait",
            Limit::Processes,
        ),
        ("head -c 9000000 /dev/zero > big; kill -s XFSZ $$", Limit::FileSize),
        ("cat /dev/zero | tail -c 900000000 | head -c 1", Limit::Memory),
    ];
    for confinement in levels() {
        for (script, limit) in cases {
            let begun = Instant::now();
            let ended = run_limited(
                confinement,
                script,
                Limits { time: if limit == Limit::Time { limits.time } else { Duration::from_secs(60) }, ..limits },
            );
            assert_eq!(ended.limit, Some(limit), "{:?}: {script}: {:?}", confinement.level(), ended.status);
            assert!(begun.elapsed() < Duration::from_secs(40), "{:?}: {script}", confinement.level());
        }
    }
}

/// A daemon that left its group and session and keeps the output open.
#[test]
fn nothing_is_left_and_nobody_is_waited_for() {
    for confinement in levels() {
        let marker = format!("60.{}{}", std::process::id(), confinement.level() as u32);
        let begun = Instant::now();
        let ended = run(confinement, &format!("setsid sh -c 'setsid sleep {marker} & exit' & sleep 0.3; exit 5"));
        assert_eq!(ended.status.code(), Some(5), "{:?}", confinement.level());
        assert!(begun.elapsed() < Duration::from_secs(30));
        let alive = |pid: &Path| fs::read(pid.join("cmdline")).is_ok_and(|line| line.windows(marker.len()).any(|w| w == marker.as_bytes()));
        let left = fs::read_dir("/proc").expect("it is there").flatten().filter(|entry| alive(&entry.path())).count();
        assert_eq!(left, 0, "{:?}", confinement.level());
    }
}

#[test]
fn the_user_can_stop_it() {
    for confinement in levels() {
        let scratch = tempfile::tempdir().expect("there is room");
        let job = Job {
            program: "/bin/sleep".into(),
            args: vec![b"sleep".into(), b"100".into()],
            work: fs::canonicalize(scratch.path()).expect("it is there"),
            stdin: "/dev/null".into(),
            ..Job::default()
        };
        let ended = confinement.run(&job, &Limits { time: Duration::from_secs(90), ..Limits::default() }, &|| true).expect("it runs");
        assert_eq!(ended.limit, Some(Limit::Interrupted));
    }
}

#[test]
fn what_cannot_be_run_is_said() {
    let scratch = tempfile::tempdir().expect("there is room");
    let work = fs::canonicalize(scratch.path()).expect("it is there");
    symlink("nowhere", work.join("broken")).expect("there is room");
    for confinement in levels() {
        let job =
            Job { program: work.join("broken"), args: vec![b"x".into()], work: work.clone(), stdin: "/dev/null".into(), ..Job::default() };
        let failure = confinement.run(&job, &Limits::default(), &|| false).expect_err("there is no program");
        assert_eq!(failure.to_string(), "the program cannot be executed: No such file or directory (os error 2)");
    }
}

/// A confined program has no powers, no terminal, three descriptors, and no process of others.
#[test]
fn powers_are_gone() {
    for confinement in levels().into_iter().filter(|c| c.level() != Level::None) {
        let ended = run(
            confinement,
            "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; ls /proc/self/fd | wc -l; mknod d c 1 3; unshare -r true; chroot / true; ls -d /proc/[0-9]*",
        );
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        if confinement.level() == Level::Full {
            for line in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
                assert!(said.contains(&format!("{line}:\t0000000000000000\n")), "{said}");
            }
            assert!(said.contains("NoNewPrivs:\t1\nSeccomp:\t2\n4\n/proc/1\n/proc/2\n"), "{said}");
        }
        let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(errors.contains("mknod: ") && errors.contains("unshare: ") && errors.contains("chroot: "), "{errors}");
    }
}

/// As root the copies of files are the machine's mounts laid over as they are, not what an ordinary user can have.
#[test]
fn root_uses_its_powers() {
    let status = fs::read_to_string("/proc/self/status").expect("it is there");
    let powers = status.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("every process has some");
    let powers = u64::from_str_radix(powers.trim(), 16).expect("a number");
    const ADMIN: u64 = 1 << 21;
    if powers & ADMIN != 0 {
        let probed = format!("{:?}", Confinement::probe_level(Level::Full));
        assert!(probed.contains("Root"), "{probed}");
    }
}

/// The full confinement. A container may have no namespaces, but continuous integration has to.
fn full() -> Option<Confinement> {
    let probed = Confinement::probe_level(Level::Full).ok();
    assert!(probed.is_some() || std::env::var_os("CI").is_none(), "continuous integration needs namespaces of users");
    probed
}

/// As builds are run: what they write in their folder stays, and nothing else can be written but a scratch folder of their own.
#[test]
fn kept_folders_keep_what_is_written() {
    let Some(confinement) = full() else { return };
    let (project, private) = (tempfile::tempdir().expect("there is room"), tempfile::tempdir().expect("there is room"));
    let outside = tempfile::tempdir_in("/var/tmp").expect("there is room");
    let path = |dir: &tempfile::TempDir| fs::canonicalize(dir.path()).expect("it is there");
    let script = "echo made > made; echo tmp > /tmp/made; echo out 2>&- > \"$1/made\" || echo refused; cat < /dev/tcp/x 2>&- ; ls -A /sys";
    let job = Job {
        program: "/bin/sh".into(),
        args: ["sh", "-c", script, "sh", &path(&outside).display().to_string()].map(|word| word.into()).into(),
        env: vec![b"PATH=/usr/bin:/bin".into()],
        work: path(&project),
        stdin: "/dev/null".into(),
        keep: vec![path(&project)],
        scratch: Some(path(&private)),
        ..Job::default()
    };
    let ended = confinement.run(&job, &Limits::none(), &|| false).expect("it was probed");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "refused\n", "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(fs::read_to_string(project.path().join("made")).expect("it was kept"), "made\n");
    assert_eq!(fs::read_to_string(private.path().join("made")).expect("it was kept"), "tmp\n");
    assert_eq!(fs::read_dir(outside.path()).expect("it is there").count(), 0);
}

/// Names of files may come from strangers; the kernel's settings are none, though root could write them.
#[test]
fn files_are_not_put_into_proc() {
    let Some(confinement) = full() else { return };
    let setting = "/proc/sys/kernel/core_uses_pid";
    let before = fs::read_to_string(setting).expect("every kernel has it");
    let scratch = tempfile::tempdir().expect("there is room");
    let work = fs::canonicalize(scratch.path()).expect("it is there");
    fs::write(work.join("from"), if before == "0\n" { "1\n" } else { "0\n" }).expect("there is room");
    let job = Job {
        program: "/bin/true".into(),
        args: vec![b"true".into()],
        work: work.clone(),
        stdin: "/dev/null".into(),
        files: vec![Put { from: work.join("from"), to: setting.into(), must: true }],
        ..Job::default()
    };
    let failure = confinement.run(&job, &Limits::default(), &|| false).expect_err("it cannot be put there");
    assert!(failure.to_string().contains("a file cannot be put"), "{failure}");
    let now = fs::read_to_string(setting).expect("it is there");
    if now != before {
        let _ = fs::write(setting, &before);
    }
    assert_eq!(now, before);
}

#[test]
fn a_program_that_waits_for_itself_alone_is_ended() {
    // `cat` can write the pipe that it reads, and the shell waits for it.
    let waits = "mkfifo pipe; cat <> pipe; echo on";
    let limits = Limits { time: Duration::from_secs(30), stuck: true, ..Limits::default() };
    for confinement in levels().into_iter().filter(|one| one.level() == Level::Full) {
        let (begin, ended) = (Instant::now(), run_limited(confinement, waits, limits));
        assert_eq!((ended.limit, &ended.stdout[..]), (Some(Limit::Stuck), &b""[..]));
        assert!(begin.elapsed() < Duration::from_secs(20), "it went on for {:?}", begin.elapsed());
        // A sleep is a wait with a limit, and a handler of an alarm may end any.
        for goes_on in
            ["sleep 0.5; echo on", "trap 'exit 7' ALRM; (sleep 0.5; kill -ALRM $$) & wait; echo on", "(sleep 0.5; echo on) | cat"]
        {
            let ended = run_limited(confinement, goes_on, limits);
            assert_eq!(ended.limit, None, "{goes_on}");
        }
    }
}
