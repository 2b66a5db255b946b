//! TorchDynamo's Python as data: classes with their methods and tables, the table of slot definitions, comments. Parsed, never imported.
use anyhow::{Context, Result, anyhow};
use serde::Serialize;
use std::collections::BTreeMap;
use tree_sitter::{Node, Parser};

/// A table of names of a class, with the line of each.
pub type Table = BTreeMap<String, u32>;

/// A class.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// The last word of each base.
    pub bases: Vec<String>,
    /// Its file.
    pub path: String,
    /// Its line.
    pub line: u32,
    /// Methods, with how many arguments each needs beside `self` and `tx`; `None` where it takes any number.
    pub methods: BTreeMap<String, (u32, Option<usize>)>,
    /// Annotated fields, in order.
    pub fields: Vec<String>,
    /// What names are bound to, as text.
    pub bound: BTreeMap<String, (u32, String)>,
    /// Tables: the keys of dictionaries that names are bound to.
    pub tables: BTreeMap<String, Table>,
    /// String literals of its body.
    pub strings: std::collections::BTreeSet<String>,
}

/// A row of `_SLOTDEFS`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// `__or__`.
    pub name: String,
    /// The method of trackers: `nb_or_impl`.
    pub implementation: String,
    /// `nb_or`.
    pub slot: String,
    /// `wrap_binaryfunc_l`.
    pub wrapper: String,
    /// Its file.
    pub path: String,
    /// Its line.
    pub line: u32,
}

/// A comment or a documentation string.
#[derive(Clone, Debug)]
pub struct Remark {
    /// Its file.
    pub path: String,
    /// The line it starts at.
    pub line: u32,
    /// Its lines.
    pub lines: Vec<String>,
}

/// What the files say.
#[derive(Debug, Default)]
pub struct Sources {
    /// Classes by name; the first of a name counts.
    pub classes: BTreeMap<String, Class>,
    /// `_SLOTDEFS`, if there is such a table.
    pub slotdefs: Option<Vec<Row>>,
    /// Comments that stand together, and documentation strings.
    pub remarks: Vec<Remark>,
    /// Files that do not parse, with the line.
    pub unread: Vec<(String, u32)>,
}

impl Sources {
    /// Adds a file; `path` is how findings name it.
    pub fn add(&mut self, path: &str, text: &str) -> Result<()> {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_python::LANGUAGE.into()).context("the grammar of Python does not fit")?;
        let tree = parser.parse(text, None).ok_or_else(|| anyhow!("{path} was not parsed"))?;
        let mut reader = Reader { path, text, sources: self };
        if let Some(line) = error_line(tree.root_node()) {
            reader.sources.unread.push((path.to_owned(), line));
        }
        reader.visit(tree.root_node());
        Ok(())
    }

    /// A class and its bases below `stop`, nearest first.
    pub fn lineage<'s>(&'s self, name: &str, stop: &str) -> Vec<&'s Class> {
        let mut found: Vec<&Class> = Vec::new();
        let mut waiting = vec![name.to_owned()];
        while let Some(name) = waiting.pop() {
            let Some(class) = self.classes.get(&name).filter(|class| class.name != stop) else { continue };
            if !found.iter().any(|known| known.name == class.name) {
                found.push(class);
                waiting.extend(class.bases.iter().rev().cloned());
            }
        }
        found
    }
}

/// The first line that is no Python.
fn error_line(node: Node<'_>) -> Option<u32> {
    if !node.has_error() {
        return None;
    }
    if node.is_error() || node.is_missing() {
        return Some(line(node));
    }
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    children.into_iter().find_map(error_line).or(Some(line(node)))
}

fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(0) + 1
}

struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    sources: &'a mut Sources,
}

