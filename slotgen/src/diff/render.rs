//! The differences for people: plain text and Markdown differ only in their marks.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Diff, Entry, FunctionChange, Functions, TypeChange};

/// How headings, items and code are marked.
pub(super) struct Style {
    heading: &'static str,
    subheading: &'static str,
    item: &'static str,
    detail: &'static str,
    code: &'static str,
}

/// Plain text.
pub(super) const TEXT: Style = Style { heading: "", subheading: "  ", item: "    ", detail: "        ", code: "" };

/// Markdown.
pub(super) const MARKDOWN: Style = Style { heading: "## ", subheading: "### ", item: "- ", detail: "  - ", code: "`" };

struct Page<'s> {
    style: &'s Style,
    text: String,
}

pub(super) fn render(diff: &Diff, style: &Style) -> String {
    let mut page = Page { style, text: String::new() };
    page.heading(&format!("CPython {} → {}", diff.from, diff.to));
    page.counts(diff);
    page.entries("Slots", &diff.slots);
    page.entries("slotdefs[]", &diff.slotdefs);
    page.entries("Opcodes", &diff.opcodes);
    page.numbers(&diff.opcode_numbers);
    page.types(&diff.types);
    page.macros(&diff.macros);
    if !diff.bodies {
        page.heading("Functions");
        page.line(style.item, "not compared: a release without C sources at hand tells its tables alone");
        return page.text;
    }
    let functions = &diff.functions;
    page.messages(functions);
    page.list("Wrappers whose body changed", &functions.wrappers);
    if !functions.by_slot.is_empty() {
        page.heading("Slot functions whose body changed, by slot");
        for (slot, changes) in &functions.by_slot {
            page.functions(slot, changes);
        }
    }
    page.list("Other functions that Rust is generated from", &functions.generated);
    if !functions.reached.is_empty() {
        page.heading("Functions behind these, by the generated functions and slots nearest to them");
        for group in &functions.reached {
            page.functions(&[&group.generated[..], &group.slots[..]].concat().join(", "), &group.functions);
        }
    }
    if !functions.by_file.is_empty() {
        page.heading("Functions that no slot and no generated function reaches, by file");
        for (file, changes) in &functions.by_file {
            page.functions(file, changes);
        }
    }
    page.text
}

