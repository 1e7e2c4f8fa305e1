//! Coverage: which lines and functions have code, and which of them some path ran.
//!
//! Built once per run (sorting the program's source positions: about 1 ms per 10,000). Afterwards only new coverage is processed. The
//! lines of machine code are those of its debug information. Its blocks are added as code is lifted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use wryneck_exec::{Image, places};
use wryneck_ir::{Function, Module, Range};
use wryneck_report::Lines;

/// The lines and functions of a program, and the blocks that hold them.
pub struct LineMap {
    lines: Vec<Line>,
    functions: Vec<FunctionAt>,
    /// Blocks of the application: ranges over the program's.
    blocks: Vec<(u32, u32)>,
    growing: Option<Growing>,
    /// Lines that an earlier run covered.
    before: BTreeSet<(String, u32)>,
}

/// Machine code: its blocks are lowered while it runs.
struct Growing {
    /// Blocks that are in `lines`.
    known: u32,
    /// Places in `lines`.
    lines: BTreeMap<(Arc<str>, u32), usize>,
}

struct Line {
    file: Arc<str>,
    line: u32,
    library: bool,
    /// Blocks over the program.
    blocks: Vec<u32>,
    told: Told,
}

struct FunctionAt {
    row: FunctionRow,
    block: u32,
    told: Told,
}

/// What was reported of a line or function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    NotRun,
    Ran,
}

/// A line with code.
#[derive(Clone)]
pub struct LineRow {
    pub file: Arc<str>,
    pub line: u32,
    pub library: bool,
    pub covered: bool,
}

/// A function with code.
#[derive(Clone)]
pub struct FunctionRow {
    pub file: Arc<str>,
    /// Where it begins.
    pub line: u32,
    pub name: Arc<str>,
    pub library: bool,
    pub entered: bool,
}

impl LineMap {
    pub fn new(image: &Image) -> LineMap {
        let (mut files, mut held, mut functions, mut blocks) = (Files::default(), Vec::new(), Vec::new(), Vec::new());
        for func in 0..image.program.functions().len() as u32 {
            let (module, f) = image.function(func);
            let start = module.locations[f.loc as usize];
            let came_along = |file| places::is_of_toolchain(module.str(file));
            let (library, first) = (image.is_library(func) || came_along(start.file), image.first_block_of(func));
            if !library {
                blocks.push((first, first + f.blocks.count));
            }
            if start.line != 0 {
                let (file, name) = (files.name(module, start.file), image.name(func).into());
                let row = FunctionRow { file, line: start.line, name, library, entered: false };
                functions.push(FunctionAt { row, block: first, told: Told::Nothing });
            }
            positions(module, f, first, |file, line, block| {
                held.push((files.number(module, file), line, block, library || came_along(file)));
            });
        }
        functions.sort_by(|a, b| (&a.row.file, a.row.line, &a.row.name).cmp(&(&b.row.file, b.row.line, &b.row.name)));
        held.sort_unstable();
        held.dedup();
        let of = |all: &[(u32, u32, u32, bool)]| Line {
            file: files.all[all[0].0 as usize].clone(),
            line: all[0].1,
            library: all.iter().all(|(.., library)| *library),
            blocks: all.iter().map(|(_, _, block, _)| *block).collect(),
            told: Told::Nothing,
        };
        LineMap {
            lines: held.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(of).collect(),
            functions,
            blocks,
            growing: None,
            before: BTreeSet::new(),
        }
    }

    /// Of machine code, which has these lines.
    pub fn of_machine_code(image: &Image, lines: &[(String, u32)]) -> LineMap {
        let mut files: BTreeMap<&str, Arc<str>> = BTreeMap::new();
        let lines = lines.iter().map(|(file, line)| {
            let file = files.entry(file).or_insert_with(|| file.as_str().into()).clone();
            Line { file, line: *line, library: false, blocks: Vec::new(), told: Told::Nothing }
        });
        let lines: Vec<Line> = lines.collect();
        let index = lines.iter().enumerate().map(|(i, l)| ((l.file.clone(), l.line), i)).collect();
        let mut map = LineMap {
            lines,
            functions: Vec::new(),
            blocks: Vec::new(),
            growing: Some(Growing { known: 0, lines: index }),
            before: BTreeSet::new(),
        };
        map.grow(image);
        map
    }

    /// Takes in the lines that an earlier run covered.
    pub fn go_on(&mut self, covered: BTreeSet<(String, u32)>) {
        self.before = covered;
    }

