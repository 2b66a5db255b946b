//! `prove parse`: parses every preprocessed C file; no place may be left that the parser does not understand.
use crate::obtain::sources;
use crate::ui::table::table;
use crate::ui::{Advise, Step};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde_json::json;
use slotgen::extract::Parsed;
use slotgen::source::{Tree, pins};
use std::path::PathBuf;

/// What `prove parse` takes.
#[derive(Args, Debug)]
pub struct Options {
    /// Releases (3.13, 3.13.15); without any, all whose sources are pinned
    releases: Vec<String>,
    /// Take the sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL", requires = "releases")]
    source: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let pinned: Vec<String> = pins().iter().filter(|pin| !pin.on_demand).map(|pin| pin.release.clone()).collect();
    let releases = if options.releases.is_empty() { &pinned } else { &options.releases };
    let mut rows = Vec::new();
    for release in releases {
        let sources = sources::obtain(release, options.source.as_deref())?;
        let tree = Tree::open(&sources.path).with_context(|| sources.path.display().to_string())?;
        let step = Step::start(format!("Parsing CPython {}", sources.version));
        let parsed = slotgen::extract::parse_all(&tree)?;
        step.done("");
        for of_folder in parsed {
            let text = of_folder.diagnostics.render(&|path| tree.file(path).map(|file| file.text()));
            anstream::eprint!("{text}{}", if text.is_empty() { "" } else { "\n" });
            rows.push((sources.version.clone(), of_folder));
        }
    }
    let faults: usize = rows.iter().map(|(_, parsed)| parsed.diagnostics.0.len()).sum();
    if options.json {
        anstream::println!("{:#}", json!(rows.iter().map(as_json).collect::<Vec<_>>()));
    } else {
        let headings = ["release", "configuration", "folder", "files", "not compiled here", "not understood"];
        anstream::println!("{}", table(&headings, &rows.iter().map(cells).collect::<Vec<_>>()));
    }
    if faults == 0 { Ok(()) } else { Err(anyhow!("{faults} places are not understood")) }
        .advise("docs/adding-a-release.md says which file of slotgen/data each kind of place needs")
}

fn cells((release, parsed): &(String, Parsed)) -> Vec<String> {
    let names = [release.as_str(), parsed.configuration, parsed.folder].map(str::to_owned);
    let numbers = [parsed.units, parsed.left_out, parsed.diagnostics.0.len()].map(|number| number.to_string());
    names.into_iter().chain(numbers).collect()
}

fn as_json((release, parsed): &(String, Parsed)) -> serde_json::Value {
    json!({
        "release": release, "configuration": parsed.configuration, "folder": parsed.folder, "files": parsed.units,
        "not_compiled": parsed.left_out, "not_understood": parsed.diagnostics.0.len(),
    })
}
