//! The headers, which cbindgen writes from the Rust that they describe.
use super::kit::Kit;
use crate::place;
use anyhow::{Context, Result, anyhow};
use cbindgen::{Builder, Config, DocumentationStyle, EnumConfig, ExportConfig, Language, RenameRule, Style};
use std::path::{Path, PathBuf};

/// A header: its name, the folder of its Rust, what stands above its declarations.
struct Header {
    name: &'static str,
    source: &'static str,
    after_includes: &'static str,
    /// Enumerations whose constants callers pass as numbers.
    constants: &'static [&'static str],
}

const HEADERS: &[Header] = &[
    Header {
        name: "slotrt_tables.h",
        source: "generated/tables/src",
        after_includes: TABLES,
        constants: &["slotrt_table", "slotrt_frame_part"],
    },
    Header {
        name: "slotrt.h",
        source: "runtime/src/c_api",
        after_includes: RUNTIME,
        constants: &["slotrt_decision", "slotrt_operation_kind", "slotrt_answer_kind"],
    },
];

const LICENCE: &str = "/* slotrt. SPDX-License-Identifier: (MIT OR Apache-2.0) AND PSF-2.0
   Written by cbindgen from the Rust that it describes; do not edit. */";

const TABLES: &str = "
/* CPython's tables, for programs without Python.

   A release is chosen at run time: every function takes PY_VERSION_HEX >> 16, which is 0x030D for 3.13. Functions return slotrt_status
   and fill in what the last argument points to, only where they return SLOTRT_OK. Texts are static and must not be freed. Every function
   may be called by any thread at any time; those that read live objects need the GIL to keep them alive. NULL where a pointer is wanted
   is an error code, never a crash. Layouts are those of linux x86-64, release builds. */
";

const RUNTIME: &str = "
#include \"slotrt_tables.h\"

#ifndef Py_PYTHON_H
typedef struct _object PyObject;
#endif
";

/// Writes the headers into the kit.
pub fn write(kit: &Kit) -> Result<()> {
    for (name, text) in texts()? {
        kit.put(&Path::new("include").join(name), &text)?;
    }
    Ok(())
}

/// Every header and its text.
pub fn texts() -> Result<Vec<(&'static str, String)>> {
    HEADERS.iter().map(|header| Ok((header.name, text(header)?))).collect()
}

fn text(header: &Header) -> Result<String> {
    let folder = place::root().join(header.source);
    let mut sources = Vec::new();
    below(&folder, &mut sources)?;
    sources.sort();
    let mut builder = Builder::new().with_config(config(header));
    for source in sources {
        builder = builder.with_src(source);
    }
    let bindings =
        builder.generate().map_err(|error| anyhow!("cbindgen does not understand {}: {error}", header.source))?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).context("cbindgen writes UTF-8")?;
    // What Rust calls safety is what the caller sees to.
    let lines = text.lines().filter(|line| line.trim() != "* # Safety");
    Ok(lines.map(|line| line.trim_end().to_owned() + "\n").collect())
}

fn config(header: &Header) -> Config {
    let guard = header.name.to_uppercase().replace('.', "_");
    Config {
        language: Language::C,
        header: Some(LICENCE.to_owned()),
        include_guard: Some(guard),
        after_includes: Some(header.after_includes.to_owned()),
        cpp_compat: true,
        usize_is_size_t: true,
        style: Style::Both,
        documentation_style: DocumentationStyle::C99,
        line_length: 130,
        export: ExportConfig {
            // Both headers have the codes; they stand in the first.
            exclude: if header.name == "slotrt.h" { INNER.map(str::to_owned).to_vec() } else { Vec::new() },
            include: header.constants.iter().map(|name| (*name).to_owned()).collect(),
            ..ExportConfig::default()
        },
        enumeration: EnumConfig { rename_variants: RenameRule::None, ..EnumConfig::default() },
        ..Config::default()
    }
}

/// What `slotrt.h` does not declare: the codes, which the other header has, and the assembly that calls of the host go through.
const INNER: [&str; 3] = ["slotrt_status", "slotrt_guarded_call", "slotrt_guarded_landing"];

fn below(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("{} is missing", place::shown(folder)))? {
        let path = entry?.path();
        if path.is_dir() {
            below(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::declarations;

    #[test]
    fn the_page_names_every_function() {
        let page = std::fs::read_to_string(crate::place::root().join("docs").join("c-api.md")).unwrap();
        for (name, text) in super::texts().unwrap() {
            let declared = declarations::read(&text);
            let functions = declared
                .iter()
                .filter(|(item, text)| item.starts_with("slotrt_") && text.contains(&format!("{item}(")));
            let missing: Vec<&String> = functions.map(|(item, _)| item).filter(|item| !page.contains(*item)).collect();
            assert!(missing.is_empty(), "docs/c-api.md names no {missing:?} of {name}");
        }
    }
}