    /// Takes in what was lowered since it was last asked.
    pub fn grow(&mut self, image: &Image) {
        let (Some(Growing { known, lines: index }), Some(machine)) = (&mut self.growing, image.machine_code()) else { return };
        let (module, f) = image.function(machine.func);
        let new = &module.blocks.range(f.blocks)[*known as usize..];
        let mut names = Files::default();
        for (block, b) in (machine.first.block + *known..).zip(new) {
            positions_of(module, b.insts, |file, line, library| {
                let file = names.name(module, file);
                let next = self.lines.len();
                let at = *index.entry((file.clone(), line)).or_insert(next);
                if at == next {
                    self.lines.push(Line { file, line, library, blocks: Vec::new(), told: Told::Nothing });
                }
                self.lines[at].blocks.push(block);
            });
        }
        *known = f.blocks.count;
    }

    /// Lines and functions whose state has not been reported yet.
    pub fn news(&mut self, coverage: &[u8]) -> (Vec<LineRow>, Vec<FunctionRow>) {
        let lines = self.lines.iter_mut().filter_map(|l| {
            let covered = l.told == Told::Ran || ran(&l.blocks, coverage) || is_among(&self.before, l);
            is_news(&mut l.told, covered).then(|| LineRow { file: l.file.clone(), line: l.line, library: l.library, covered })
        });
        let functions = self.functions.iter_mut().filter_map(|f| {
            let entered = coverage[f.block as usize] != 0;
            is_news(&mut f.told, entered).then(|| FunctionRow { entered, ..f.row.clone() })
        });
        (lines.collect(), functions.collect())
    }

    /// Lines of the application.
    pub fn count(&self, coverage: &[u8]) -> Lines {
        let application = || self.lines.iter().filter(|l| !l.library);
        Lines {
            covered: application().filter(|l| ran(&l.blocks, coverage) || is_among(&self.before, l)).count() as u64,
            all: application().count() as u64,
        }
    }

    /// Share of the application's blocks that were entered, of machine code of its lines, from 0 to 1. Cheap enough for progress.
    pub fn share(&self, coverage: &[u8]) -> f64 {
        if self.growing.is_some() {
            let lines = self.count(coverage);
            return lines.covered as f64 / lines.all.max(1) as f64;
        }
        let (mut all, mut covered) = (0, 0);
        for &(first, end) in &self.blocks {
            all += end - first;
            covered += coverage[first as usize..end as usize].iter().map(|&b| u32::from(b)).sum::<u32>();
        }
        f64::from(covered) / f64::from(all.max(1))
    }
}

fn ran(blocks: &[u32], coverage: &[u8]) -> bool {
    blocks.iter().any(|&b| coverage[b as usize] != 0)
}

fn is_among(before: &BTreeSet<(String, u32)>, line: &Line) -> bool {
    !before.is_empty() && before.contains(&(line.file.to_string(), line.line))
}

fn is_news(told: &mut Told, ran: bool) -> bool {
    let now = if ran { Told::Ran } else { Told::NotRun };
    std::mem::replace(told, now) != now
}

/// The source positions of a function, by block; in a row the same is given once.
fn positions(module: &Module, f: &Function, first: u32, mut give: impl FnMut(u32, u32, u32)) {
    for (block, b) in (first..).zip(module.blocks.range(f.blocks)) {
        positions_of(module, b.insts, |file, line, _| give(file, line, block));
    }
}

/// As [`positions`], of these instructions.
fn positions_of(module: &Module, insts: Range, mut give: impl FnMut(u32, u32, bool)) {
    let mut before = (0, 0);
    for &loc in module.inst_locs.range(insts) {
        let l = module.locations[loc as usize];
        if l.line != 0 && before != (l.file, l.line) {
            before = (l.file, l.line);
            give(l.file, l.line, l.library != 0);
        }
    }
}

/// Names of files, numbered over all modules.
#[derive(Default)]
struct Files {
    all: Vec<Arc<str>>,
    by_name: BTreeMap<Arc<str>, u32>,
    /// By a name's number in the module at hand; modules come one after the other.
    known: BTreeMap<u32, u32>,
    module: usize,
}

impl Files {
    fn number(&mut self, module: &Module, file: u32) -> u32 {
        let at = std::ptr::from_ref(module).addr();
        if at != self.module {
            self.known.clear();
            self.module = at;
        }
        if let Some(&number) = self.known.get(&file) {
            return number;
        }
        let name: Arc<str> = module.str(file).into();
        let next = self.all.len() as u32;
        let number = *self.by_name.entry(name.clone()).or_insert(next);
        if number == next {
            self.all.push(name);
        }
        self.known.insert(file, number);
        number
    }

    fn name(&mut self, module: &Module, file: u32) -> Arc<str> {
        let number = self.number(module, file);
        self.all[number as usize].clone()
    }
}
