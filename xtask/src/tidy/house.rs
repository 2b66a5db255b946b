//! Rules about the order of `runtime` and `slotgen`: circles, short files, a head for each folder.
use super::checkout::File;
use super::circles;
use super::finding::Finding;

/// Whether these rules fail the check, or are only printed.
const STRICT: bool = false;

/// Lines that a hand-written file of these crates is meant to have at most.
const LINES: usize = 400;

/// Lines above that which pass.
const MARGIN: usize = 20;

/// Lines that a folder's module comment may have.
const HEAD: usize = 10;

const ROOMS: &[&str] = &["runtime/src/", "slotgen/src/"];

/// Findings that fail the check.
pub fn strict(files: &[File]) -> Vec<Finding> {
    if STRICT { all(files) } else { Vec::new() }
}

/// Findings that are printed and fail nothing.
pub fn noted(files: &[File]) -> Vec<Finding> {
    if STRICT { Vec::new() } else { all(files) }
}

fn all(files: &[File]) -> Vec<Finding> {
    let here =
        files.iter().filter(|file| file.path.ends_with(".rs") && ROOMS.iter().any(|room| file.path.starts_with(room)));
    let mut findings: Vec<Finding> = here.flat_map(|file| [long(file), headless(file)]).flatten().collect();
    findings.extend(circles::check(files));
    findings
}

fn long(file: &File) -> Option<Finding> {
    let lines = file.text.lines().count();
    let message = format!("{lines} lines; {LINES} is the most here: split the file where a seam exists");
    (lines > LINES + MARGIN && !file.is_generated()).then(|| finding(file, "long-file", message))
}

/// A folder's `mod.rs` says in a few lines what comes in, what goes out, and what it must not know.
fn headless(file: &File) -> Option<Finding> {
    let head = file.text.lines().take_while(|line| line.starts_with("//!")).count();
    let message = format!("its `//!` comment has {head} lines; a folder opens with one to {HEAD}");
    (file.path.ends_with("/mod.rs") && !(1..=HEAD).contains(&head)).then(|| finding(file, "folder-head", message))
}

fn finding(file: &File, rule: &'static str, message: String) -> Finding {
    Finding { path: file.path.clone(), line: 0, rule, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<&'static str> {
        all(&[File { path: path.into(), text: text.into() }]).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_long_file_is_found() {
        let longest = LINES + MARGIN;
        assert_eq!(found("slotgen/src/a.rs", &"\n".repeat(longest)), Vec::<&str>::new());
        assert_eq!(found("slotgen/src/a.rs", &"\n".repeat(longest + 1)), ["long-file"]);
        assert_eq!(found("tests/a.rs", &"\n".repeat(longest + 1)), Vec::<&str>::new());
    }

    #[test]
    fn a_folder_has_a_head() {
        assert_eq!(found("runtime/src/a/mod.rs", "//! A.\n"), Vec::<&str>::new());
        assert_eq!(found("runtime/src/a/mod.rs", "mod b;\n"), ["folder-head"]);
        assert_eq!(found("runtime/src/a/mod.rs", &"//! A.\n".repeat(HEAD + 1)), ["folder-head"]);
    }
}
