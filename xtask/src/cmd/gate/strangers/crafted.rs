//! Crafted attacks, one row each: what is altered, which command meets it, and what the tool says (a part of it, or nothing where it may go on).

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use rusqlite::{Connection, params};
use serde_json::json;

use super::world::World;

pub struct Case {
    pub name: &'static str,
    /// Alters the folder; the words of the command.
    attack: fn(&World, &Path) -> Result<Vec<String>>,
    says: &'static str,
}

const FLAGS: &str = "not on the list of harmless flags";

// One more attack: a row.
#[rustfmt::skip]
pub static CASES: &[Case] = &[
    Case { name: "flag plugin", says: FLAGS, attack: |w, x| flags(x, &[&format!("-fplugin={}", mark(w))]) },
    Case { name: "flag pass plugin", says: FLAGS, attack: |w, x| flags(x, &[&format!("-fpass-plugin={}", mark(w))]) },
    Case { name: "flag load", says: FLAGS, attack: |w, x| flags(x, &["-Xclang", "-load", "-Xclang", &mark(w)]) },
    Case { name: "flag dependency file", says: FLAGS, attack: |w, x| flags(x, &["-MD", "-MF", &victim(w)]) },
    Case { name: "flag output", says: FLAGS, attack: |w, x| flags(x, &["-o", &victim(w)]) },
    Case { name: "flag tools", says: FLAGS, attack: |w, x| flags(x, &[&format!("-B{}", text(w, "src/tools"))]) },
    Case { name: "flag linker", says: FLAGS, attack: |w, x| flags(x, &[&format!("-fuse-ld={}", text(w, "src/mark.sh"))]) },
    Case { name: "flag link plugin", says: FLAGS, attack: |w, x| flags(x, &[&format!("-Wl,-plugin,{}", mark(w))]) },
    Case { name: "flag configuration", says: FLAGS, attack: |w, x| flags(x, &[&format!("--config={}", text(w, "src/flags"))]) },
    Case { name: "flag file", says: FLAGS, attack: |w, x| flags(x, &[&format!("@{}", text(w, "src/flags"))]) },
    Case { name: "flag file as a value", says: FLAGS, attack: |w, x| flags(x, &["-D", &format!("@{}", text(w, "src/flags"))]) },
    Case { name: "flag temporary files", says: FLAGS, attack: |w, x| flags(x, &[&format!("-save-temps={}", w.precious.display())]) },
    Case { name: "flag profile", says: FLAGS, attack: |w, x| flags(x, &[&format!("-fprofile-generate={}", w.precious.display())]) },
    Case { name: "flag time trace", says: FLAGS, attack: |w, x| flags(x, &[&format!("-ftime-trace={}", victim(w))]) },
    Case { name: "flag include", says: FLAGS, attack: |_, x| flags(x, &["-include", "/dev/zero"]) },
    Case { name: "host file outside", says: "", attack: |w, x| {
        sql(x, "UPDATE run SET value = '/' WHERE name = 'directory'")?;
        let path = format!("/../../../../../../../..{}", victim(w));
        open(x)?.execute("INSERT INTO host VALUES ('file', ?, NULL, x'6576696c')", params![path.as_bytes()])?;
        replay(x)
    } },
    Case { name: "symbolic file outside", says: "outside of the scratch folder", attack: |_, x| {
        words(x, &["--sym-file", "../../../../../precious/file:4"])?;
        replay(x)
    } },
    Case { name: "symbolic file by its path", says: "", attack: |w, x| { words(x, &["--sym-file", &format!("{}:4", victim(w))])?; replay(x) } },
    Case { name: "program outside", says: "lies outside of the run folder", attack: |_, x| {
        fact(x, "program", "/bin/sh")?;
        without_bitcode(x)
    } },
    Case { name: "program is a flag", says: "is gone", attack: |w, x| { fact(x, "program", &format!("-fplugin={}", mark(w)))?; without_bitcode(x) } },
    Case { name: "objects are flags", says: "is gone", attack: |w, x| {
        fact(x, "objects", &json!([format!("-fplugin={}", mark(w))]).to_string())?;
        without_bitcode(x)
    } },
    Case { name: "an object is a script", says: "is not a relocatable object", attack: |_, x| {
        fs::write(x.join("o.o"), "OUTPUT(/tmp/x)")?;
        fact(x, "objects", &json!([x.join("o.o")]).to_string())?;
        without_bitcode(x)
    } },
    Case { name: "bitcode outside", says: "lies outside of the run folder", attack: |w, x| {
        fs::remove_file(x.join("program.bc"))?;
        fact(x, "bitcode", &text(w, "src/flags"))?;
        replay(x)
    } },
    Case { name: "bitcode is a flag file", says: "is gone", attack: |w, x| {
        fs::remove_file(x.join("program.bc"))?;
        fact(x, "bitcode", &format!("@{}", text(w, "src/flags")))?;
        replay(x)
    } },
    Case { name: "changed bitcode under a seal", says: "has changed since it was explored", attack: |_, x| {
        File::options().append(true).open(x.join("program.bc"))?.write_all_at(b"x", 0)?;
        replay(x)
    } },
    Case { name: "gcov files outside", says: "", attack: |w, x| {
        let (code, gcov) = (x.join("program.bc"), x.with_extension("ll"));
        Command::new("llvm-dis-22").arg("-o").arg(&gcov).arg(&code).status()?;
        let module = fs::read_to_string(&gcov)?;
        let unit = module.lines().find_map(|l| l.strip_prefix("!llvm.dbg.cu = !{")).and_then(|l| l.split([',', '}']).next()).unwrap_or("!0").to_owned();
        let note = w.precious.join("x.gcno");
        fs::write(&gcov, format!("{module}\n!llvm.gcov = !{{!90000}}\n!90000 = !{{!\"{0}\", !\"{0}\", {unit}}}\n", note.display()))?;
        Command::new("llvm-as-22").arg("-o").arg(&code).arg(&gcov).status()?;
        fact(x, "libc", "true ")?;
        Ok(vec!["replay".into(), "--gcov".into(), x.with_extension("counts").display().to_string(), x.display().to_string()])
    } },
    Case { name: "test is a device", says: "not a regular file", attack: |_, x| { fs::remove_file(x.join("test000001.ktest"))?; symlink("/dev/zero", x.join("test000001.ktest"))?; replay(x) } },
    Case { name: "test is a pipe", says: "not a regular file", attack: |_, x| { fs::remove_file(x.join("test000001.json"))?; pipe(&x.join("test000001.json"))?; replay(x) } },
    Case { name: "test says without end", says: "", attack: |_, x| { fs::write(x.join("test000001.json"), "[".repeat(10 << 20))?; replay(x) } },
    Case { name: "recursive view", says: "not those of a run", attack: |_, x| {
        sql(x, "DROP TABLE ledger; CREATE VIEW ledger AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT 'k' kind, x what, 1 count, '' flag FROM c")?;
        show(x)
    } },
    Case { name: "trigger", says: "not those of a run", attack: |_, x| { sql(x, "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END")?; show(x) } },
    Case { name: "virtual table", says: "not those of a run", attack: |_, x| { sql(x, "CREATE VIRTUAL TABLE v USING fts5(a)")?; show(x) } },
    Case { name: "generated column", says: "not those of a run", attack: |_, x| {
        sql(x, "DROP TABLE ledger; CREATE TABLE ledger (kind TEXT, what TEXT AS (hex(zeroblob(100000000))), count INTEGER, flag TEXT)")?;
        show(x)
    } },
    Case { name: "database is a pipe", says: "not a regular file", attack: |_, x| { fs::remove_file(x.join("run.db"))?; pipe(&x.join("run.db"))?; show(x) } },
    Case { name: "database is a link", says: "symbolic link", attack: |_, x| { fs::remove_file(x.join("run.db"))?; symlink("/dev/zero", x.join("run.db"))?; show(x) } },
    Case { name: "log is a pipe", says: "not a regular file", attack: |_, x| { pipe(&x.join("run.db-wal"))?; show(x) } },
    Case { name: "log and its index are noise", says: "", attack: |_, x| {
        fs::write(x.join("run.db-wal"), [0xa5; 9000])?;
        fs::write(x.join("run.db-shm"), [0xff; 32768])?;
        show(x)
    } },
    Case { name: "journal names a file to delete", says: "its journal names another", attack: |w, x| {
        fs::write(x.join("run.db-journal"), super_journal(&fs::read(x.join("run.db"))?, victim(w).as_bytes()))?;
        show(x)
    } },
    Case { name: "sparse database of a terabyte", says: "", attack: |_, x| { File::options().write(true).open(x.join("run.db"))?.set_len(1 << 40)?; show(x) } },
    Case { name: "pages used many times", says: "hold more than the file", attack: |_, x| { bomb(x)?; show(x) } },
    Case { name: "sources are devices", says: "", attack: |w, x| {
        let fifo = x.with_extension("fifo");
        pipe(&fifo)?;
        for file in ["/dev/zero", "/proc/kmsg", "/dev/tty", &fifo.display().to_string(), &w.precious.display().to_string()] {
            open(x)?.execute("INSERT OR REPLACE INTO coverage VALUES (?, 1, 1, 0)", [file])?;
        }
        Ok(vec!["show".into(), x.display().to_string(), "--source".into(), "zero".into(), "--findings".into()])
    } },
    Case { name: "names drive the terminal", says: "\\u001b", attack: |_, x| { hostile_names(x)?; show(x) } },
    Case { name: "names end a record", says: "\\u000aend_of_record", attack: |_, x| {
        hostile_names(x)?;
        Ok(vec!["show".into(), "--lcov".into(), "-".into(), x.display().to_string()])
    } },
    Case { name: "a call stack nests without end", says: "is damaged", attack: |_, x| {
        open(x)?.execute("UPDATE finding SET stack = ?", ["[".repeat(1 << 20)])?;
        show(x)
    } },
    Case { name: "an empty call stack", says: "a call stack is empty", attack: |_, x| { sql(x, "UPDATE finding SET stack = '[]'")?; show(x) } },
    Case { name: "thin archive of a device", says: "not a regular file", attack: |_, x| thin(x, "/dev/zero") },
    Case { name: "thin archive of a pipe", says: "not a regular file", attack: |_, x| { pipe(&x.join("m.o"))?; thin(x, "m.o") } },
    Case { name: "target is a pipe", says: "not a regular file", attack: |_, x| { pipe(&x.join("p.c"))?; explore(x, &[], "p.c") } },
    Case { name: "rule is a pipe", says: "not a regular file", attack: |_, x| { pipe(&x.join("r.toml"))?; explore(x, &["--rule", &x.join("r.toml").display().to_string()], "../../../src/files.c") } },
    Case { name: "summaries are a device", says: "not a regular file", attack: |_, x| explore(x, &["--rule", "open-close", "--summaries", "/dev/zero"], "../../../src/files.c") },
    Case { name: "output that everybody writes to", says: "everybody can write", attack: |_, x| {
        let out = x.join("open");
        fs::create_dir(&out)?;
        fs::set_permissions(&out, fs::Permissions::from_mode(0o777))?;
        Ok(vec!["run".into(), "--output".into(), out.display().to_string(), "faulty.c".into(), "--sym-arg".into(), "1".into()])
    } },
    Case { name: "output with a planted link", says: "is not empty", attack: |w, x| {
        let out = x.join("planted");
        fs::create_dir(&out)?;
        symlink(victim(w), out.join("run.db"))?;
        Ok(vec!["run".into(), "--output".into(), out.display().to_string(), "faulty.c".into(), "--sym-arg".into(), "1".into()])
    } },
];

