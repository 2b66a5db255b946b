//! `explain`: everything that is known of a slot, an operator, a C function or a message, on one page.
mod find;
mod render;
mod ways;

use crate::audit::coverage::{self, Row};
use crate::audit::dossier::{self, Archive, Dossier};
use crate::place;
use crate::ui::{Advise, nearest};
use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use find::{Known, Meant};
use serde::Serialize;

/// The schema of the JSON.
const SCHEMA: &str = "slotrt-explain-1";

/// How the page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Plain text
    Text,
    /// Markdown
    Md,
    /// JSON
    Json,
}

/// Shows everything that is known of a slot, an operator, a C function or a message
///
/// The way from the operation to the C function, what the tracer does with it and why, the generated Rust, its effects, callers, messages, in which
/// releases its text changed, and the tests that name it. For an engineer or an agent who ports a slot. What is not known is
/// answered with the nearest names.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask explain dict.nb_or          a slot of a type\n  \
    cargo xtask explain 'BINARY_OP |'       an operator\n  \
    cargo xtask explain dict.__or__         a special method\n  \
    cargo xtask explain dict_or             a C function\n  \
    cargo xtask explain operator.or_        a function of a module\n  \
    cargo xtask explain \"unsupported operand type(s) for |: 'dict' and 'int'\"\n                                          the C functions that say so\n  \
    cargo xtask explain nb_power --format json")]
pub struct Options {
    /// A slot, row, operator, special method, C function or message
    what: String,
    /// CPython series, of those with pinned C sources
    #[arg(long, default_value = "3.13")]
    release: String,
    /// How to write it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// The page.
#[derive(Debug, Serialize)]
struct Page {
    schema: &'static str,
    asked: String,
    /// How the text was understood.
    meant: String,
    release: String,
    /// C functions from the operation to the slot's function, outermost first.
    ways: Vec<Vec<String>>,
    rows: Vec<Row>,
    functions: Vec<Dossier>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let series = crate::obtain::releases::series_of(&options.release);
    let facts = slotgen::committed(&place::root().join("generated"), &series)
        .map_err(|_| anyhow!("there are no facts of CPython {}", options.release))
        .advise("releases with C sources: 3.9, 3.11, 3.13")?;
    let archive = dossier::archive(&series)?;
    let coverage = coverage::collect(&series)?;
    let known = Known { rows: &coverage.rows, archive: &archive, facts: &facts };
    let meant = known.find(&options.what);
    if meant.rows.is_empty() && meant.functions.is_empty() {
        let names = coverage.rows.iter().map(|row| row.id.as_str());
        let defs = facts.slotdefs.iter().flat_map(|def| [def.slot.as_str(), def.name.as_str()]);
        let names = names.chain(defs).chain(archive.index.entries.iter().map(|entry| entry.name.as_str()));
        let otherwise =
            "name a slot (dict.nb_or), an operator ('BINARY_OP |'), a C function (dict_or) or part of a message";
        return Err(anyhow!("nothing of CPython {} is known as `{}`", coverage.release, options.what))
            .advise(nearest::advice(&options.what, names, otherwise));
    }
    let page = page(options, &coverage.release, &archive, meant);
    let text = match options.format {
        Format::Text => render::text(&page),
        Format::Md => render::markdown(&page),
        Format::Json => serde_json::to_string_pretty(&page)?,
    };
    anstream::println!("{}", text.trim_end());
    Ok(())
}

fn page(options: &Options, release: &str, archive: &Archive, meant: Meant<'_>) -> Page {
    Page {
        schema: SCHEMA,
        asked: options.what.clone(),
        meant: meant.how,
        release: release.to_owned(),
        ways: ways::ways(archive, &meant.rows),
        functions: meant.functions.into_iter().map(|entry| archive.of(entry)).collect(),
        rows: meant.rows.into_iter().cloned().collect(),
    }
}
