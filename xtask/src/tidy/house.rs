//! Rules about the order of `runtime` and `slotgen`: circles, short files, a head for each folder.
use super::checkout::File;
use super::circles;
use super::finding::Finding;
use std::collections::BTreeMap;

/// Lines that a hand-written file of these crates is meant to have at most.
const LINES: usize = 400;

/// Lines above that which pass.
const MARGIN: usize = 20;

/// Lines that the files of a folder, its sub-folders aside, are meant to have together at most.
const ROOM_LINES: usize = 3000;

/// How a module comment says why its file is long.
const LONG: &str = "//! Long: ";

/// Lines that a folder's module comment may have.
const HEAD: usize = 10;

const ROOMS: &[&str] = &["runtime/src/", "slotgen/src/"];

/// What breaks them.
pub fn check(files: &[File]) -> Vec<Finding> {
    let here = files.iter().filter(|file| is_here(file));
    let mut findings: Vec<Finding> = here.flat_map(|file| [long(file), headless(file)]).flatten().collect();
    findings.extend(large_rooms(files));
    findings.extend(circles::check(files));
    findings
}

fn long(file: &File) -> Option<Finding> {
    let lines = file.text.lines().count();
    let message = format!(
        "{lines} lines; {LINES} is the most here: split the file where a seam exists, or say `{LONG}<why>` in its module comment"
    );
    let excused = file.text.lines().any(|line| line.starts_with(LONG));
    (lines > LINES + MARGIN && !excused && !file.is_generated()).then(|| finding(file, "long-file", message))
}

/// A folder whose own files are more than a reader takes in.
fn large_rooms(files: &[File]) -> Vec<Finding> {
    let mut rooms: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| is_here(file) && !file.is_generated()) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *rooms.entry(folder).or_default() += file.text.lines().count();
    }
    let large = rooms.into_iter().filter(|(_, lines)| *lines > ROOM_LINES + ROOM_LINES / 10);
    let message = |lines| format!("{lines} lines in one folder; {ROOM_LINES} is the most here: make a sub-folder");
    large
        .map(|(path, lines)| Finding { path: path.into(), line: 0, rule: "large-room", message: message(lines) })
        .collect()
}

fn is_here(file: &File) -> bool {
    file.path.ends_with(".rs") && ROOMS.iter().any(|room| file.path.starts_with(room))
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
        check(&[File { path: path.into(), text: text.into() }]).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_long_file_is_found() {
        let longest = LINES + MARGIN;
        assert_eq!(found("slotgen/src/a.rs", &"\n".repeat(longest)), Vec::<&str>::new());
        assert_eq!(found("slotgen/src/a.rs", &"\n".repeat(longest + 1)), ["long-file"]);
        assert_eq!(found("tests/a.rs", &"\n".repeat(longest + 1)), Vec::<&str>::new());
    }

    #[test]
    fn a_long_file_may_say_why() {
        let text = format!("//! A.\n//!\n{LONG}one implementation of a trait.\n{}", "\n".repeat(LINES + MARGIN));
        assert_eq!(found("slotgen/src/a.rs", &text), Vec::<&str>::new());
    }

    #[test]
    fn a_large_room_is_found() {
        let file = |name: usize| File { path: format!("slotgen/src/a/f{name}.rs"), text: "\n".repeat(LINES) };
        let rules = |count| check(&(0..count).map(file).collect::<Vec<_>>()).len();
        assert_eq!((rules(8), rules(9)), (0, 1));
    }

    #[test]
    fn a_folder_has_a_head() {
        assert_eq!(found("runtime/src/a/mod.rs", "//! A.\n"), Vec::<&str>::new());
        assert_eq!(found("runtime/src/a/mod.rs", "mod b;\n"), ["folder-head"]);
        assert_eq!(found("runtime/src/a/mod.rs", &"//! A.\n".repeat(HEAD + 1)), ["folder-head"]);
    }
}
