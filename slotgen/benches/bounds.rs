//! What the source front end costs, beside what the project allows: fails where a value is over its bound.
//!
//! `CPYTHON_SOURCE` names the tree; without it `target/cpython/3.13.5` is used, where `cargo xtask` keeps it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use rayon::prelude::*;
use slotgen::diagnostics::Diagnostics;
use slotgen::emit::Mode;
use slotgen::extract::extract;
use slotgen::preprocess::Configuration;
use slotgen::source::Tree;
use slotgen::unchanged::Unchanged;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use tree_sitter::Parser;

const DIRECTORIES: [&str; 3] = ["Objects", "Python", "Modules"];
const ROUNDS: usize = 7;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn root() -> PathBuf {
    let cached = || repository().join("target/cpython/3.13.5");
    std::env::var_os("CPYTHON_SOURCE").map_or_else(cached, PathBuf::from)
}

/// Facts from cold: the files are read from disk.
fn facts(root: &Path) -> usize {
    let tree = Tree::open(root).expect("CPYTHON_SOURCE names a CPython tree");
    let configuration = Configuration::named("release", tree.release()).expect("a named configuration");
    let mut diagnostics = Diagnostics::default();
    extract(&tree, &configuration, &mut diagnostics).expect("facts").types.len()
}

/// tree-sitter alone on the same C files as they are, read from disk too.
fn parse(root: &Path) -> usize {
    let tree = Tree::open(root).expect("a tree");
    let units: Vec<&str> = DIRECTORIES.iter().flat_map(|directory| tree.units(directory)).collect();
    let parse = |path: &&str| {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c::LANGUAGE.into()).expect("the grammar");
        let text = tree.file(path).expect("a file").text();
        parser.parse(text, None).expect("a tree").root_node().child_count() as usize
    };
    units.par_iter().map(parse).sum()
}

/// The quickest of some rounds, in seconds; both sides take turns, so that what else the machine does hits both.
fn side_by_side(one: impl Fn() -> usize, other: impl Fn() -> usize) -> (f64, f64) {
    let time = |run: &dyn Fn() -> usize| {
        let start = Instant::now();
        black_box(run());
        start.elapsed().as_secs_f64()
    };
    let rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (time(&one), time(&other))).collect();
    rounds.into_iter().fold((f64::MAX, f64::MAX), |best, round| (best.0.min(round.0), best.1.min(round.1)))
}

/// The most memory that this process has held, in megabytes.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
}

/// Seconds of `regen --check` where nothing has changed since the last one.
fn unchanged(root: &Path) -> f64 {
    let generated = repository().join("generated");
    let records = std::env::temp_dir().join(format!("slotgen-bounds-{}", std::process::id()));
    let check = || {
        let trees = [Tree::open(root).expect("a tree")];
        let unchanged = Unchanged { records: &records, trees: &trees, generated: &generated };
        unchanged.recall().is_some_and(|found| found == "up to date").then_some(()).ok_or(trees)
    };
    let Err(trees) = check() else { panic!("nothing is known before the first check") };
    let rust = trees.each_ref().map(|tree| tree.release().series());
    let report = slotgen::generate(&trees, &rust, &generated, Mode::Check).expect("generated");
    println!("first check: {} files, {} to change", report.files, report.changes.len());
    Unchanged { records: &records, trees: &trees, generated: &generated }.remember("up to date").expect("a record");
    let start = Instant::now();
    check().map_err(drop).expect("nothing has changed");
    let seconds = start.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&records).expect("own folder");
    seconds
}

fn main() -> ExitCode {
    let root = root();
    let types = facts(&root);
    let memory = peak();
    let (facts, parse) = side_by_side(|| facts(&root), || parse(&root));
    println!("{types} types; facts from cold {:.0} ms, tree-sitter alone {:.0} ms", facts * 1e3, parse * 1e3);
    let rows = [
        ("facts from cold over tree-sitter alone", facts / parse, 1.5, "x"),
        ("peak memory of facts", memory, 500.0, "MB"),
        ("check with nothing changed", unchanged(&root), 1.0, "s"),
    ];
    let mut over = 0;
    for (name, value, bound, unit) in rows {
        let verdict = if value <= bound { "within" } else { "OVER" };
        over += usize::from(value > bound);
        println!("{name}: {value:.2} {unit}, {verdict} the bound of {bound} {unit}");
    }
    if over == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
