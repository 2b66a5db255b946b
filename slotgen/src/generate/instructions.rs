//! Instruction sets and layouts: of releases whose sources were read, and of installations.

use std::collections::BTreeMap;
use std::path::Path;

use super::GenerateError;
use super::committed::{place_of, read_json};
use crate::emit::{self, File, Header};
use crate::extract;
use crate::facts::{Facts, Installed};

/// What installations say, by series.
pub(super) type Installations = BTreeMap<String, Installed>;

/// What `generated` holds of installations.
pub(super) fn installations(root: &Path) -> Result<Installations, GenerateError> {
    read_json(root, "facts/installed", "")
}

/// `Op` and its tables, and the layouts of releases that only an installation tells of.
pub(super) fn files(all: &BTreeMap<String, Facts>, installed: &Installations) -> Result<Vec<File>, GenerateError> {
    let mut sets = BTreeMap::new();
    for (series, facts) in all {
        sets.insert(place_of(series), (series.clone(), header(facts, series), &facts.opcodes));
    }
    for (series, known) in installed {
        sets.insert(place_of(series), (series.clone(), installed_header(known, series), &known.opcodes));
    }
    let sets: Vec<_> = sets.into_values().collect();
    let join =
        |field: fn(&Header) -> &str| sets.iter().map(|(_, header, _)| field(header)).collect::<Vec<_>>().join(", ");
    let of_all = Header {
        release: join(|header| &header.release),
        series: sets.iter().map(|(series, ..)| series.as_str()).collect::<Vec<_>>().join(" "),
        digest: join(|header| &header.digest),
    };
    let mut files = vec![emit::op(&of_all, &sets.iter().map(|(.., opcodes)| *opcodes).collect::<Vec<_>>())?];
    for (series, header, opcodes) in &sets {
        files.push(emit::release_opcodes(header, series, opcodes)?);
    }
    let series: Vec<&str> = sets.iter().map(|(series, ..)| series.as_str()).collect();
    files.push(File { path: "src/opcodes/mod.rs".to_owned(), text: opcode_list(&of_all, &series) });
    for (series, known) in installed.iter().filter(|(series, _)| !all.contains_key(*series)) {
        let text = emit::layouts(&known.structs, &known.function_types, extract::LAYOUTS)?;
        let path = format!("src/layouts/{}.rs", module(series));
        files.push(File { path, text: format!("{}\n\n{text}", installed_header(known, series)) });
    }
    let own = |series: &str| all.contains_key(series);
    files.push(File { path: "src/layouts/mod.rs".to_owned(), text: layout_list(&of_all, &series, &own) });
    Ok(files)
}

/// The header of what comes from a release's sources.
pub(super) fn header(facts: &Facts, series: &str) -> Header {
    Header { release: facts.release.clone(), series: series.to_owned(), digest: facts.digest.clone() }
}

fn installed_header(known: &Installed, series: &str) -> Header {
    let series = format!("--installed {series}");
    Header { release: known.release.clone(), series, digest: known.digest.clone() }
}

fn module(series: &str) -> String {
    format!("v{}", series.replace('.', "_"))
}

fn opcode_list(header: &Header, series: &[&str]) -> String {
    let modules = series.iter().map(|series| format!("#[rustfmt::skip]\nmod {};\n", module(series)));
    let tables = series.iter().map(|series| {
        let module = module(series);
        format!("pub use {module}::TABLE as {};\n", module.to_uppercase())
    });
    format!(
        "{header}\n\n//! Opcodes across releases: the version-neutral `Op` and what each release says about it.\n\n\
        #[macro_use]\nmod table;\n#[rustfmt::skip]\nmod op;\n{}\npub use op::Op;\npub use table::{{OpFlags, Table}};\n{}",
        modules.collect::<String>(),
        tables.collect::<String>()
    )
}

fn layout_list(header: &Header, series: &[&str], own: &dyn Fn(&str) -> bool) -> String {
    let lines = series.iter().map(|series| {
        let module = module(series);
        if own(series) {
            return format!("pub use crate::{module}::layouts as {module};\n");
        }
        format!("#[rustfmt::skip]\npub mod {module};\n")
    });
    format!("{header}\n\n//! The layouts of every release that one is known of.\n\n{}", lines.collect::<String>())
}
