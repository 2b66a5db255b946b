//! The rows of `runtime/stand_in/3.X.txt` that no compiler checks: a message that no body makes would never be met.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::path::{Path, PathBuf};

/// The texts of all generated functions.
fn bodies(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            bodies(&path, texts);
        } else {
            texts.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn each_message_is_one_of_a_generated_function() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut texts = Vec::new();
    bodies(&root.join("generated/src"), &mut texts);
    for entry in std::fs::read_dir(root.join("runtime/stand_in")).unwrap() {
        let path = entry.unwrap().path();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let Some(row) = line.strip_prefix("message ") else { continue };
            let (words, _) = row.rsplit_once(" | ").unwrap();
            let format = words.split_once(" => ").map_or(words, |(format, _)| format);
            let literal = format!("{format:?}");
            let is_made = texts.iter().any(|text| text.contains(&literal));
            assert!(is_made, "{}: no generated function says {literal}", path.display());
        }
    }
}
