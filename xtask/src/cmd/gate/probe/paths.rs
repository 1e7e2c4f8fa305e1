//! Paper 2, Figure 3: how many paths reach how many unique branches, with pointers that stay unbound and with objects made on demand.
//!
//! Fifteen functions of four libraries that live on pointers, one minute each. The base is the same engine on the same functions; there the first
//! use of a pointer that came from outside ends the path (`--pointers plain`).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::libraries::Library;

#[derive(clap::Args)]
pub struct Args {
    /// A folder with the unpacked sources of the libraries (default: Debian's, fetched by apt)
    #[arg(long)]
    sources: Option<PathBuf>,
    /// Time for one function
    #[arg(long, default_value = "60s")]
    max_time: String,
    /// Where bitcode is kept, as `gate probe-sweep` does
    #[arg(long, default_value = "target/probe-sweep")]
    folder: PathBuf,
    /// Where the histogram goes
    #[arg(long, default_value = "docs/results/probe-paths.svg")]
    picture: PathBuf,
    /// How many times as many paths there have to be
    #[arg(long, default_value_t = 30)]
    times: u64,
    /// Mean coverage of the functions' blocks, in a hundred
    #[arg(long, default_value_t = 60)]
    coverage: u64,
}

/// One more function: a row.
const FUNCTIONS: [(&str, &str); 15] = [
    ("json-c", "array_list_del_idx"),
    ("json-c", "json_object_iter_next"),
    ("json-c", "json_object_put"),
    ("json-c", "lh_table_delete_entry"),
    ("json-c", "lh_table_insert_w_hash"),
    ("liblzma", "lzma_index_cat"),
    ("liblzma", "lzma_filters_copy"),
    ("liblzma", "lzma_index_append"),
    ("liblzma", "lzma_index_iter_next"),
    ("libpng", "png_free_data"),
    ("libpng", "png_set_sPLT"),
    ("libpng", "png_set_text_2"),
    ("zlib", "deflateParams"),
    ("zlib", "inflateReset2"),
    ("zlib", "inflateSetDictionary"),
];

/// What one probe came to.
#[derive(Default)]
struct Reached {
    /// Paths by the number of unique branches on them.
    paths: BTreeMap<u64, u64>,
    entered: u64,
    blocks: u64,
}

impl Reached {
    fn count(&self) -> u64 {
        self.paths.values().sum()
    }

    fn depth(&self) -> f64 {
        let all: u64 = self.paths.iter().map(|(branches, paths)| branches * paths).sum();
        all as f64 / self.count().max(1) as f64
    }
}

pub fn run(args: &Args) -> Result<()> {
    fs::create_dir_all(&args.folder)?;
    let (mut base, mut lazy) = (BTreeMap::new(), BTreeMap::new());
    let (mut covered, mut total) = (0.0, [0, 0]);
    println!("function                    base paths  paths  base branches  branches  coverage %");
    for (library, function) in FUNCTIONS {
        let bitcode = args.folder.join(format!("{library}.bc"));
        if !bitcode.exists() {
            Library::named(library)?.bitcode(args.sources.as_deref(), &args.folder)?;
        }
        let (plain, made) = (probe(&bitcode, function, "plain", args)?, probe(&bitcode, function, "lazy", args)?);
        let coverage = made.entered as f64 / made.blocks.max(1) as f64;
        println!(
            "{function:26}  {:10}  {:5}  {:13.1}  {:8.1}  {:10.0}",
            plain.count(),
            made.count(),
            plain.depth(),
            made.depth(),
            100.0 * coverage
        );
        covered += coverage;
        for (i, (one, all)) in [(&plain, &mut base), (&made, &mut lazy)].into_iter().enumerate() {
            total[i] += one.count();
            one.paths.iter().for_each(|(branches, paths)| *all.entry(*branches).or_insert(0) += paths);
        }
    }
    let coverage = 100.0 * covered / FUNCTIONS.len() as f64;
    let times = total[1] as f64 / total[0].max(1) as f64;
    println!("{} paths against {}: {times:.0} times as many; mean coverage {coverage:.0} %", total[1], total[0]);
    fs::write(&args.picture, picture(&base, &lazy)).with_context(|| format!("cannot write `{}`", args.picture.display()))?;
    ensure!(total[1] >= args.times * total[0], "less than {} times the paths of the base", args.times);
    ensure!(coverage >= args.coverage as f64, "the mean coverage is below {} %", args.coverage);
    Ok(())
}

fn probe(bitcode: &Path, function: &str, pointers: &str, args: &Args) -> Result<Reached> {
    let mut tool = Command::new(super::super::wryneck());
    let options = ["probe", "--json", "--quiet", "--no-replay", "--pointers", pointers, "--stale", "1000000", "--stale-time", "1h"];
    let ran = tool.args(options).args(["--max-time", &args.max_time, "--function", function]).arg(bitcode).output()?;
    let text = String::from_utf8_lossy(&ran.stdout);
    let line = text.lines().next().with_context(|| format!("no result for `{function}`: {}", String::from_utf8_lossy(&ran.stderr)))?;
    let result: Value = serde_json::from_str(line)?;
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let paths = result["branches"].as_object().into_iter().flatten();
    let paths = paths.filter_map(|(branches, paths)| Some((branches.parse().ok()?, number(paths)))).collect();
    Ok(Reached { paths, entered: number(&result["blocks"][0]), blocks: number(&result["blocks"][1]) })
}

/// The histogram: paths (a logarithmic scale) by unique branches, the base in black over the other in white, as the paper has it.
fn picture(base: &BTreeMap<u64, u64>, lazy: &BTreeMap<u64, u64>) -> String {
    const WIDTH: f64 = 760.0;
    const HEIGHT: f64 = 320.0;
    const LEFT: f64 = 60.0;
    const BOTTOM: f64 = 40.0;
    let most = base.keys().chain(lazy.keys()).max().copied().unwrap_or(1).max(1);
    let top = base.values().chain(lazy.values()).max().copied().unwrap_or(1).max(10) as f64;
    let bar = (WIDTH - LEFT) / (most + 1) as f64;
    let height = |paths: u64| (HEIGHT - 20.0) * ((paths + 1) as f64).log10() / (top + 1.0).log10();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{}\" fill=\"#fff\"/>\n",
        HEIGHT + BOTTOM,
        HEIGHT + BOTTOM
    );
    for (all, fill) in [(lazy, "#fff"), (base, "#000")] {
        for (branches, paths) in all {
            let (x, h) = (LEFT + bar * *branches as f64, height(*paths));
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{h:.1}\" fill=\"{fill}\" stroke=\"#000\" stroke-width=\"0.6\"/>",
                HEIGHT - h,
                bar * 0.9
            );
        }
    }
    for exponent in 0..=(top.log10() as u32) {
        let y = HEIGHT - height(10u64.pow(exponent));
        let _ = writeln!(out, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", LEFT - 6.0, y + 4.0, 10u64.pow(exponent));
    }
    for branches in (0..=most).step_by((most as usize / 10).max(1)) {
        let x = LEFT + bar * (branches as f64 + 0.45);
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{branches}</text>", HEIGHT + 16.0);
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">unique branches on a path (black: base; white: objects on demand; paths on a \
         logarithmic scale)</text>\n</svg>",
        WIDTH / 2.0,
        HEIGHT + 34.0
    );
    out
}
