//! The commands that the pages show are commands, and say what the pages show.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of a page: its place, its words, and the lines of output that are shown with it.
struct Shown {
    place: String,
    words: Vec<String>,
    output: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The pages: Markdown files and workflows.
fn pages() -> Vec<PathBuf> {
    let folders = [root(), root().join("docs"), root().join("docs/workflows"), root().join("tests")];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md" || extension == "yml");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(is_page).collect();
    found.retain(|path| !path.ends_with("CHANGELOG.md"));
    found.sort();
    found
}

/// The words after `cargo xtask`, as a shell splits them, up to a redirection, a pipe or a comment.
fn words(command: &str) -> Option<Vec<String>> {
    let rest = command.trim().strip_prefix("cargo xtask")?;
    let end = [" | ", " > ", " 2>", " && ", " # ", " \\"].iter().filter_map(|sign| rest.find(sign)).min();
    shlex::split(&rest[..end.unwrap_or(rest.len())])
}

/// The commands of a text: in `console` blocks behind `$`, in code between backquotes, and in steps of workflows.
fn commands(path: &Path) -> Vec<Shown> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut found: Vec<Shown> = Vec::new();
    let mut fence = None;
    for (index, line) in text.lines().enumerate() {
        let place = format!("{}:{}", path.strip_prefix(root()).unwrap().display(), index + 1);
        let mut add = |command: &str| {
            let words = words(command).filter(|words| !words.is_empty());
            found.extend(words.map(|words| Shown { place: place.clone(), words, output: Vec::new() }));
        };
        if let Some(language) = line.strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language.to_owned()) };
        } else if let Some(command) = line.trim().strip_prefix("$ ").filter(|_| fence.is_some()) {
            add(command);
        } else if let Some((_, command)) = line.split_once("run: ") {
            add(command);
        } else if fence.is_none() {
            line.split('`').skip(1).step_by(2).for_each(add);
        } else if fence.as_deref() == Some("console")
            && let Some(last) = found.last_mut()
        {
            last.output.push(line.to_owned());
        }
    }
    found
}

fn xtask(words: &[String]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = command.current_dir(root()).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// Whether lines are those of a page, in which `…` stands for the rest of a line, and alone in a line for any number of lines.
fn agree(shown: &[String], said: &[&str]) -> bool {
    match shown {
        [] => said.is_empty(),
        [any, rest @ ..] if any.trim() == "…" => (0..=said.len()).any(|skipped| agree(rest, &said[skipped..])),
        [line, rest @ ..] => {
            let Some((first, others)) = said.split_first() else { return false };
            let is_line = match line.split_once('…') {
                Some((start, _)) => first.starts_with(start),
                None => line.trim_end() == first.trim_end(),
            };
            is_line && agree(rest, others)
        }
    }
}

#[test]
fn options_of_shown_commands_exist() {
    let all: Vec<Shown> = pages().iter().flat_map(|page| commands(page)).collect();
    assert!(all.len() > 150, "only {} commands were found", all.len());
    let mut wrong = Vec::new();
    for Shown { place, mut words, .. } in all {
        words.push("--help".to_owned());
        let (is_known, _, stderr) = xtask(&words);
        if !is_known {
            wrong.push(format!("{place}: cargo xtask {}\n{stderr}", words.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn shown_output_is_what_commands_say() {
    let all = pages().into_iter().flat_map(|page| commands(&page)).filter(|shown| !shown.output.is_empty());
    let mut count = 0;
    for Shown { place, words, output } in all {
        count += 1;
        let (is_right, stdout, stderr) = xtask(&words);
        let said: Vec<&str> = stdout.lines().collect();
        assert!(is_right, "{place}: {stderr}");
        assert!(agree(&output, &said), "{place}: cargo xtask {} says\n{stdout}", words.join(" "));
    }
    assert!(count > 1, "no page shows output");
}

#[test]
fn output_is_compared_line_by_line() {
    let shown = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert!(agree(&shown(&["a", "b …", "…", "z"]), &["a", "b c", "d", "e", "z"]));
    assert!(!agree(&shown(&["a", "…", "z"]), &["a", "d"]));
    assert!(!agree(&shown(&["a"]), &["a", "b"]));
}

/// Every place that the page on free threading lists is there, and nothing of the runtime is changed by threads without a lock.
#[test]
fn places_of_the_page_on_free_threading() {
    let page = std::fs::read_to_string(root().join("docs/free-threading.md")).unwrap();
    let places = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let mut count = 0;
    for row in places {
        let mut folder = root().join("runtime/src");
        for place in row.split('`').step_by(2).filter(|place| place.contains('/') || place.ends_with(".rs")) {
            let inside = folder.join(place);
            let path = if place.contains('/') { root().join("runtime/src").join(place) } else { inside };
            let found = path.exists() || root().join(place).exists();
            assert!(found, "docs/free-threading.md: `{place}` is not there");
            folder = path.parent().unwrap().to_owned();
            count += 1;
        }
    }
    assert!(count > 15, "{count} places");
    for path in rust_files(&root().join("runtime/src")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let bad =
            |line: &&str| line.contains("static mut ") || line.contains("static ") && line.contains("UnsafeCell<");
        assert_eq!(text.lines().find(bad), None, "{}", path.display());
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.chain(folders.iter().flat_map(|folder| rust_files(folder))).collect()
}
