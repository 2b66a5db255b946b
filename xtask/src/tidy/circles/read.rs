//! Reads one file: which names its modules define, import and mention.
use super::modules::{Import, Mention, ModuleId, Modules, Pending, children_folder, folder};
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

/// Adds the file's contents to the module `id`, and its inline modules; answers which files come next.
pub fn read(file: &syn::File, id: ModuleId, modules: &mut Modules) -> Vec<Pending> {
    let children = children_folder(&modules.all[id].file);
    let mut reader = Reader { modules, module: id, children, pending: Vec::new() };
    reader.visit_file(file);
    reader.pending
}

struct Reader<'a> {
    modules: &'a mut Modules,
    module: ModuleId,
    /// The folder of the current module's children.
    children: String,
    pending: Vec<Pending>,
}

impl Reader<'_> {
    fn define(&mut self, name: &Ident) {
        self.modules.all[self.module].items.insert(text(name));
    }

    fn mention(&mut self, segments: Vec<String>, line: usize) {
        self.modules.all[self.module].mentions.push(Mention { segments, line });
    }

    fn import(&mut self, name: Option<String>, segments: Vec<String>, line: usize) {
        let mention = Mention { segments, line };
        self.modules.all[self.module].imports.push(Import { name, mention });
    }

    fn import_tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |ident: &Ident| [before, &[text(ident)]].concat();
        match tree {
            syn::UseTree::Path(path) => self.import_tree(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.import(before.last().cloned(), before.to_vec(), line(&name.ident))
            }
            syn::UseTree::Name(name) => self.import(Some(text(&name.ident)), with(&name.ident), line(&name.ident)),
            syn::UseTree::Rename(rename) => {
                let path = if rename.ident == "self" { before.to_vec() } else { with(&rename.ident) };
                self.import(Some(text(&rename.rename)), path, line(&rename.ident));
            }
            syn::UseTree::Glob(glob) => self.import(None, before.to_vec(), glob.star_token.span.start().line),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.import_tree(tree, before)),
        }
    }

    fn inline_module(&mut self, name: &Ident, items: &[syn::Item]) {
        let file = self.modules.all[self.module].file.clone();
        let child = self.modules.add(&file, Some(self.module));
        self.modules.all[self.module].children.entry(text(name)).or_default().push(child);
        let outer = (self.module, self.children.clone());
        self.module = child;
        self.children = format!("{}/{}", self.children, text(name));
        items.iter().for_each(|item| self.visit_item(item));
        (self.module, self.children) = outer;
    }

    fn file_module(&mut self, item: &syn::ItemMod) {
        let name = text(&item.ident);
        let beside = folder(&self.modules.all[self.module].file).to_owned();
        let told = item.attrs.iter().flat_map(path_attributes).map(|path| format!("{beside}/{path}"));
        let mut candidates: Vec<String> = told.collect();
        if candidates.is_empty() || item.attrs.iter().any(|attribute| attribute.path().is_ident("cfg_attr")) {
            let plain = format!("{}/{name}", self.children);
            candidates.extend([format!("{plain}.rs"), format!("{plain}/mod.rs")]);
        }
        self.pending.push(Pending { parent: self.module, name, candidates });
    }

    /// Visits what a macro's tokens parse as; else looks for paths among the tokens.
    fn macro_tokens(&mut self, tokens: &TokenStream) {
        if let Ok(expressions) = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated.parse2(tokens.clone()) {
            expressions.iter().for_each(|expression| self.visit_expr(expression));
        } else if let Ok(statements) = syn::Block::parse_within.parse2(tokens.clone()) {
            statements.iter().for_each(|statement| self.visit_stmt(statement));
        } else {
            self.token_paths(tokens.clone());
        }
    }

    fn token_paths(&mut self, tokens: TokenStream) {
        let mut segments: Vec<Ident> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' && !segments.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.token_path(&mut segments);
                    }
                    segments.push(ident);
                }
                TokenTree::Group(group) => {
                    self.token_path(&mut segments);
                    self.token_paths(group.stream());
                }
                _ => self.token_path(&mut segments),
            }
            colons = 0;
        }
        self.token_path(&mut segments);
    }

    fn token_path(&mut self, segments: &mut Vec<Ident>) {
        if let [first, _, ..] = segments.as_slice() {
            self.mention(segments.iter().map(text).collect(), line(first));
        }
        segments.clear();
    }

    /// Names that follow a word such as `struct` in a macro's tokens.
    fn token_items(&mut self, tokens: TokenStream) {
        let mut defines = false;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if defines && ident != "mut" && ident != "ref" => {
                    self.define(&ident);
                    defines = false;
                }
                TokenTree::Ident(ident) => {
                    defines = ["struct", "enum", "union", "fn", "static", "const", "type", "trait"]
                        .iter()
                        .any(|word| ident == word);
                }
                _ => defines = false,
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if attributes(item).iter().any(is_test) {
            return;
        }
        if let Some(name) = defined(item) {
            self.define(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        match &item.content {
            Some((_, items)) => self.inline_module(&item.ident, items),
            None => self.file_module(item),
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.import_tree(&item.tree, &[]);
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if let Some(name) = &item.ident {
            self.modules.all[self.module].macros.insert(text(name));
            self.token_paths(item.mac.tokens.clone());
            return;
        }
        self.modules.all[self.module].has_item_macros |= !item.mac.path.is_ident("thread_local");
        self.token_items(item.mac.tokens.clone());
        self.visit_macro(&item.mac);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !item.attrs.iter().any(is_test) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.visit_path(&item.path);
        self.macro_tokens(&item.tokens);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let (None, Some(first)) = (path.leading_colon, path.segments.first()) {
            let segments = path.segments.iter().map(|segment| text(&segment.ident)).collect();
            self.mention(segments, line(&first.ident));
        }
        visit::visit_path(self, path);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.modules.all[self.module].variables.insert(text(&pattern.ident));
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}
}

fn text(ident: &Ident) -> String {
    ident.unraw().to_string()
}

fn line(ident: &Ident) -> usize {
    ident.span().start().line
}

fn defined(item: &syn::Item) -> Option<&Ident> {
    match item {
        syn::Item::Const(item) => Some(&item.ident),
        syn::Item::Enum(item) => Some(&item.ident),
        syn::Item::Fn(item) => Some(&item.sig.ident),
        syn::Item::Macro(item) => item.ident.as_ref(),
        syn::Item::Static(item) => Some(&item.ident),
        syn::Item::Struct(item) => Some(&item.ident),
        syn::Item::Trait(item) => Some(&item.ident),
        syn::Item::Type(item) => Some(&item.ident),
        syn::Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, ..))]`.
fn is_test(attribute: &syn::Attribute) -> bool {
    let tokens = match &attribute.meta {
        syn::Meta::Path(path) => return path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string(),
        _ => return false,
    };
    let condition: String = tokens.split_whitespace().collect();
    condition == "test" || condition.starts_with("all(test,")
}

/// The files of `#[path = ".."]` and `#[cfg_attr(.., path = "..")]`.
fn path_attributes(attribute: &syn::Attribute) -> Option<String> {
    match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => literal(&pair.value),
        syn::Meta::List(list) if list.path.is_ident("cfg_attr") => {
            let tail = list.tokens.to_string();
            let value = tail.split("path = \"").nth(1)?;
            value.split('"').next().map(ToOwned::to_owned)
        }
        _ => None,
    }
}

fn literal(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