impl Page<'_> {
    fn line(&mut self, mark: &str, text: &str) {
        self.text.push_str(mark);
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn code(&self, text: &str) -> String {
        format!("{0}{text}{0}", self.style.code)
    }

    fn heading(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line(self.style.heading, text);
    }

    fn counts(&mut self, diff: &Diff) {
        let functions = &diff.functions;
        let slot_functions: BTreeSet<_> =
            functions.by_slot.values().flatten().map(|change| (&change.file, &change.name)).collect();
        let mut text = format!(
            "{} slots, {} slotdefs, {} opcodes, {} types, {} API macros",
            diff.slots.len(),
            diff.slotdefs.len(),
            diff.opcodes.len(),
            diff.types.len(),
            diff.macros.len()
        );
        if diff.bodies {
            let _ = write!(
                text,
                "; {} functions: {} wrappers, {} slot functions, {} generated ones, {} behind these, {} others",
                functions.all().len(),
                functions.wrappers.len(),
                slot_functions.len(),
                functions.generated.len(),
                functions.reached.iter().map(|group| group.functions.len()).sum::<usize>(),
                functions.by_file.values().map(Vec::len).sum::<usize>()
            );
        }
        self.line(self.style.item, &text);
    }

    fn entries(&mut self, title: &str, entries: &[Entry]) {
        if entries.is_empty() {
            return;
        }
        self.heading(title);
        for entry in entries {
            let text = self.entry(entry);
            self.line(self.style.item, &text);
        }
    }

    fn entry(&self, entry: &Entry) -> String {
        let mut text = self.code(&entry.name);
        let _ = match (&entry.before, &entry.after) {
            (Some(before), Some(after)) => write!(text, ": {} → {}", self.code(before), self.code(after)),
            (None, Some(after)) => write!(text, ": new, {}", self.code(after)),
            (Some(before), None) => write!(text, ": gone, was {}", self.code(before)),
            (None, None) => Ok(()),
        };
        text
    }

    fn types(&mut self, types: &[TypeChange]) {
        if types.is_empty() {
            return;
        }
        self.heading("Types");
        for ty in types {
            let what = match ty.exists {
                [false, _] => " is new",
                [_, false] => " is gone",
                _ => "",
            };
            let text = format!("{} ({}, {}){what}", self.code(&ty.tp_name), ty.c_name, ty.file);
            self.line(self.style.item, &text);
            for change in &ty.changes {
                let text = self.entry(change);
                self.line(self.style.detail, &text);
            }
        }
    }

    fn numbers(&mut self, numbers: &[Entry]) {
        if numbers.is_empty() {
            return;
        }
        self.heading("Opcodes with another number");
        let number = |number: &Option<String>| number.clone().unwrap_or_default();
        let each = numbers
            .iter()
            .map(|entry| format!("{} {} → {}", self.code(&entry.name), number(&entry.before), number(&entry.after)));
        let line = each.collect::<Vec<_>>().join(", ");
        self.line(self.style.item, &line);
    }

    /// Names alone: a body that changed is read in the header.
    fn macros(&mut self, macros: &[Entry]) {
        if macros.is_empty() {
            return;
        }
        self.heading("Macros of the API");
        for (what, has) in [("new", [false, true]), ("gone", [true, false]), ("changed", [true, true])] {
            let of = macros.iter().filter(|entry| [entry.before.is_some(), entry.after.is_some()] == has);
            let names: Vec<String> = of.map(|entry| self.code(&entry.name)).collect();
            if !names.is_empty() {
                self.line(self.style.item, &format!("{what}: {}", names.join(", ")));
            }
        }
    }

    /// Strings that came or went in functions that were there before, those that slots or generated functions reach.
    fn messages(&mut self, functions: &Functions) {
        let all = functions.all();
        let told = all.into_iter().filter(|change| {
            let matters = change.is_generated || !change.slots.is_empty() || !change.generated_from.is_empty();
            change.what == "changed"
                && matters
                && !(change.strings_added.is_empty() && change.strings_removed.is_empty())
        });
        let told: Vec<&FunctionChange> = told.collect();
        if told.is_empty() {
            return;
        }
        self.heading("Messages and other strings");
        for change in told {
            let text = format!("{}, {}:{}", self.code(&change.name), change.file, change.line);
            self.line(self.style.item, &text);
            for (mark, strings) in [("-", &change.strings_removed), ("+", &change.strings_added)] {
                for string in strings {
                    let text = format!("{mark} {}", self.code(&format!("{string:?}")));
                    self.line(self.style.detail, &text);
                }
            }
        }
    }

    fn list(&mut self, title: &str, changes: &[FunctionChange]) {
        if !changes.is_empty() {
            self.heading(title);
            changes.iter().for_each(|change| self.function(change));
        }
    }

    fn functions(&mut self, title: &str, changes: &[FunctionChange]) {
        let title = self.code(title);
        self.line(self.style.subheading, &title);
        changes.iter().for_each(|change| self.function(change));
    }

    fn function(&mut self, change: &FunctionChange) {
        let mut text = format!("{} {}, {}:{}", self.code(&change.name), change.what, change.file, change.line);
        if change.is_generated {
            text.push_str("; generated");
        }
        let reached: Vec<&str> = change.generated_from.iter().chain(&change.slots).map(String::as_str).collect();
        if !reached.is_empty() {
            let _ = write!(text, "; reached from {}", reached.join(", "));
        }
        self.line(self.style.item, &text);
    }
}
