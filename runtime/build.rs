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

/// The release whose bodies run, and those between which its members lie: the release itself, or, where somebody has found out what does
/// not stand in for it, the next one, or else the one before it. Then nothing says where members lie.
fn bodies(rust: &BTreeSet<u8>, minor: u8) -> Option<(u8, Vec<u8>)> {
    let (before, after) = (rust.range(..minor).next_back(), rust.range(minor..).next());
    let own = *after.or(before)?;
    if own != minor && !Path::new(&rows_of(minor)).exists() {
        return None;
    }
    let between = if own == minor { vec![own] } else { after.and(before).into_iter().chain(after).copied().collect() };
    Some((own, between))
}

/// The file that says what of another release's bodies does not stand in for this one's.
fn rows_of(minor: u8) -> String {
    format!("stand_in/3.{minor}.txt")
}

/// Its lines: none for a release that needs none.
fn lines(minor: u8) -> io::Result<Vec<String>> {
    println!("cargo:rerun-if-changed=stand_in");
    let path = rows_of(minor);
    let text = if Path::new(&path).exists() { fs::read_to_string(&path)? } else { String::new() };
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// Whether the tracer knows the release's instructions: a row `untraced | why` says no.
fn traced(minor: u8) -> io::Result<bool> {
    Ok(!lines(minor)?.iter().any(|line| line.starts_with("untraced | ")))
}

/// What of another release's bodies does not stand in for this one's; a release with its own has nothing.
fn stand_in(minor: u8, own: u8) -> io::Result<String> {
    let path = rows_of(minor);
    let lines = if own == minor { Vec::new() } else { lines(minor)? };
    let lines = lines.iter().filter(|line| !line.starts_with("untraced | "));
    let wrong =
        |line: &str| io::Error::other(format!("{path}: `{line}` is none of the forms that the file begins with"));
    let (messages, rows): (Vec<&String>, Vec<&String>) = lines.partition(|line| line.starts_with("message "));
    let (methods, rows): (Vec<&String>, Vec<&String>) = rows.into_iter().partition(|line| line.starts_with("method "));
    let (modules, rows): (Vec<&String>, Vec<&String>) = rows.into_iter().partition(|line| line.starts_with("module "));
    let each = |lines: Vec<&String>, form: fn(&str) -> Option<String>| {
        lines.into_iter().map(|line| form(line).ok_or_else(|| wrong(line))).collect::<io::Result<String>>()
    };
    let (rows, messages) = (each(rows, row)?, each(messages, message)?);
    let (methods, modules) = (each(methods, method)?, each(modules, module)?);
    Ok(format!(
        "/// What of another release's bodies does not stand in for this one's.\npub const ROWS: &[Row] = &[\n{rows}];\n\
        /// What of their messages this release words otherwise.\npub const MESSAGES: &[Message] = &[\n{messages}];\n\
        /// Methods that are another release's under another name: owner, name, the other name.\n\
        pub const METHODS: &[(&str, &str, &str)] = &[\n{methods}];\n\
        /// Modules whose functions are those of another release's module: name, the other name.\n\
        pub const MODULES: &[(&str, &str)] = &[\n{modules}];\n"
    ))
}

/// `message FORMAT | why`, or `message FORMAT => OWN | why`, as a row in Rust.
fn message(line: &str) -> Option<String> {
    let (words, why) = line.strip_prefix("message ")?.rsplit_once(" | ")?;
    let (format, own) = words.split_once(" => ").map_or((words, None), |(format, own)| (format, Some(own)));
    Some(format!("    Message {{ format: {format:?}, own: {own:?}, why: {why:?} }},\n"))
}

/// `method OWNER NAME as OTHER | why` as a row in Rust.
fn method(line: &str) -> Option<String> {
    let (what, _) = line.strip_prefix("method ")?.split_once(" | ")?;
    let [owner, name, "as", other] = what.split(' ').collect::<Vec<_>>()[..] else { return None };
    Some(format!("    ({owner:?}, {name:?}, {other:?}),\n"))
}

/// `module NAME as OTHER | why` as a row in Rust.
fn module(line: &str) -> Option<String> {
    let (what, _) = line.strip_prefix("module ")?.split_once(" | ")?;
    let [name, "as", other] = what.split(' ').collect::<Vec<_>>()[..] else { return None };
    Some(format!("    ({name:?}, {other:?}),\n"))
}

/// `KIND NAME [in|but FUNCTION] | why`, or `test CHECK of CLASS | why`, as a row in Rust.
fn row(line: &str) -> Option<String> {
    let (what, why) = line.split_once(" | ")?;
    let words: Vec<&str> = what.split(' ').collect();
    let (what, more) = words.split_at_checked(2)?;
    let what = match what {
        ["function", name] => format!("What::Function(FunctionId::{name})"),
        ["raises", name] => format!("What::Error(FunctionId::{name})"),
        ["identifier", name] => format!("What::Identifier({name:?})"),
        ["none", name] => format!("What::NoMethod({name:?})"),
        ["test", name] => {
            let ["of", class] = more else { return None };
            format!("What::Test({name:?}, {class:?})")
        }
        _ => return None,
    };
    let (within, but) = match more {
        ["of", _] => ("None".to_owned(), "None".to_owned()),
        [] => ("None".to_owned(), "None".to_owned()),
        ["in", name] => (format!("Some(FunctionId::{name})"), "None".to_owned()),
        ["but", name] => ("None".to_owned(), format!("Some(FunctionId::{name})")),
        _ => return None,
    };
    Some(format!("    Row {{ what: {what}, within: {within}, but: {but}, why: {why:?} }},\n"))
}

/// The modules of the Python package and their texts, as a Rust list, for hosts that have no package installed.
fn package(folder: &Path) -> io::Result<String> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut modules = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(module) = name.strip_suffix(".py") {
            let module = if module == "__init__" { String::new() } else { format!(".{module}") };
            modules.insert((format!("slotrt{module}"), fs::canonicalize(folder.join(&name))?));
        }
    }
    let rows = modules.iter().map(|(module, path)| format!("({module:?}, include_str!({path:?})),\n"));
    Ok(format!("&[\n{}]", rows.collect::<String>()))
}

fn main() -> io::Result<()> {
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo:rustc-check-cfg=cfg(slotrt_bytecode, slotrt_hooks, slotrt_live, slotrt_traces)");
    println!("cargo:rerun-if-changed=build.rs");
    let config = pyo3_build_config::get();
    if config.build_flags().0.contains(&pyo3_build_config::BuildFlag::Py_GIL_DISABLED) {
        println!("cargo::error=slotrt does not work on a free-threaded CPython: see docs/free-threading.md");
    }
    let minor = config.version().minor;
    println!("cargo:rustc-env=SLOTRT_MINOR={minor}");
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
        ("slotrt_traces", has_hooks && bodies.is_some() && traced(minor)?),
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
    fs::write(Path::new(&out).join("package.rs"), package(Path::new("python/slotrt"))?)?;
    fs::write(Path::new(&out).join("bodies.rs"), text)?;
    let table = format!("use generated::opcodes::V3_{minor} as TABLE;\n");
    fs::write(Path::new(&out).join("opcodes.rs"), if has_bytecode { table } else { String::new() })
}