/// Tries one.
pub fn run(world: &World, case: &Case) -> Result<String> {
    let dir = world.at("case").join(case.name.replace(' ', "-"));
    let folder = world.copy(0, &dir)?;
    let (answer, done) = world.run(None, &(case.attack)(world, &folder)?)?;
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    ensure!(said.contains(case.says), "it does not say `{}`: {said}", case.says);
    fs::remove_dir_all(dir)?;
    Ok(answer)
}

fn text(world: &World, name: &str) -> String {
    world.at(name).display().to_string()
}

fn mark(world: &World) -> String {
    text(world, "src/mark.so")
}

fn victim(world: &World) -> String {
    world.precious.join("file").display().to_string()
}

fn open(folder: &Path) -> Result<Connection> {
    Ok(Connection::open(folder.join("run.db"))?)
}

fn sql(folder: &Path, text: &str) -> Result<()> {
    Ok(open(folder)?.execute_batch(text)?)
}

fn fact(folder: &Path, name: &str, value: &str) -> Result<()> {
    open(folder)?.execute("INSERT OR REPLACE INTO run VALUES (?, ?)", [name, value])?;
    Ok(())
}

fn words(folder: &Path, words: &[&str]) -> Result<()> {
    fact(folder, "words", &json!(words).to_string())
}

