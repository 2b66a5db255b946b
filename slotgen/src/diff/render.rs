//! The differences for people: plain text and Markdown differ only in their marks.

use std::fmt::Write;

use super::{Diff, Entry, FunctionChange, TypeChange};

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
    page.types(&diff.types);
    if !diff.functions.by_slot.is_empty() {
        page.heading("Slot functions whose body changed, by slot");
        for (slot, changes) in &diff.functions.by_slot {
            page.functions(slot, changes);
        }
    }
    if !diff.functions.by_file.is_empty() {
        page.heading("Other functions that changed, by file, with what reaches them");
        for (file, changes) in &diff.functions.by_file {
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
        let count = |changes: &[&Vec<FunctionChange>]| changes.iter().map(|list| list.len()).sum::<usize>();
        let own = count(&diff.functions.by_slot.values().collect::<Vec<_>>());
        let other = count(&diff.functions.by_file.values().collect::<Vec<_>>());
        let text = format!(
            "{} slots, {} slotdefs, {} opcodes, {} types; {own} slot functions (by slot) and {other} other functions",
            diff.slots.len(),
            diff.slotdefs.len(),
            diff.opcodes.len(),
            diff.types.len()
        );
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

    fn functions(&mut self, title: &str, changes: &[FunctionChange]) {
        let title = self.code(title);
        self.line(self.style.subheading, &title);
        for change in changes {
            let mut text = format!("{} {}, {}:{}", self.code(&change.name), change.what, change.file, change.line);
            let mut reached = change.slots.clone();
            reached.extend(change.protocol.iter().cloned());
            reached.retain(|name| *name != change.name);
            if !reached.is_empty() {
                let _ = write!(text, "; reached from {}", reached.join(", "));
            }
            self.line(self.style.item, &text);
            for (mark, strings) in [("+", &change.strings_added), ("-", &change.strings_removed)] {
                for string in strings {
                    let text = format!("{mark} {}", self.code(&format!("\"{string}\"")));
                    self.line(self.style.detail, &text);
                }
            }
        }
    }
}
