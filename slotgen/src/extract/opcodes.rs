//! The instruction set, from `opcode_ids.h`, `pycore_opcode_metadata.h` and `instrumentation.c`.

use indexmap::IndexMap;
use tree_sitter::Node;

use super::before_3_13;
use super::syntax::{Syntax, children, declared, find};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::facts::{Expression, Opcode, OpcodeKind, Opcodes, integer};
use crate::source::Tree;

const IDS: &str = "Include/opcode_ids.h";
const METADATA: &str = "Include/internal/pycore_opcode_metadata.h";
const INSTRUMENTATION: &str = "Python/instrumentation.c";
const HELP: &str =
    "compare the header with that of the last supported release and teach slotgen/src/extract/opcodes.rs its new form";

/// Reads the instruction set of a tree; `number` gives the value of a macro of the headers.
pub(super) fn extract(
    tree: &Tree,
    number: &dyn Fn(&str) -> Option<i64>,
    diagnostics: &mut Diagnostics,
) -> Option<Opcodes> {
    if tree.file(IDS).is_some() {
        from_metadata(tree, diagnostics)
    } else {
        before_3_13::extract(tree, number, diagnostics)
    }
}

/// 3.13 and later, where the metadata is generated.
fn from_metadata(tree: &Tree, diagnostics: &mut Diagnostics) -> Option<Opcodes> {
    let [Some(ids), Some(metadata)] = &mut [IDS, METADATA].map(|path| Source::open(tree, path, diagnostics)) else {
        return None;
    };
    let defined = ids.definitions();
    let mut popped = metadata.returns("_PyOpcode_num_popped", diagnostics);
    let mut pushed = metadata.returns("_PyOpcode_num_pushed", diagnostics);
    let mut flags = metadata.flags(diagnostics);
    let caches = metadata.names("_PyOpcode_Caches", diagnostics);
    let deopt = metadata.names("_PyOpcode_Deopt", diagnostics);
    let mut instrumented = IndexMap::new();
    // The headers of an installation do not say it.
    if tree.file(INSTRUMENTATION).is_some() || tree.file("Python/ceval.c").is_some() {
        instrumented = Source::open(tree, INSTRUMENTATION, diagnostics)?.names("DE_INSTRUMENT", diagnostics);
    }
    let limit = |name: &str| defined.get(name).copied();
    let (Some(have_argument), Some(first_instrumented)) = (limit("HAVE_ARGUMENT"), limit("MIN_INSTRUMENTED_OPCODE"))
    else {
        let message = "HAVE_ARGUMENT or MIN_INSTRUMENTED_OPCODE is not defined".to_owned();
        diagnostics.push(problem(IDS, 0, 0, "extract/opcode-limits", message));
        return None;
    };
    let mut opcodes = Vec::new();
    for (name, &number) in defined.iter().filter(|(name, _)| !LIMITS.contains(&name.as_str())) {
        let stands_for = |table: &IndexMap<String, String>| table.get(name).filter(|base| *base != name).cloned();
        let (kind, base) = match number {
            256.. => (OpcodeKind::Pseudo, None),
            _ if number >= first_instrumented => (OpcodeKind::Instrumented, stands_for(&instrumented)),
            _ => match stands_for(&deopt) {
                Some(base) => (OpcodeKind::Specialised, Some(base)),
                None => (OpcodeKind::Real, None),
            },
        };
        let counted = base.as_ref().unwrap_or(name);
        let caches = caches.get(counted).and_then(|text| text.parse().ok()).unwrap_or(0);
        let (popped, pushed) = (popped.swap_remove(name), pushed.swap_remove(name));
        let flags = flags.swap_remove(name);
        if kind == OpcodeKind::Real && (flags.is_none() || popped.is_none() || pushed.is_none()) {
            let message = format!("`{name}` has a number and no complete metadata");
            diagnostics.push(problem(METADATA, 0, 0, "extract/opcode-metadata", message));
        }
        let flags = flags.unwrap_or_default();
        opcodes.push(Opcode { name: name.clone(), number, kind, base, caches, flags, popped, pushed, effect: None });
    }
    for (name, _) in popped.iter().chain(&pushed) {
        let message = format!("a stack effect is given for `{name}`, which has no number");
        diagnostics.push(problem(METADATA, 0, 0, "extract/opcode-unnumbered", message));
    }
    opcodes.sort_by_key(|opcode| opcode.number);
    Some(Opcodes { have_argument, opcodes })
}

/// Definitions of the header that are no opcodes.
const LIMITS: &[&str] =
    &["HAVE_ARGUMENT", "MIN_SPECIALIZED_OPCODE", "MIN_INSTRUMENTED_OPCODE", "MIN_PSEUDO_OPCODE", "MAX_PSEUDO_OPCODE"];

pub(super) fn problem(file: &str, line: u32, column: u32, code: &'static str, message: String) -> Diagnostic {
    let file = file.to_owned();
    Diagnostic { severity: Severity::Error, code, file, line, column, message, help: HELP.to_owned() }
}

pub(super) struct Source<'t> {
    path: &'static str,
    pub(super) syntax: Syntax<'t>,
}

impl<'t> Source<'t> {
    pub(super) fn open(tree: &'t Tree, path: &'static str, diagnostics: &mut Diagnostics) -> Option<Self> {
        let syntax = tree.file(path).and_then(|file| Syntax::parse(file.text()));
        if syntax.is_none() {
            diagnostics.push(problem(path, 0, 0, "extract/file-missing", "the tree has no such file".to_owned()));
        }
        Some(Self { path, syntax: syntax? })
    }

    pub(super) fn report(&self, node: Node<'_>, code: &'static str, message: String, diagnostics: &mut Diagnostics) {
        let at = node.start_position();
        let (line, column) = (at.row as u32 + 1, at.column as u32 + 1);
        diagnostics.push(problem(self.path, line, column, code, message));
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
            let message = format!("the table `{table}` is not defined");
            self.report(self.syntax.root(), "extract/opcode-table", message, diagnostics);
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
    fn flags(&self, diagnostics: &mut Diagnostics) -> IndexMap<String, Vec<String>> {
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
