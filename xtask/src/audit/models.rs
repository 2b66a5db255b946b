//! Finds hand-written code in the tracer's sources: the symbolic vocabulary, tables of names, and comparisons with names.
use crate::place;
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::visit::Visit;

/// The tracer.
const ROOM: &str = "runtime/src/trace";

/// A row of a table of names: its strings. Of three or more, the first is an owner and the last a reason.
pub type Row = Vec<String>;

/// What one file does by hand.
#[derive(Debug, Default, Serialize)]
pub struct ByHand {
    /// Methods of the symbolic vocabulary: each stands for a function or macro of C.
    pub vocabulary: Vec<String>,
    /// Tables of names, by the name of the constant.
    pub tables: BTreeMap<String, Vec<Row>>,
    /// Names that a `match`, a `matches!` or a comparison tells apart.
    pub cases: Vec<String>,
}

impl ByHand {
    /// Rows of all tables.
    pub fn rows(&self) -> usize {
        self.tables.values().map(Vec::len).sum()
    }

    fn is_empty(&self) -> bool {
        self.vocabulary.is_empty() && self.tables.is_empty() && self.cases.is_empty()
    }
}

/// The files of the tracer that do something by hand.
pub fn read() -> Result<BTreeMap<String, ByHand>> {
    let root = place::root();
    let mut files = Vec::new();
    collect(&root.join(ROOM), &mut files)?;
    let mut found = BTreeMap::new();
    for path in files {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let file = syn::parse_file(&text).with_context(|| path.display().to_string())?;
        let mut reader = Reader::default();
        reader.visit_file(&file);
        let mut by_hand = reader.found;
        by_hand.cases.sort();
        by_hand.cases.dedup();
        if !by_hand.is_empty() {
            let name = path.strip_prefix(root.join(ROOM)).unwrap_or(&path).display().to_string();
            found.insert(name, by_hand);
        }
    }
    Ok(found)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

#[derive(Default)]
struct Reader {
    found: ByHand,
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let test = module.attrs.iter().any(|attribute| attribute.path().is_ident("cfg"));
        if !test {
            syn::visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        if of.is_some_and(|segment| segment.ident == "CApi") {
            let names = item.items.iter().filter_map(|item| match item {
                syn::ImplItem::Fn(function) => Some(function.sig.ident.to_string()),
                _ => None,
            });
            self.found.vocabulary.extend(names);
        }
        syn::visit::visit_item_impl(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.table(&item.ident, &item.expr);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.table(&item.ident, &item.expr);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let mut names = Names::default();
        names.visit_pat(&arm.pat);
        self.found.cases.extend(names.0);
        syn::visit::visit_arm(self, arm);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if matches!(binary.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_)) {
            let sides = [&*binary.left, &*binary.right];
            self.found.cases.extend(sides.into_iter().filter_map(text).filter(|name| is_name(name)));
        }
        syn::visit::visit_expr_binary(self, binary);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if call.path.is_ident("matches") {
            let names = literals(call.tokens.clone());
            self.found.cases.extend(names.into_iter().filter(|name| is_name(name)));
        }
    }
}

impl Reader {
    fn table(&mut self, name: &syn::Ident, value: &syn::Expr) {
        let list = match value {
            syn::Expr::Reference(reference) => &*reference.expr,
            other => other,
        };
        let syn::Expr::Array(array) = list else { return };
        let rows: Vec<Row> = array.elems.iter().map(row).filter(|row| !row.is_empty()).collect();
        if !rows.is_empty() {
            self.found.tables.entry(name.to_string()).or_default().extend(rows);
        }
    }
}

fn row(expr: &syn::Expr) -> Row {
    match expr {
        syn::Expr::Tuple(tuple) => tuple.elems.iter().flat_map(row).collect(),
        syn::Expr::Reference(reference) => row(&reference.expr),
        syn::Expr::Array(array) => array.elems.iter().flat_map(row).collect(),
        other => text(other).into_iter().collect(),
    }
}

fn text(expr: &syn::Expr) -> Option<String> {
    match expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Whether a text is the name of something of Python or C, no message and no format.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

/// String literals of a pattern.
#[derive(Default)]
struct Names(Vec<String>);

impl<'ast> Visit<'ast> for Names {
    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        if is_name(&text.value()) {
            self.0.push(text.value());
        }
    }
}

fn literals(tokens: proc_macro2::TokenStream) -> Vec<String> {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            proc_macro2::TokenTree::Group(group) => literals(group.stream()),
            proc_macro2::TokenTree::Literal(literal) => {
                syn::parse_str::<syn::LitStr>(&literal.to_string()).map(|text| text.value()).into_iter().collect()
            }
            _ => Vec::new(),
        })
        .collect()
}
