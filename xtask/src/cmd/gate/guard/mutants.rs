//! Mutated stores: bytes changed, cut off, added, mixed with those of other programs. None makes an answer that is wrong, and none is used.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::place::{Input, Place};
use crate::random::Random;

/// How many stores were set aside.
pub fn run(place: &mut Place, mutants: usize, random: &mut Random) -> Result<usize> {
    // A small store makes a mutation more likely to matter.
    fs::remove_dir_all(place.store())?;
    let risky = place.risky.clone();
    let crash = Input::plain(&["-a", "-b"]);
    let well = Input::plain(&["-b"]);
    for input in [&well, &crash] {
        place.answer(&risky, input, true)?;
    }
    let whole = file(place, "paths")?;
    let (bytes, sum) = (fs::read(&whole)?, fs::read(whole.with_extension("sum")).unwrap_or_default());
    let second = place.compile("second", "int main(int argc, char **argv) { return argc > 1 && argv[1][0] == 'x'; }\n")?;
    place.answer(&second, &Input::plain(&[]), true)?;
    let other = fs::read_dir(place.store())?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|ending| ending == "paths") && *path != whole)
        .context("there is no second store")?;
    let other = fs::read(other)?;
    let mut aside = 0;
    for number in 0..mutants {
        let mut mutant = bytes.clone();
        match random.below(6) {
            0 => mutant.truncate(random.below(bytes.len())),
            1 => mutant.extend((0..1 + random.below(100)).map(|_| random.below(256) as u8)),
            2 => {
                let (at, len) = (random.below(bytes.len()), random.below(64));
                let piece: Vec<u8> = other.iter().skip(at % other.len()).take(len).copied().collect();
                let end = (at + piece.len()).min(mutant.len());
                mutant[at..end].copy_from_slice(&piece[..end - at]);
            }
            3 if random.below(20) == 0 => mutant = other.clone(),
            _ => {
                for _ in 0..1 + random.below(4) {
                    let at = random.below(mutant.len());
                    mutant[at] = random.below(256) as u8;
                }
            }
        }
        let changed = mutant != bytes;
        fs::write(&whole, &mutant)?;
        // Sometimes what vouches for the file is the old one, or rubbish.
        let vouches: Vec<u8> = if random.below(2) == 0 { sum.clone() } else { (0..32).map(|_| random.below(256) as u8).collect() };
        fs::write(whole.with_extension("sum"), vouches)?;
        let answer = place.answer(&risky, &crash, false).with_context(|| format!("mutant {number}"))?;
        ensure!(answer.kind != "clean", "mutant {number}: a crash is called clean");
        ensure!(!changed || answer.kind == "miss", "mutant {number}: the store is used though it was changed: {}", answer.kind);
        aside += usize::from(whole.with_extension("damaged").exists());
        let _ = fs::remove_file(whole.with_extension("damaged"));
    }
    Ok(aside)
}

fn file(place: &Place, ending: &str) -> Result<PathBuf> {
    let all = fs::read_dir(place.store())?.flatten().map(|entry| entry.path());
    all.into_iter().find(|path| path.extension().is_some_and(|e| e == ending)).context("there is no store")
}
