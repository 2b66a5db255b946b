//! The files that tell the instruction set: macros, tables, and functions of `case … return`.

use indexmap::IndexMap;
use tree_sitter::Node;

use super::syntax::{Syntax, children, declared, find};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::facts::{Expression, integer};
use crate::source::Tree;

const HELP: &str =
    "compare the header with that of the last supported release and teach slotgen/src/extract/opcodes.rs its new form";

pub(super) fn problem(file: &str, line: u32, column: u32, code: &'static str, message: String) -> Diagnostic {
    let file = file.to_owned();
    Diagnostic { severity: Severity::Error, code, file, line, column, message, help: HELP.to_owned() }
}

/// Something that the release does not tell of its instructions.
pub(super) fn gap(file: &str, line: u32, column: u32, code: &'static str, message: String) -> Diagnostic {
    Diagnostic { severity: Severity::Gap, ..problem(file, line, column, code, message) }
}

pub(super) struct Source<'t> {
    pub(super) path: &'static str,
    pub(super) syntax: Syntax<'t>,
}

impl<'t> Source<'t> {
    pub(super) fn open(tree: &'t Tree, path: &'static str, diagnostics: &mut Diagnostics) -> Option<Self> {
        let syntax = tree.locate(path).and_then(|file| Syntax::parse(file.text()));
        if syntax.is_none() {
            diagnostics.push(problem(path, 0, 0, "extract/file-missing", "the tree has no such file".to_owned()));
        }
        Some(Self { path, syntax: syntax? })
    }

    pub(super) fn report(&self, node: Node<'_>, code: &'static str, message: String, diagnostics: &mut Diagnostics) {
        let at = node.start_position();
        let (line, column) = (at.row as u32 + 1, at.column as u32 + 1);
        diagnostics.push(gap(self.path, line, column, code, message));
    }

    /// `#define NAME NUMBER`.
    pub(super) fn definitions(&self) -> IndexMap<String, u16> {
        let mut found = IndexMap::new();
        for node in find(self.syntax.root(), &["preproc_def"]) {
            let number = integer(self.syntax.field(node, "value").trim()).and_then(|value| u16::try_from(value).ok());
            if let Some(number) = number {
                found.insert(self.syntax.field(node, "name").to_owned(), number);
            }
        }
        found
    }

    /// The `case NAME: return EXPRESSION;` of a function.
    pub(super) fn returns(&self, function: &str, diagnostics: &mut Diagnostics) -> IndexMap<String, Expression> {
        let mut found = IndexMap::new();
        let Some(definition) = self.function(function, diagnostics) else { return found };
        let mut waiting = Vec::new();
        for case in find(definition, &["case_statement"]) {
            let Some(value) = case.child_by_field_name("value") else { continue };
            waiting.push(self.syntax.text(value).to_owned());
            let Some(answer) = children(case).find(|child| matches!(child.kind(), "return_statement" | "if_statement"))
            else {
                continue;
            };
            match self.answer(answer).parse::<Expression>() {
                Ok(expression) => found.extend(waiting.drain(..).map(|name| (name, expression.clone()))),
                Err(error) => self.report(answer, "extract/opcode-effect", error.to_string(), diagnostics),
            }
        }
        found
    }

    /// What a statement returns: `return E;`, or `if (T) return E; else return F;`.
    fn answer(&self, statement: Node<'_>) -> String {
        let inner = |node: Option<Node<'_>>| node.map_or(String::new(), |node| self.answer(node));
        match statement.kind() {
            "return_statement" => children(statement).next().map_or("", |node| self.syntax.text(node)).to_owned(),
            "if_statement" => {
                let test = self.syntax.field(statement, "condition");
                let yes = inner(statement.child_by_field_name("consequence"));
                format!("{test} ? ({yes}) : ({})", inner(statement.child_by_field_name("alternative")))
            }
            _ => inner(children(statement).next()),
        }
    }

    /// The definition of a function.
    fn function(&self, name: &str, diagnostics: &mut Diagnostics) -> Option<Node<'_>> {
        let found = find(self.syntax.root(), &["function_definition"]).into_iter().find(|node| {
            let declared = node.child_by_field_name("declarator").and_then(declared);
            declared.is_some_and(|declared| self.syntax.text(declared) == name)
        });
        if found.is_none() {
            let message = format!("`{name}` is not defined");
            self.report(self.syntax.root(), "extract/opcode-function", message, diagnostics);
        }
        found
    }

    /// The `[NAME] = value` entries of a table.
    fn entries(&self, table: &str, diagnostics: &mut Diagnostics) -> Vec<(String, Node<'_>)> {
        let initialised = find(self.syntax.root(), &["init_declarator"]).into_iter().find(|node| {
            let name = node.child_by_field_name("declarator").and_then(declared);
            name.is_some_and(|name| self.syntax.text(name) == table)
        });
        let Some(value) = initialised.and_then(|node| node.child_by_field_name("value")) else {
            // Without the others every number of cache entries would be a guess.
            let tell = if table == "DE_INSTRUMENT" { gap } else { problem };
            diagnostics.push(tell(
                self.path,
                0,
                0,
                "extract/opcode-table",
                format!("the table `{table}` is not defined"),
            ));
            return Vec::new();
        };
        let pairs = children(value).filter(|child| child.kind() == "initializer_pair");
        pairs
            .filter_map(|pair| {
                let designator = children(pair.child_by_field_name("designator")?).next()?;
                Some((self.syntax.text(designator).to_owned(), pair.child_by_field_name("value")?))
            })
            .collect()
    }

    /// The entries of a table, values as text.
    pub(super) fn names(&self, table: &str, diagnostics: &mut Diagnostics) -> IndexMap<String, String> {
        let entries = self.entries(table, diagnostics);
        entries.into_iter().map(|(name, value)| (name, self.syntax.text(value).to_owned())).collect()
    }

    /// The flags of `_PyOpcode_opcode_metadata`, without `HAS_` and `_FLAG`.
    pub(super) fn flags(&self, diagnostics: &mut Diagnostics) -> IndexMap<String, Vec<String>> {
        let mut found = IndexMap::new();
        for (name, value) in self.entries("_PyOpcode_opcode_metadata", diagnostics) {
            let Some(flags) = children(value).last() else { continue };
            let words = find(flags, &["identifier"]).into_iter().map(|word| self.syntax.text(word));
            let short = |word: &str| word.strip_prefix("HAS_")?.strip_suffix("_FLAG").map(str::to_owned);
            found.insert(name, words.filter_map(short).collect());
        }
        found
    }
}
