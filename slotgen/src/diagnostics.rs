//! What a stage has to say about its input: many diagnostics a run, each with a place, a stable code and help.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// Whether a diagnostic stops the stage or only informs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The output would be wrong or incomplete.
    Error,
    /// The release does not have it, or it was not understood: it is left out, and the facts name it. The rest is right without it.
    Gap,
    /// The output is usable; something deserves a look.
    Warning,
}

/// One finding, at one place of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error, gap or warning.
    pub severity: Severity,
    /// Stable code, such as `preprocess/unbalanced-if`.
    pub code: &'static str,
    /// Path of the file, relative to the root of the tree.
    pub file: String,
    /// Line, from 1; 0 when the finding concerns the file as a whole.
    pub line: u32,
    /// Column in bytes, from 1; 0 when there is no line.
    pub column: u32,
    /// What was found.
    pub message: String,
    /// What the reader can do about it; may be empty.
    pub help: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Gap => "gap",
            Severity::Warning => "warning",
        };
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {severity}[{}]: {}", self.code, self.message)?;
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl Diagnostic {
    /// Title, excerpt and help, as a snippet shows them.
    fn group<'d>(&'d self, line: Option<&'d str>) -> Group<'d> {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Gap => Level::WARNING.with_name("gap"),
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(self.message.as_str()).id(self.code);
        let group = match line {
            Some(line) => {
                let span = token(line, self.column);
                let marked = AnnotationKind::Primary.span(span);
                let snippet = Snippet::source(line).path(self.file.as_str()).line_start(self.line as usize);
                title.element(snippet.annotation(marked))
            }
            None if self.file.is_empty() => Group::with_title(title),
            None if self.line == 0 => title.element(Origin::path(self.file.as_str())),
            None => title.element(Origin::path(self.file.as_str()).line(self.line as usize)),
        };
        if self.help.is_empty() { group } else { group.element(Level::HELP.message(self.help.as_str())) }
    }
}

/// The bytes of the word that begins at a column (from 1), or of the one character there.
fn token(line: &str, column: u32) -> Range<usize> {
    let mut start = (column.saturating_sub(1) as usize).min(line.len());
    while !line.is_char_boundary(start) {
        start -= 1;
    }
    let rest = line.get(start..).unwrap_or("");
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let length = word.max(rest.chars().next().map_or(0, char::len_utf8));
    start..start + length
}

/// All findings of a run, in the order in which they were met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether at least one finding is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// Makes gaps of errors that only leave something out.
    #[must_use]
    pub fn as_gaps(mut self) -> Diagnostics {
        self.0.iter_mut().filter(|d| d.severity == Severity::Error).for_each(|d| d.severity = Severity::Gap);
        self
    }

    /// Iterates over the findings.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// All findings with the lines they are about; `text` gives the text of a file.
    pub fn render<'t>(&self, text: &dyn Fn(&str) -> Option<&'t str>) -> String {
        let renderer = Renderer::plain();
        let rendered = self.0.iter().map(|found| {
            let line = text(&found.file).zip(found.line.checked_sub(1));
            let line = line.and_then(|(text, index)| text.split('\n').nth(index as usize));
            renderer.render(&[found.group(line)])
        });
        rendered.collect::<Vec<_>>().join("\n")
    }

    /// Appends the findings of another run.
    pub fn extend(&mut self, other: Diagnostics) {
        self.0.extend(other.0);
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_shows_place_rule_line_and_help() {
        let found = |line, column, code| Diagnostic {
            severity: Severity::Error,
            code,
            file: "Objects/x.c".to_owned(),
            line,
            column,
            message: "`T.nb_or` names no function".to_owned(),
            help: "look at the initialiser".to_owned(),
        };
        let all = Diagnostics(vec![
            found(2, 5, "extract/slot-value"),
            found(0, 0, "extract/layout"),
            found(9, 80, "extract/é"),
        ]);
        let text = all.render(&|_| Some("int x;\n    übrig = 1;\n"));
        insta::assert_snapshot!(text, @r"
        error[extract/slot-value]: `T.nb_or` names no function
         --> Objects/x.c:2:5
          |
        2 |     übrig = 1;
          |     ^^^^^
          |
          = help: look at the initialiser
        error[extract/layout]: `T.nb_or` names no function
        --> Objects/x.c
         = help: look at the initialiser
        error[extract/é]: `T.nb_or` names no function
        --> Objects/x.c:9
         = help: look at the initialiser
        ");
    }
}