fn show(folder: &Path) -> Result<Vec<String>> {
    Ok(vec!["show".into(), folder.display().to_string()])
}

fn replay(folder: &Path) -> Result<Vec<String>> {
    Ok(vec!["replay".into(), folder.display().to_string()])
}

fn flags(folder: &Path, flags: &[&str]) -> Result<Vec<String>> {
    fact(folder, "cc_flags", &json!(flags).to_string())?;
    replay(folder)
}

fn without_bitcode(folder: &Path) -> Result<Vec<String>> {
    fs::remove_file(folder.join("program.bc"))?;
    sql(folder, "DELETE FROM run WHERE name = 'bitcode'")?;
    replay(folder)
}

fn explore(folder: &Path, options: &[&str], target: &str) -> Result<Vec<String>> {
    let (out, target) = (folder.join("out").display().to_string(), folder.join(target).display().to_string());
    let mut words = vec![if options.is_empty() { "run".to_owned() } else { "verify".to_owned() }, "--output".into(), out];
    words.extend(options.iter().map(|o| (*o).to_owned()));
    words.push(target);
    Ok(words)
}

fn pipe(file: &Path) -> Result<()> {
    ensure!(Command::new("mkfifo").arg(file).status()?.success(), "cannot make the pipe `{}`", file.display());
    Ok(())
}

