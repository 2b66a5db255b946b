//! Every rule, in one list; a rule looks at one file and names what is wrong.
use super::checkout::File;
use super::finding::Finding;
use super::{markdown, rust};

/// Lines that a hand-written Rust file may have.
const LONGEST_FILE: usize = 600;

/// Finds the lines that break a rule, and says how.
type Rule = fn(&File) -> Vec<(usize, String)>;

/// Rule name and check, in the order of the reports.
const RULES: &[(&str, Rule)] = &[
    ("module-doc", rust::module_doc),
    ("file-length", file_length),
    ("unsafe-room", rust::unsafe_room),
    ("open-end", open_end),
    ("machine-path", machine_path),
    ("generated-header", generated_header),
    ("dead-link", markdown::dead_links),
];

/// Applies every rule to every file, and the rules about the checkout as a whole.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        for (rule, check) in RULES {
            let found = check(file);
            findings.extend(found.into_iter().map(|(line, message)| Finding {
                path: file.path.clone(),
                line,
                rule,
                message,
            }));
        }
    }
    findings.extend(missing_files(files));
    findings
}

fn file_length(file: &File) -> Vec<(usize, String)> {
    let lines = file.text.lines().count();
    if !file.path.ends_with(".rs") || file.is_generated() || lines <= LONGEST_FILE {
        return Vec::new();
    }
    vec![(0, format!("{lines} lines; a reader finds the room in {LONGEST_FILE} at most: split where a seam exists"))]
}

/// Words that promise work instead of doing it. Spelt in two parts so that this file passes its own rule.
fn open_end(file: &File) -> Vec<(usize, String)> {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX:")];
    if file.is_generated() || !is_code_or_prose(&file.path) {
        return Vec::new();
    }
    lines_with(file, |line| words.iter().any(|word| line.contains(word)), "do it, or write it down as an issue")
}

/// Home directories and temporary directories of one machine.
fn machine_path(file: &File) -> Vec<(usize, String)> {
    let roots = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/t", "mp/src")];
    lines_with(
        file,
        |line| roots.iter().any(|root| line.contains(root)),
        "names a place of one machine; derive it or say `~`",
    )
}

fn generated_header(file: &File) -> Vec<(usize, String)> {
    if !file.is_generated() || !file.path.ends_with(".rs") {
        return Vec::new();
    }
    let head: String = file.text.lines().take(12).collect::<Vec<_>>().join("\n");
    let wanted = ["slotgen", "CPython", "PSF-2.0", "cargo xtask regen"];
    let missing: Vec<&str> = wanted.into_iter().filter(|word| !head.contains(word)).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    vec![(1, format!("the header of a generated file names {}", missing.join(", ")))]
}

fn missing_files(files: &[File]) -> Vec<Finding> {
    let wanted = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "LICENSE-PSF",
        ".ci/run",
        "Cargo.lock",
    ];
    let there = |path: &str| files.iter().any(|file| file.path == path);
    let missing = wanted.into_iter().filter(|path| !there(path));
    missing
        .map(|path| Finding {
            path: path.to_owned(),
            line: 0,
            rule: "missing-file",
            message: "every checkout has it".into(),
        })
        .collect()
}

fn lines_with(file: &File, broken: impl Fn(&str) -> bool, message: &str) -> Vec<(usize, String)> {
    let numbered = file.text.lines().enumerate();
    numbered.filter(|(_, line)| broken(line)).map(|(index, _)| (index + 1, message.to_owned())).collect()
}

fn is_code_or_prose(path: &str) -> bool {
    [".rs", ".py", ".md", ".toml", ".sh", ".pyi", ".html", ".txt"].iter().any(|ending| path.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<&'static str> {
        let file = File { path: path.into(), text: text.into() };
        let mut rules: Vec<_> =
            RULES.iter().filter(|(_, check)| !check(&file).is_empty()).map(|(rule, _)| *rule).collect();
        rules.sort_unstable();
        rules
    }

    #[test]
    fn a_good_file_passes() {
        assert_eq!(found("slotgen/src/a.rs", "//! Says what it is.\nfn main() {}\n"), Vec::<&str>::new());
    }

    #[test]
    fn each_rule_can_fail() {
        assert_eq!(found("slotgen/src/a.rs", "fn main() {}\n"), ["module-doc"]);
        assert_eq!(found("slotgen/src/a.rs", &format!("//! Long.\n{}", "\n".repeat(LONGEST_FILE))), ["file-length"]);
        assert_eq!(found("runtime/src/trace/a.rs", "//! A.\nfn f() { unsafe { g() } }\n"), ["unsafe-room"]);
        assert_eq!(found("runtime/src/ffi/a.rs", "//! A.\nfn f() { unsafe { g() } }\n"), Vec::<&str>::new());
        assert_eq!(found("docs/a.md", concat!("TO", "DO later")), ["open-end"]);
        assert_eq!(found("docs/a.md", concat!("see /ho", "me/me/x")), ["machine-path"]);
        assert_eq!(found("docs/a.md", "see [b](no-such-file.md)"), ["dead-link"]);
        assert_eq!(found("generated/src/v3_13/no_such.rs", "//! Tables.\n"), ["generated-header"]);
    }
}
