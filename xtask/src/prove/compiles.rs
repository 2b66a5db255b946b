//! `prove compiles`: what `regen` writes of a tree is Rust that compiles.
use crate::obtain::sources;
use crate::ui::{Advise, Step};
use crate::{place, run as programs};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde_json::json;
use slotgen::emit::Mode;
use slotgen::source::Tree;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `prove compiles` takes.
#[derive(Args, Debug)]
pub struct Options {
    /// The release (3.13, 3.14, …)
    release: String,
    /// Take the sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL")]
    source: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// What a tree alone gives.
pub struct Given {
    files: usize,
    /// What the tree does not have, or what is not understood of it.
    pub gaps: usize,
    /// What is said of it: gaps, warnings, functions that were left out.
    pub told: Vec<String>,
    /// What the compiler says of it.
    pub compiled: Result<()>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let sources = sources::obtain(&options.release, options.source.as_deref())?;
    let tree = Tree::open(&sources.path).with_context(|| sources.path.display().to_string())?;
    let Given { files, gaps, told, compiled } = prove(tree, &format!("CPython {} alone", sources.version))?;
    if options.json {
        let report = json!({ "release": sources.version, "files": files, "gaps": gaps, "told": told, "compiles": compiled.is_ok() });
        anstream::println!("{report:#}");
    } else {
        anstream::println!("CPython {}: {files} files, {gaps} gaps, {} findings", sources.version, told.len());
        told.iter().for_each(|one| anstream::println!("  {one}"));
    }
    compiled
}

/// Generates the Rust of a tree into a workspace of its own, and compiles it.
pub fn prove(tree: Tree, name: &str) -> Result<Given> {
    let series = tree.release().series();
    let workspace = place::target().join("regen").join(format!("compiles-{series}"));
    prepare(&workspace)?;
    let step = Step::start(format!("Generating Rust from {name}"));
    let report = slotgen::generate(&[tree], std::slice::from_ref(&series), &workspace.join("generated"), Mode::Write)?;
    step.done(format!("{} files", report.files));
    let read = report.read.first();
    let gaps = read.map_or(0, |read| read.facts.gaps.len());
    let told = read.iter().flat_map(|read| read.diagnostics.iter()).map(ToString::to_string).collect();
    let step = Step::start("Compiling it");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["check", "--quiet", "--package", "generated"]).current_dir(&workspace);
    cargo.env("CARGO_TARGET_DIR", place::target().join("regen").join("target"));
    let compiled = programs::output(&mut cargo);
    step.done(if compiled.is_ok() { "it compiles" } else { "it does not compile" });
    let compiled = compiled.map(drop).map_err(|error| anyhow!("{error:#}")).advise(format!(
        "the check of types in slotgen/src/translate/check must refuse the function; the Rust is in {}",
        place::shown(&workspace)
    ));
    Ok(Given { files: report.files, gaps, told, compiled })
}

/// A workspace with the hand-written files of `generated` and nothing that is generated.
fn prepare(workspace: &Path) -> Result<()> {
    let root = place::root();
    if workspace.exists() {
        std::fs::remove_dir_all(workspace).with_context(|| place::shown(workspace))?;
    }
    let source = workspace.join("generated").join("src");
    std::fs::create_dir_all(&source).with_context(|| place::shown(&source))?;
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let mut manifest: toml::Table = toml::from_str(&manifest).context("Cargo.toml")?;
    if let Some(toml::Value::Table(table)) = manifest.get_mut("workspace") {
        table.insert("members".to_owned(), vec!["generated"].into());
        table.remove("dependencies");
    }
    manifest.remove("profile");
    std::fs::write(workspace.join("Cargo.toml"), toml::to_string(&manifest)?)?;
    std::fs::copy(root.join("generated").join("Cargo.toml"), workspace.join("generated").join("Cargo.toml"))?;
    copy(&root.join("generated").join("src"), &source)
}

/// Copies the files of a folder that slotgen did not write.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in std::fs::read_dir(from).with_context(|| place::shown(from))? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            let text = std::fs::read_to_string(&path).with_context(|| place::shown(&path))?;
            let by_hand = !text.lines().next().is_some_and(|first| first.contains(slotgen::emit::MARK));
            if by_hand {
                std::fs::create_dir_all(to)?;
                std::fs::write(to.join(name), text)?;
            }
        }
    }
    Ok(())
}
