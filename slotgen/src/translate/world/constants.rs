//! What names and macros of the headers stand for: constants, global objects, tables, expressions.

use super::table::World;
use crate::lower::{CType, Expr, Kind, Stmt, Text, casts, parse, substitute};
use crate::translate::value::{Place, Val};

impl World {
    /// What a call of a macro of the headers stands for, if that is an expression.
    pub(crate) fn expanded(&self, name: &str, args: &[Expr]) -> Option<Expr> {
        let (params, body) = self.function_macros.get(name)?;
        if params.len() != args.len() {
            return None;
        }
        let text = format!("int f(void) {{ return {}; }}", casts(body));
        let tree = parse(&text)?;
        if tree.root_node().has_error() {
            return None;
        }
        let functions = Text::new(&text, &self.declarations).functions(tree.root_node(), "");
        match functions.first()?.body.first()? {
            Stmt::Return(Some(value), _) => {
                let with = params.iter().cloned().zip(args.iter().cloned()).collect();
                Some(substitute(value, &with, &self.declarations))
            }
            _ => None,
        }
    }

    /// The value of a name that is no variable of the function.
    pub(crate) fn global(&self, file: &str, name: &str) -> Option<Val> {
        if let Some(number) = self.declarations.constants.get(name) {
            return Some(Val::Const(*number, None));
        }
        if name.starts_with("PyExc_")
            || matches!(name, "Py_None" | "Py_True" | "Py_False" | "Py_NotImplemented" | "Py_Ellipsis")
        {
            self.globals.borrow_mut().insert(name.to_owned());
            return Some(Val::Global(name.to_owned()));
        }
        if let Some(items) = self.tables.get(&(file.to_owned(), name.to_owned())) {
            return Some(Val::Array(items.iter().map(|id| Val::Literal(id.clone())).collect(), 0));
        }
        if let Some(items) = self.numbers.get(name) {
            let texts: Option<Vec<Val>> = items
                .iter()
                .map(|item| {
                    item.strip_prefix('"')?
                        .strip_suffix('"')
                        .map(|text| Val::Str(Place { code: quote::quote!(#text), by_ref: true }))
                })
                .collect();
            if let Some(texts) = texts {
                return Some(Val::Array(texts, 0));
            }
            let items: Option<Vec<i128>> =
                items.iter().map(|item| item.parse().ok().or_else(|| self.constant(item, 0))).collect();
            if let Some(items) = items {
                return Some(Val::Array(items.into_iter().map(|number| Val::Const(number, None)).collect(), 0));
            }
        }
        if self.defined.contains_key(&(file.to_owned(), name.to_owned()))
            || self.declarations.prototypes.contains_key(name)
        {
            return Some(Val::Named(name.to_owned()));
        }
        let number = self.constant(name, 0)?;
        Some(Val::Const(number, Some(name.to_owned())))
    }

    /// Another name that a macro without arguments stands for.
    pub(crate) fn alias(&self, name: &str) -> Option<String> {
        let other = (self.macros)(name)?;
        let is_name = other.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && other.chars().all(|c| c.is_alphanumeric() || c == '_');
        (is_name && other != name).then_some(other)
    }

    /// A global struct that is an object, such as `PyType_Type`.
    pub(crate) fn object_global(&self, name: &str) -> Option<Val> {
        if name.ends_with("_Type") && name.starts_with(['P', '_']) || name == "_Py_NoneStruct" {
            self.globals.borrow_mut().insert(name.to_owned());
            return Some(Val::Global(name.to_owned()));
        }
        None
    }

    /// The number that a constant expression gives.
    pub(crate) fn constant_of(&self, expr: &Expr) -> Option<i128> {
        self.constant_expr(expr, 0)
    }

    fn constant(&self, name: &str, depth: usize) -> Option<i128> {
        match name {
            "PY_SSIZE_T_MAX" | "PY_LLONG_MAX" | "LONG_MAX" => return Some(i128::from(i64::MAX)),
            "PY_SSIZE_T_MIN" | "LONG_MIN" => return Some(i128::from(i64::MIN)),
            "INT_MAX" => return Some(i128::from(i32::MAX)),
            "INT_MIN" => return Some(i128::from(i32::MIN)),
            _ => {}
        }
        if let Some(number) = self.declarations.constants.get(name) {
            return Some(*number);
        }
        if depth > 8 {
            return None;
        }
        let body = (self.macros)(name)?;
        let text = format!("int f(void) {{ return {body}; }}");
        let tree = parse(&text)?;
        if tree.root_node().has_error() {
            return None;
        }
        let functions = Text::new(&text, &self.declarations).functions(tree.root_node(), "");
        match functions.first()?.body.first()? {
            Stmt::Return(Some(value), _) => self.constant_expr(value, depth + 1),
            _ => None,
        }
    }

    fn constant_expr(&self, expr: &Expr, depth: usize) -> Option<i128> {
        let of = |expr: &Expr| self.constant_expr(expr, depth);
        Some(match &expr.kind {
            Kind::Int(number) => *number,
            Kind::Name(name) => self.constant(name, depth)?,
            Kind::Cast(CType::Int(_), _, inner) => of(inner)?,
            Kind::Unary(op, inner) => match op.as_str() {
                "-" => -of(inner)?,
                "~" => !of(inner)?,
                _ => of(inner)?,
            },
            Kind::Binary(op, a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                match op.as_str() {
                    "<<" => a.checked_shl(u32::try_from(b).ok()?)?,
                    "|" => a | b,
                    "&" => a & b,
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a.checked_mul(b)?,
                    _ => return None,
                }
            }
            Kind::Call(callee, args) if matches!(&callee.kind, Kind::Name(name) if name.ends_with("_CAST")) => {
                of(args.last()?)?
            }
            Kind::SizeOf(text) => match text.as_str() {
                "size_t" | "Py_ssize_t" | "long" => 8,
                text if text.ends_with('*') => 8,
                "int" => 4,
                text => i128::try_from(self.declarations.size_of(text)?).ok()?,
            },
            _ => return None,
        })
    }
}