/// An archive that has its one member elsewhere.
fn thin(folder: &Path, member: &str) -> Result<Vec<String>> {
    let names = format!("{member}/\n");
    let head = |name: &str, size: usize| format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644);
    let even = if names.len() % 2 == 0 { "" } else { "\n" };
    let file = folder.join("thin.a");
    fs::write(&file, format!("!<thin>\n{}{names}{even}{}", head("//", names.len()), head("/0", 100)))?;
    Ok(vec!["extract".into(), file.display().to_string()])
}

/// Makes the few rows of a table hundreds of millions: three levels of pages above them, whose every cell leads to the same page.
fn bomb(folder: &Path) -> Result<()> {
    let db = open(folder)?;
    let number = |query: &str| db.query_row(query, [], |row| row.get::<_, u32>(0)).map(|n| n as usize);
    let page = number("PRAGMA page_size")?;
    let root = number("SELECT rootpage FROM sqlite_schema WHERE name = 'path'")?;
    drop(db);
    let file = folder.join("run.db");
    let mut bytes = fs::read(&file)?;
    let leaf = bytes[(root - 1) * page..root * page].to_vec();
    ensure!(leaf[0] == 13, "the table `path` has more than one page");
    let above = |child: usize| {
        // A page number and a key each, from the end of the page; their places follow the header of 12 bytes.
        let (cells, child) = ((page - 12) / 8, (child as u32).to_be_bytes());
        let mut made = vec![0; page];
        made[0] = 5;
        made[3..5].copy_from_slice(&(cells as u16).to_be_bytes());
        made[8..12].copy_from_slice(&child);
        for cell in 0..cells {
            let at = page - 6 * (cell + 1);
            made[at..at + 4].copy_from_slice(&child);
            made[at + 4..at + 6].copy_from_slice(&[0x81, cell as u8 & 0x7f]);
            made[12 + 2 * cell..14 + 2 * cell].copy_from_slice(&(at as u16).to_be_bytes());
        }
        made[5..7].copy_from_slice(&((page - 6 * cells) as u16).to_be_bytes());
        made
    };
    bytes.extend(leaf);
    for _ in 0..2 {
        let last = bytes.len() / page;
        bytes.extend(above(last));
    }
    let last = bytes.len() / page;
    bytes[(root - 1) * page..root * page].copy_from_slice(&above(last));
    bytes[28..32].copy_from_slice(&(last as u32).to_be_bytes());
    Ok(fs::write(file, bytes)?)
}

const NAME: &str = "a\u{1b}[2J\nend_of_record\nno finding; every path was explored\u{202e}\u{9b}m";

fn hostile_names(folder: &Path) -> Result<()> {
    let db = open(folder)?;
    db.execute("UPDATE finding SET message = ?, source_line = ?", [NAME, NAME])?;
    db.execute("UPDATE OR REPLACE coverage SET file = ?", [NAME])?;
    db.execute("UPDATE OR REPLACE function SET name = ?", [NAME])?;
    db.execute("UPDATE path SET what = ?", [NAME])?;
    db.execute("INSERT OR REPLACE INTO ledger VALUES (?, ?, 1, ?)", [NAME, NAME, NAME])?;
    Ok(())
}

/// A rollback journal that, once it is undone, has SQLite delete the file it names.
fn super_journal(database: &[u8], name: &[u8]) -> Vec<u8> {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let page = 4096;
    let number = |n: usize| (n as u32).to_be_bytes();
    let mut journal = MAGIC.to_vec();
    for n in [1, 0, database.len() / page, 512, page] {
        journal.extend(number(n));
    }
    journal.resize(512, 0);
    let content = &database[page..2 * page];
    let sum: usize =
        (1..).map(|i| page.wrapping_sub(200 * i)).take_while(|at| *at > 0 && *at < page).map(|at| usize::from(content[at])).sum();
    journal.extend(number(2));
    journal.extend(content);
    journal.extend(number(sum));
    journal.extend(number((1 << 30) / page + 1));
    journal.extend(name);
    journal.extend(number(name.len()));
    journal.extend(number(name.iter().map(|b| usize::from(*b)).sum()));
    journal.extend(MAGIC);
    journal
}
