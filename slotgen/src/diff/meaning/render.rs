//! The differences in meaning as text, Markdown and JSON.

use std::fmt::Write;

use super::{ByMeaning, Change, Kind, Row};

impl ByMeaning {
    /// As plain text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!("CPython {} to {}, by meaning\n{}\n\n", self.from, self.to, self.counts());
        for (index, row) in self.rows.iter().enumerate() {
            let text = if row.from_text { "; from the C alone" } else { "" };
            let _ =
                writeln!(out, "{:>4}  {}  ({}, {}{text})", index + 1, row.title(), row.functions.join(", "), row.file);
            for change in &row.changes {
                let _ = writeln!(out, "        {}", change.text(&|code| code.to_owned()));
            }
        }
        self.rest(&mut out, "");
        out
    }

    /// As Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut out = format!("# CPython {} to {}, by meaning\n\n{}\n\n", self.from, self.to, self.counts());
        out.push_str("| | operation | function | what changed |\n| --- | --- | --- | --- |\n");
        let code = |text: &str| format!("`{}`", text.replace('|', "\\|").replace('`', "'"));
        for (index, row) in self.rows.iter().enumerate() {
            let changes: Vec<String> = row.changes.iter().map(|change| change.text(&code)).collect();
            let (title, function) = (row.title().replace('|', "\\|"), code(&row.functions.join(", ")));
            let _ = writeln!(out, "| {} | {title} | {function} | {} |", index + 1, changes.join("<br>"));
        }
        self.rest(&mut out, "## ");
        out
    }

    /// As JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    /// Whether nothing means something else.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn counts(&self) -> String {
        format!(
            "{} operations ({} functions) mean something else; of {} only the text changed; {} have the same text; {} changed and are not translated in both",
            self.rows.len(),
            self.rows.iter().map(|row| row.functions.len()).sum::<usize>(),
            self.only_text.len(),
            self.same_text,
            self.not_compared.len()
        )
    }

    fn rest(&self, out: &mut String, heading: &str) {
        if !self.only_text.is_empty() {
            let _ = write!(out, "\n{heading}Only the text changed\n\n{}\n", self.only_text.join(", "));
        }
        if !self.not_compared.is_empty() {
            let _ = write!(out, "\n{heading}Changed, and not translated in both releases\n\n");
            for (function, why) in &self.not_compared {
                let _ = writeln!(out, "- {function}: {why}");
            }
        }
    }
}

impl Row {
    /// The slot or operation.
    fn title(&self) -> String {
        match (self.role, self.operations.as_slice()) {
            (_, []) => self.functions.join(", "),
            (role, operations) => {
                let below = if role == "helper" { "below " } else { "" };
                let named = operations.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
                format!("{below}{named}{}", if operations.len() > 12 { ", …" } else { "" })
            }
        }
    }
}

impl Change {
    fn text(&self, code: &dyn Fn(&str) -> String) -> String {
        let words = self.kind.words();
        match (self.before.as_str(), self.after.as_str()) {
            ("", "") => words.to_owned(),
            (one, "") if self.kind == Kind::Exception => format!("no longer raises {}", code(one)),
            ("", other) if self.kind == Kind::Exception => format!("raises {}", code(other)),
            (one, "") | ("", one) => format!("{words} {}", code(one)),
            (one, other) => format!("{words}: {} → {}", code(one), code(other)),
        }
    }
}
