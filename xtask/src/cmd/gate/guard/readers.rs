//! Random programs that read files and standard input, of random lengths, in the ways that programs do. What they read decides what they compute, and
//! whether they crash. So an answer by a stored path that forgets a length, an end of file or a byte shows as a false one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::place::{Input, Place};
use super::{Counts, Subject, judge};
use crate::random::Random;

/// Questions about each program.
const QUESTIONS: usize = 14;
/// Of these every third one that is missed is verified.
const VERIFIED: usize = 3;
/// Longest content.
const LONGEST: usize = 20;

const HEADERS: &str = "#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
static int sum;
static void crash(void) { *(volatile int *)0 = sum; }
";

/// How a program reads up to MOST bytes of a descriptor or a file into `b`, of 32 bytes; `n` says how many there were.
const DESCRIPTOR: [&str; 5] = [
    "n = read(fd, b, MOST);",
    "long k; while (n < MOST && (k = read(fd, b + n, 3)) > 0) n += k;",
    "struct stat s; fstat(fd, &s); n = s.st_size; if (n > MOST) n = MOST; if (n < 0) n = 0;",
    "n = lseek(fd, 0, SEEK_END); if (n > MOST) n = MOST; lseek(fd, 0, SEEK_SET); if (n > 0) n = read(fd, b, n);",
    "struct stat s; fstat(fd, &s); n = s.st_size < MOST ? s.st_size : MOST;\
     if (n > 0) { void *m = mmap(0, n, PROT_READ, MAP_PRIVATE, fd, 0); if (m != MAP_FAILED) { memcpy(b, m, n); munmap(m, n); } else n = -1; }",
];
const STREAM: [&str; 4] = [
    "n = fread(b, 1, MOST, f);",
    "int c; while (n < MOST && (c = getc(f)) != EOF) b[n++] = c;",
    "if (fgets((char *)b, MOST + 1, f)) n = strlen((char *)b);",
    "n = fread(b, 1, MOST, f); sum += 2 * (feof(f) != 0);",
];

/// One function that reads and decides.
fn look(number: usize, random: &mut Random) -> String {
    let source = ["f", "g", "-"][random.below(3)];
    let most = 1 + random.below(LONGEST);
    let (ways, [input, opened, close]) = match random.below(2) {
        0 => (&DESCRIPTOR[..], ["int fd = 0;", "int fd = open(\"PATH\", O_RDONLY); if (fd < 0) return -1;", "close(fd);"]),
        _ => (&STREAM[..], ["FILE *f = stdin;", "FILE *f = fopen(\"PATH\", \"r\"); if (!f) return -1;", "fclose(f);"]),
    };
    let way = ways[random.below(ways.len())];
    let read = if source == "-" { format!("{input} {way}") } else { format!("{} {way} {close}", opened.replace("PATH", source)) };
    let read = read.replace("MOST", &most.to_string());
    let mut decides = String::new();
    for _ in 0..1 + random.below(3) {
        let (at, length) = (random.below(6), random.below(most + 2));
        let condition = match random.below(6) {
            0 => format!("n == {length}"),
            1 => format!("n > {length}"),
            2 => format!("n % 3 == {}", random.below(3)),
            3 => format!("n > {at} && b[{at}] == 'a'"),
            4 => format!("n > {at} && b[n - 1] == 'b'"),
            _ => "memchr(b, 'c', n > 0 ? n : 0)".to_owned(),
        };
        let then = if random.below(4) == 0 { "crash();".to_owned() } else { format!("sum += {};", 1 + random.below(9)) };
        decides.push_str(&format!("    if ({condition})\n        {then}\n"));
    }
    format!("static int look{number}(void) {{\n    unsigned char b[32] = {{0}}; long n = 0;\n    {read}\n{decides}    return n;\n}}\n")
}

fn program(random: &mut Random) -> String {
    let count = 1 + random.below(3);
    let looks: String = (0..count).map(|number| look(number, random)).collect();
    let calls: String = (0..count).map(|number| format!("    look{number}();\n")).collect();
    format!("{HEADERS}{looks}int main(void) {{\n{calls}    if (sum == {})\n        crash();\n    return sum;\n}}\n", 3 + random.below(12))
}

fn content(random: &mut Random) -> String {
    let length = random.below(LONGEST);
    (0..length).map(|_| ['a', 'b', 'c', 'd', '\n'][random.below(5)]).collect()
}

/// Leaves a file as it is, writes it, or removes it.
fn shuffle(file: &Path, random: &mut Random) -> Result<()> {
    match random.below(5) {
        0 => _ = fs::remove_file(file),
        1 | 2 => fs::write(file, content(random))?,
        _ => {}
    }
    Ok(())
}

/// Asks about so many programs.
pub fn run(place: &Place, programs: usize, random: &mut Random) -> Result<Counts> {
    let mut count = Counts::default();
    for number in 0..programs {
        let source = program(random);
        let subject = Subject::of(place.compile(&format!("reader{number}"), &source)?)?;
        for question in 0..QUESTIONS {
            for file in ["good/f", "good/g"] {
                shuffle(&place.path(file), random)?;
            }
            let stdin = (random.below(4) > 0).then(|| content(random));
            let input = Input::of_stdin(stdin, random.below(3) > 0);
            judge(place, &subject, &input, question % VERIFIED == 0, &mut count).with_context(|| source.clone())?;
        }
        fs::remove_file(&subject.file)?;
    }
    Ok(count)
}
