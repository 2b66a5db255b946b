//! File-level macros and tables that translations read.

use std::collections::BTreeMap;

use crate::source::Tree;

/// The object-like macros of the headers: name to body.
pub(super) fn object_macros(tree: &Tree) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for file in tree.files().iter().filter(|file| file.path().starts_with("Include/")) {
        let text = file.text().replace("\\\n", " ");
        for line in text.lines() {
            let Some(rest) =
                line.trim_start().strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("define "))
            else {
                continue;
            };
            let rest = rest.trim();
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (name, body) = rest.split_at(end);
            if body.starts_with(char::is_whitespace) && !body.trim_end().ends_with('\\') {
                let body = body.split("/*").next().unwrap_or(body).split("//").next().unwrap_or(body).trim();
                if !body.is_empty() {
                    out.entry(name.to_owned()).or_insert_with(|| body.to_owned());
                }
            }
        }
    }
    out
}

/// Tables such as `static PyObject *name_op[] = {&_Py_ID(__lt__), …}`.
pub(super) fn identifier_tables(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut out = BTreeMap::new();
    for (start, _) in text.match_indices("static PyObject *") {
        let rest = &text[start + "static PyObject *".len()..];
        let Some(bracket) = rest.find("[]") else { continue };
        let name = rest[..bracket].trim();
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let Some((head, _)) = rest[bracket..].split_once("};") else { continue };
        let Some((_, items)) = head.split_once('{') else { continue };
        let ids: Option<Vec<_>> = items
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(|item| item.strip_prefix("&_Py_ID(").and_then(|rest| rest.strip_suffix(')')).map(str::to_owned))
            .collect();
        if let Some(ids) = ids {
            out.insert(name.to_owned(), ids);
        }
    }
    out
}

/// Tables such as `int _Py_SwappedOp[] = {Py_GT, …}`.
pub(super) fn integer_tables(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut out = BTreeMap::new();
    for line in text.split(';') {
        let Some((head, items)) = line.split_once("[] = {") else { continue };
        let mut words = head.split_whitespace().rev();
        let (Some(name), Some("int" | "const")) = (words.next(), words.next()) else { continue };
        let items = items.trim_end().trim_end_matches('}');
        out.insert(
            name.to_owned(),
            items.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect(),
        );
    }
    out
}