impl<'a> Reader<'a> {
    fn words(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn child(&self, node: Node<'_>, field: &str) -> &'a str {
        node.child_by_field_name(field).map_or("", |child| self.words(child))
    }

    fn visit(&mut self, node: Node<'_>) {
        match node.kind() {
            "comment" => self.comment(node),
            "string" => self.remark(node),
            "class_definition" => {
                let class = self.class(node);
                self.sources.classes.entry(class.name.clone()).or_insert(class);
            }
            "assignment" if self.child(node, "left") == "_SLOTDEFS" => self.slotdefs(node),
            _ => {}
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        children.into_iter().for_each(|child| self.visit(child));
    }

    /// Comments on lines that follow each other are one remark.
    fn comment(&mut self, node: Node<'_>) {
        let (at, text) = (line(node), self.words(node).to_owned());
        let path = self.path;
        match self.sources.remarks.last_mut() {
            Some(last)
                if last.path == path
                    && last.line as usize + last.lines.len() == at as usize
                    && last.lines[0].starts_with('#') =>
            {
                last.lines.push(text);
            }
            _ => self.sources.remarks.push(Remark { path: path.to_owned(), line: at, lines: vec![text] }),
        }
    }

    fn remark(&mut self, node: Node<'_>) {
        if node.parent().is_some_and(|parent| parent.kind() == "expression_statement") {
            let lines = self.words(node).lines().map(str::to_owned).collect();
            self.sources.remarks.push(Remark { path: self.path.to_owned(), line: line(node), lines });
        }
    }

    fn class(&self, node: Node<'_>) -> Class {
        let mut class = Class {
            name: self.child(node, "name").to_owned(),
            path: self.path.to_owned(),
            line: line(node),
            ..Class::default()
        };
        if let Some(bases) = node.child_by_field_name("superclasses") {
            let mut cursor = bases.walk();
            let named =
                bases.named_children(&mut cursor).filter(|base| matches!(base.kind(), "identifier" | "attribute"));
            class.bases =
                named.map(|base| self.words(base).rsplit('.').next().unwrap_or_default().to_owned()).collect();
        }
        if let Some(body) = node.child_by_field_name("body") {
            let mut cursor = body.walk();
            body.named_children(&mut cursor).for_each(|item| self.member(item, &mut class));
            self.strings(body, &mut class.strings);
        }
        class
    }

    fn strings(&self, node: Node<'_>, found: &mut std::collections::BTreeSet<String>) {
        if node.kind() == "string" {
            found.insert(unquoted(self.words(node)).to_owned());
            return;
        }
        let mut cursor = node.walk();
        node.named_children(&mut cursor).for_each(|child| self.strings(child, found));
    }

    fn member(&self, item: Node<'_>, class: &mut Class) {
        match item.kind() {
            "decorated_definition" => {
                if let Some(inner) = item.child_by_field_name("definition") {
                    self.member(inner, class);
                }
            }
            "function_definition" => {
                class.methods.insert(self.child(item, "name").to_owned(), (line(item), self.needed(item)));
            }
            "expression_statement" => {
                let mut cursor = item.walk();
                item.named_children(&mut cursor)
                    .filter(|child| child.kind() == "assignment")
                    .for_each(|child| self.binding(child, class));
            }
            // `if sys.version_info >= …:` and the like.
            "if_statement" | "block" | "else_clause" | "elif_clause" | "try_statement" => {
                let mut cursor = item.walk();
                item.named_children(&mut cursor).for_each(|child| self.member(child, class));
            }
            _ => {}
        }
    }

    fn binding(&self, node: Node<'_>, class: &mut Class) {
        let name = self.child(node, "left").to_owned();
        if node.child_by_field_name("type").is_some() {
            class.fields.push(name.clone());
        }
        let Some(right) = node.child_by_field_name("right") else { return };
        class.bound.entry(name.clone()).or_insert((line(node), self.words(right).to_owned()));
        if right.kind() == "dictionary" {
            let mut cursor = right.walk();
            let pairs = right.named_children(&mut cursor).filter(|pair| pair.kind() == "pair");
            let keys = pairs.filter_map(|pair| pair.child_by_field_name("key")).filter(|key| key.kind() == "string");
            let keys = keys.map(|key| (unquoted(self.words(key)).to_owned(), line(key)));
            class.tables.entry(name).or_default().extend(keys);
        }
    }

    /// Arguments without a default, beside `self` and `tx`.
    fn needed(&self, function: Node<'_>) -> Option<usize> {
        let parameters = function.child_by_field_name("parameters")?;
        let mut cursor = parameters.walk();
        let mut needed = 0_usize;
        for parameter in parameters.named_children(&mut cursor) {
            match parameter.kind() {
                "list_splat_pattern" | "dictionary_splat_pattern" => return None,
                "identifier" | "typed_parameter" => {
                    if self.words(parameter).starts_with('*') {
                        return None;
                    }
                    needed += 1;
                }
                _ => {}
            }
        }
        Some(needed.saturating_sub(2))
    }

    fn slotdefs(&mut self, node: Node<'_>) {
        let Some(list) = node.child_by_field_name("right").filter(|right| right.kind() == "list") else { return };
        let mut cursor = list.walk();
        let calls = list.named_children(&mut cursor).filter(|child| child.kind() == "call");
        let rows = calls.filter_map(|call| self.slotdef(call)).collect();
        self.sources.slotdefs = Some(rows);
    }

    fn slotdef(&self, call: Node<'_>) -> Option<Row> {
        let arguments = call.child_by_field_name("arguments")?;
        let mut cursor = arguments.walk();
        let texts: Vec<&str> = arguments
            .named_children(&mut cursor)
            .filter(|child| child.kind() != "comment")
            .map(|child| self.words(child))
            .collect();
        let [name, implementation, rest @ ..] = texts.as_slice() else { return None };
        let slot = rest.iter().rev().nth(1)?.rsplit('.').next()?.to_lowercase();
        let wrapper = rest.last()?.trim_start_matches('_').to_owned();
        Some(Row {
            name: unquoted(name).to_owned(),
            implementation: unquoted(implementation).to_owned(),
            slot,
            wrapper,
            path: self.path.to_owned(),
            line: line(call),
        })
    }
}

/// The text of a plain string literal.
fn unquoted(text: &str) -> &str {
    text.trim_start_matches(['r', 'b', 'u', 'f', 'R', 'B', 'U', 'F']).trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
# Mirrors dict_or
# (Objects/dictobject.c)
class A(base.VariableTracker):
    """Doc."""
    _cpython_type = dict
    tp_methods = {"get": Method(get), "pop": Method(pop)}
    def nb_or_impl(self, tx, other: X, reverse=False): pass
    if sys.version_info >= (3, 12):
        @staticmethod
        def many(self, tx, *args): return "handled"
class B(A): pass
class N(NamedTuple):
    nb_or: Slot | None
_SLOTDEFS: list[SlotDef] = [
    # a row
    NBSLOT("__or__", "nb_or_impl", PyNumberSlots.NB_OR, _wrap_binaryfunc_l),  # note
]
"#;

    #[test]
    fn classes_tables_rows_and_comments_are_read() {
        let mut sources = Sources::default();
        sources.add("a.py", TEXT).unwrap();
        let class = &sources.classes["A"];
        assert_eq!((class.line, class.bases.as_slice()), (4, &["VariableTracker".to_owned()][..]));
        assert_eq!(class.methods["nb_or_impl"].1, Some(1));
        assert_eq!(class.methods["many"].1, None);
        assert_eq!(class.tables["tp_methods"].keys().collect::<Vec<_>>(), ["get", "pop"]);
        assert_eq!(class.bound["_cpython_type"].1, "dict");
        assert!(class.strings.contains("handled"));
        assert_eq!(sources.classes["N"].fields, ["nb_or"]);
        let row = &sources.slotdefs.as_ref().unwrap()[0];
        assert_eq!((row.slot.as_str(), row.wrapper.as_str()), ("nb_or", "wrap_binaryfunc_l"));
        assert_eq!(sources.remarks[0].lines.len(), 2);
        assert_eq!(sources.lineage("B", "VariableTracker").len(), 2);
        assert!(sources.unread.is_empty());
    }

    #[test]
    fn what_does_not_parse_is_named_and_the_rest_is_read() {
        let mut sources = Sources::default();
        sources.add("b.py", "class A:\n    x = 1\n\ndef f(:\n    pass\n").unwrap();
        assert_eq!(sources.unread.len(), 1);
        assert!(sources.classes.contains_key("A"));
    }
}
