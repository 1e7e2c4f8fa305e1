//! Kills at random moments of verification and writing: the store stays readable, no process is left, and what it says stays true.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use super::place::{Input, Place};
use super::{Counts, Subject, judge};
use crate::random::Random;

/// How long a worker may outlive who started it.
const GONE: Duration = Duration::from_secs(3);

/// How many of the kills met a process that still ran.
pub fn run(place: &mut Place, kills: usize, random: &mut Random) -> Result<usize> {
    let mut met = 0;
    for number in 0..kills {
        // New words, so that there is something to verify; every third kill comes in a background verification.
        let input = Input::plain(&[&format!("w{number}"), &random.below(90).to_string(), "-a"]);
        let paths = (1 + random.below(3000)).to_string();
        let options: &[&str] = &["--budget", "3s", "--max-paths", &paths, "--on-miss", "verify"];
        let mut child = place.start(options, &place.risky.clone(), &input)?;
        let most = 1 << random.below(11);
        std::thread::sleep(Duration::from_millis(random.below(most) as u64));
        met += usize::from(child.try_wait()?.is_none());
        let _ = child.kill();
        child.wait()?;
        let since = Instant::now();
        while let Some(process) = worker(place)? {
            if since.elapsed() > GONE {
                bail!("kill {number}: process {process} verifies though who asked for it is gone");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let status = place.status()?;
        ensure!(
            status.code == Some(0) && !status.out.contains("damaged"),
            "kill {number}: the store is damaged: {}{}",
            status.out,
            status.err
        );
        if number % 10 == 9 {
            let (risky, mut count) = (Subject::of(place.risky.clone())?, Counts::default());
            for _ in 0..5 {
                judge(place, &risky, &Input::risky(random), false, &mut count)?;
            }
        }
    }
    Ok(met)
}

/// A process that verifies for this place.
fn worker(place: &Place) -> Result<Option<String>> {
    let cache = format!("WRYNECK_CACHE={}", place.path("cache").display());
    for entry in fs::read_dir("/proc")?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let of = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
        let has = |bytes: &[u8], word: &str| bytes.split(|b| *b == 0).any(|part| part == word.as_bytes());
        if name.bytes().all(|b| b.is_ascii_digit()) && has(&of("cmdline"), "--worker") && has(&of("environ"), &cache) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
