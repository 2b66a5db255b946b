//! What `docs/generated-code.md` shows is what `generated/` holds; `SLOTRT_BLESS=1` writes it there.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

/// One function of a generated module, with its comment.
fn generated(file: &str, name: &str) -> String {
    let stem = file.rsplit('/').next().unwrap().trim_end_matches(".c");
    let paths = ["v3_13", "shared"].into_iter().flat_map(|folder| {
        let folder = tests::root().join("generated/src").join(folder);
        [format!("{stem}.rs"), format!("{stem}_.rs")].map(|name| folder.join(name))
    });
    let head = format!("pub fn {name}<");
    let mut texts = paths.filter_map(|path| fs::read_to_string(path).ok());
    let text = texts.find(|text| text.lines().any(|line| line.starts_with(&head))).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(&head)).unwrap();
    let end = at + lines[at..].iter().position(|line| *line == "}").unwrap();
    let before = lines[..at].iter().rev().take_while(|line| line.starts_with("///")).count();
    lines[at - before..=end].join("\n")
}

/// The document with every `<!-- function: FILE NAME -->` followed by that function's code.
fn wanted(text: &str) -> String {
    let mut wanted = String::new();
    let mut inside = false;
    let mut after_mark = false;
    for line in text.lines() {
        if after_mark && line == "```rust" {
            inside = true;
        }
        if !inside {
            wanted.push_str(line);
            wanted.push('\n');
        }
        if inside && line == "```" {
            inside = false;
        }
        let mark = line.strip_prefix("<!-- function: ").and_then(|rest| rest.strip_suffix(" -->"));
        after_mark = mark.is_some();
        if let Some((file, name)) = mark.and_then(|mark| mark.split_once(' ')) {
            wanted.push_str(&format!("```rust\n{}\n```\n", generated(file, name)));
        }
    }
    wanted
}

#[test]
fn the_document_shows_generated_code_as_it_is() {
    let path = tests::root().join("docs/generated-code.md");
    let text = fs::read_to_string(&path).unwrap();
    let wanted = wanted(&text);
    if std::env::var_os("SLOTRT_BLESS").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    assert!(text == wanted, "run `SLOTRT_BLESS=1 cargo test -p tests --test documented_code`");
}
