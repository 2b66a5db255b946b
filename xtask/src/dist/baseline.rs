//! What was released before, and what of it a change would break.
use super::declarations::{self, Declarations};
use super::{header, libraries, symbols};
use crate::place;
use crate::ui::{Advise, Step};
use anyhow::{Context, Result, anyhow};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// File name → text: the headers, and for each library the symbols that it exports.
pub type Released = BTreeMap<String, String>;

/// Macros that state the version of a header.
const VERSIONS: [(&str, &str); 2] = [("slotrt_tables.h", "SLOTRT_TABLES_VERSION"), ("slotrt.h", "SLOTRT_API_VERSION")];

/// The list of symbols of the tables, and the header that declares them.
const SYMBOLS: &str = "libslotrt_tables.symbols";

fn folder() -> PathBuf {
    place::root().join("xtask").join("src").join("dist").join("released")
}

/// The same of what the sources give now.
pub fn of_sources() -> Result<Released> {
    let step = Step::start("Reading headers and symbols");
    let mut found: Released = header::texts()?.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
    let (_, library) = libraries::build_tables()?;
    found.insert(SYMBOLS.to_owned(), symbols::of_shared(&library)?.join("\n") + "\n");
    step.done(format!("{} files", found.len()));
    Ok(found)
}

/// Takes it as released.
pub fn write(found: &Released) -> Result<()> {
    std::fs::create_dir_all(folder())?;
    for (name, text) in found {
        std::fs::write(folder().join(name), text).with_context(|| name.clone())?;
    }
    anstream::println!("{} now states the API as released; commit it", place::shown(&folder()));
    Ok(())
}

/// Compares; an error names what broke, and what was added without a new version.
pub fn check(found: &Released) -> Result<()> {
    let mut problems = Vec::new();
    for (name, now) in found {
        let path = folder().join(name);
        let before = std::fs::read_to_string(&path).with_context(|| format!("{} is missing", place::shown(&path)));
        let before = before.advise("`cargo xtask dist --release` records the API as released")?;
        problems.extend(compare(name, &before, now));
    }
    for problem in &problems {
        anstream::println!("  {problem}");
    }
    let count = problems.len();
    if count == 0 {
        anstream::println!("the API serves every program that the released one serves");
        return Ok(());
    }
    Err(anyhow!("{count} changes of the API that its version does not state")).advise(
        "undo what broke, or raise the major version; for what was added raise the minor one. Then `cargo xtask dist --release`",
    )
}

/// What the version of a file does not state.
fn compare(name: &str, before: &str, now: &str) -> Vec<String> {
    let (before, now) = if name.ends_with(".symbols") {
        (of_lines(before), of_lines(now))
    } else {
        (declarations::read(before), declarations::read(now))
    };
    let version = VERSIONS.iter().find(|(header, _)| *header == name).map(|(_, macro_name)| *macro_name);
    let [old, new] = [&before, &now].map(|all| version.and_then(|name| number(all.get(name)?)).unwrap_or((0, 0)));
    let mut problems = Vec::new();
    for (item, text) in before.iter().filter(|(item, _)| Some(item.as_str()) != version) {
        let broken = match now.get(item) {
            None => format!("{name}: `{item}` is gone"),
            Some(changed) if changed != text => format!("{name}: `{item}` was `{text}`, is `{changed}`"),
            Some(_) => continue,
        };
        if new.0 <= old.0 {
            problems.push(broken);
        }
    }
    // Symbols have no version of their own: the header that declares them states it.
    if version.is_some() && new <= old {
        let added = now.keys().filter(|item| !before.contains_key(*item));
        problems.extend(added.map(|item| format!("{name}: `{item}` was added")));
    }
    problems
}

fn of_lines(text: &str) -> Declarations {
    text.lines().map(|line| (line.to_owned(), String::new())).collect()
}

/// Major and minor version.
fn number(text: &str) -> Option<(u32, u32)> {
    let number: u32 = text.parse().ok()?;
    Some((number >> 16, number & 0xFFFF))
}

#[cfg(test)]
mod tests {
    use super::{compare, folder};
    use crate::dist::header;

    #[test]
    fn the_headers_keep_what_was_released() {
        for (name, now) in header::texts().unwrap() {
            let before = std::fs::read_to_string(folder().join(name)).unwrap();
            assert_eq!(compare(name, &before, &now), Vec::<String>::new());
        }
    }

    #[test]
    fn what_breaks_is_named() {
        let header = |version: &str, body: &str| format!("#define SLOTRT_API_VERSION {version}\n{body}");
        let before = header("65536", "int a(void);\nint b(int x);\n");
        let after = |version, body| compare("slotrt.h", &before, &header(version, body));
        assert_eq!(after("65536", "int a(void);\nint b(int x);\n"), Vec::<String>::new());
        assert_eq!(after("65536", "int a(void);\n"), ["slotrt.h: `b` is gone"]);
        assert_eq!(
            after("65537", "int a(void);\nint b(long x);\n"),
            ["slotrt.h: `b` was `int b(int x)`, is `int b(long x)`"]
        );
        assert_eq!(after("65536", "int a(void);\nint b(int x);\nint c(void);\n"), ["slotrt.h: `c` was added"]);
        assert_eq!(after("65537", "int a(void);\nint b(int x);\nint c(void);\n"), Vec::<String>::new());
        assert_eq!(after("131072", "int a(void);\n"), Vec::<String>::new());
        assert_eq!(compare("x.symbols", "a\nb\n", "b\nc\n"), ["x.symbols: `a` is gone"]);
    }
}
