//! Tells the crate which CPython it is built for (`Py_3_13`…), how much of the runtime there is for it, and which of the generated
//! modules are its own: all of it follows from the files that are there.
use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs, io};

/// The minor versions of the files `v3_X.rs`, or of the folders `v3_X`, in a folder.
fn versions(folder: &Path, ending: &str) -> io::Result<BTreeSet<u8>> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let minor = name.strip_prefix("v3_").and_then(|name| name.strip_suffix(ending));
        found.extend(minor.and_then(|minor| minor.parse::<u8>().ok()));
    }
    Ok(found)
}

/// The release whose bodies run, and those between which its members lie: the release itself, or the nearest one stands in for it, of
/// two the later. Where none is later, nothing says where members lie.
fn bodies(rust: &BTreeSet<u8>, minor: u8) -> Option<(u8, Vec<u8>)> {
    let (before, after) = (rust.range(..minor).next_back(), rust.range(minor..).next());
    let own = *after.or(before)?;
    let between = if own == minor { vec![own] } else { after.and(before).into_iter().chain(after).copied().collect() };
    Some((own, between))
}

/// What of another release's bodies does not stand in for this one's, from `stand_in/3.X.txt`; a release with its own has nothing.
fn stand_in(minor: u8, own: u8) -> io::Result<String> {
    let path = format!("stand_in/3.{minor}.txt");
    println!("cargo:rerun-if-changed=stand_in");
    let text = if own != minor && Path::new(&path).exists() { fs::read_to_string(&path)? } else { String::new() };
    let (mut functions, mut identifiers) = (String::new(), String::new());
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let wrong =
            || io::Error::other(format!("{path}: `{line}` is no `function NAME | why` or `identifier NAME | why`"));
        let (what, why) = line.split_once(" | ").ok_or_else(wrong)?;
        match what.split_once(' ') {
            Some(("function", name)) => functions += &format!("(FunctionId::{name}, {why:?}), "),
            Some(("identifier", name)) => identifiers += &format!("({name:?}, {why:?}), "),
            _ => return Err(wrong()),
        }
    }
    Ok(format!(
        "/// Functions of another release that do not stand in for this one's, and what they do otherwise: a trace that enters one\n\
        /// ends before.\n\
        pub const NO_STAND_IN: &[(FunctionId, &str)] = &[{functions}];\n\
        /// Identifiers at which another release's bodies do not stand in for this one's.\n\
        pub const NO_IDENTIFIER: &[(&str, &str)] = &[{identifiers}];\n"
    ))
}

fn main() -> io::Result<()> {
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo:rustc-check-cfg=cfg(slotrt_bytecode, slotrt_hooks, slotrt_live, slotrt_traces)");
    println!("cargo:rerun-if-changed=build.rs");
    let minor = pyo3_build_config::get().version().minor;
    let generated = Path::new("../generated/src");
    let rust = versions(generated, "")?;
    let has_bytecode = versions(&generated.join("opcodes"), ".rs")?.contains(&minor);
    let has_hooks = versions(Path::new("src/ffi/release"), ".rs")?.contains(&minor);
    let bodies = bodies(&rust, minor);
    let rooms = [
        // Code objects are read and written.
        ("slotrt_bytecode", has_bytecode),
        // Frames are hooked, and broken at any instruction.
        ("slotrt_hooks", has_hooks),
        // Translated functions run on live objects.
        ("slotrt_live", has_hooks && bodies.is_some()),
        // Functions are traced.
        ("slotrt_traces", has_hooks && bodies.is_some()),
    ];
    for (name, _) in rooms.iter().filter(|(_, is_there)| *is_there) {
        println!("cargo:rustc-cfg={name}");
    }
    let mut text = String::new();
    if let Some((own, between)) = bodies {
        let tables: String = between.iter().map(|minor| format!("&generated::v3_{minor}::members::FIELDS, ")).collect();
        text = format!(
            "pub use generated::v3_{own}::*;\n\
            /// The tables that must agree where a member lies.\n\
            pub static FIELDS: &[&generated::tables::Rows<generated::members::Field>] = &[{tables}];\n{}",
            stand_in(minor, own)?
        );
    }
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    fs::write(Path::new(&out).join("bodies.rs"), text)?;
    let table = format!("use generated::opcodes::V3_{minor} as TABLE;\n");
    fs::write(Path::new(&out).join("opcodes.rs"), if has_bytecode { table } else { String::new() })
}
