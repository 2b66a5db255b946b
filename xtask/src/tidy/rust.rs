//! Rules about Rust files.
use super::checkout::File;
use proc_macro2::{TokenStream, TokenTree};
use std::str::FromStr;

/// The folders in which `unsafe` may stand: all of CPython's memory is behind the first, C's pointers come in through the others.
const UNSAFE_ROOMS: &[&str] = &["runtime/src/ffi/", "runtime/src/c_api/", "generated/tables/src/"];

/// A module opens with one `//!` sentence.
pub fn module_doc(file: &File) -> Vec<(usize, String)> {
    let first = file.text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
    if !file.path.ends_with(".rs") || file.is_generated() || first.is_some_and(|line| line.starts_with("//!")) {
        return Vec::new();
    }
    vec![(1, "a module opens with a `//!` sentence that says what it is for".into())]
}

/// `unsafe` stands only in the rooms for it.
pub fn unsafe_room(file: &File) -> Vec<(usize, String)> {
    if !file.path.ends_with(".rs") || UNSAFE_ROOMS.iter().any(|room| file.path.starts_with(room)) {
        return Vec::new();
    }
    let Ok(tokens) = TokenStream::from_str(&file.text) else {
        return vec![(0, "is no Rust that can be read".into())];
    };
    let mut lines = Vec::new();
    unsafe_lines(tokens, &mut lines);
    lines.into_iter().map(|line| (line, format!("`unsafe` belongs into {}", UNSAFE_ROOMS[0]))).collect()
}

fn unsafe_lines(tokens: TokenStream, lines: &mut Vec<usize>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "unsafe" => lines.push(word.span().start().line),
            TokenTree::Group(group) => unsafe_lines(group.stream(), lines),
            _ => {}
        }
    }
}
