//! Values: operators, calls, and what only looks.

use quote::ToTokens;
use syn::Expr;

use super::forms::{equal, not};
use super::names;
use super::normal::{NEW, Step, value};
use super::read::Reader;

impl Reader<'_> {
    pub(super) fn binary(&mut self, both: &syn::ExprBinary, steps: &mut Vec<Step>) -> String {
        let left = self.expr(&both.left, steps);
        let (and, or) = (matches!(both.op, syn::BinOp::And(_)), matches!(both.op, syn::BinOp::Or(_)));
        if and || or {
            let mut more = Vec::new();
            let right = self.expr(&both.right, &mut more);
            return self.joined(left, more, right, and, steps);
        }
        let right = self.expr(&both.right, steps);
        match both.op {
            syn::BinOp::Ne(_) if right == "0" || right == "NULL" => left,
            syn::BinOp::Eq(_) if right == "0" || right == "NULL" => not(&left),
            syn::BinOp::Ne(_) => not(&equal(left, right)),
            syn::BinOp::Eq(_) => equal(left, right),
            syn::BinOp::Gt(_) => format!("({right} < {left})"),
            syn::BinOp::Le(_) => format!("!({right} < {left})"),
            syn::BinOp::Ge(_) => format!("!({left} < {right})"),
            op => format!("({left} {} {right})", op.to_token_stream()),
        }
    }

    pub(super) fn method(&mut self, call: &syn::ExprMethodCall, steps: &mut Vec<Step>) -> String {
        let name = call.method.to_string();
        let of_world = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("c"));
        if of_world {
            let arguments = self.all(call.args.iter(), steps);
            return self.step(&name, arguments, steps);
        }
        let receiver = self.expr(&call.receiver, steps);
        match name.as_str() {
            "is_some" => receiver,
            "is_none" => not(&receiver),
            name if names::only_holds(name) && call.args.is_empty() => receiver,
            name => format!("{receiver}.{name}({})", self.all(call.args.iter(), steps).join(", ")),
        }
    }

    /// A call of the world, or of another function.
    fn step(&mut self, name: &str, arguments: Vec<String>, steps: &mut Vec<Step>) -> String {
        match (name, arguments.as_slice()) {
            ("global" | "_Py_ID" | "_Py_STR" | "function" | "variable", [one]) => return one.clone(),
            ("is" | "Py_Is", [one, other]) => return equal(one.clone(), other.clone()),
            ("Py_IS_TYPE", [one, ty]) => return equal(format!("type({one})"), ty.clone()),
            ("Py_TYPE", [one]) => return format!("type({one})"),
            ("slot", [ty, slot]) => return format!("{ty}.{slot}"),
            ("slot_at", [ty, _, slot]) => return format!("{ty}.at({slot})"),
            (test, [one]) if test.ends_with("_CheckExact") => {
                return equal(format!("type({one})"), format!("{}_Type", test.trim_end_matches("_CheckExact")));
            }
            _ if names::only_looks(name) || self.members.contains(name) => {
                return format!("{}({})", names::function(name), arguments.join(", "));
            }
            _ => {}
        }
        if names::allocates(name) {
            return NEW.to_owned();
        }
        if names::without_meaning(name) && !names::raises(name) {
            return "NULL".to_owned();
        }
        let result = self.fresh();
        steps.push(Step::Call { result, function: names::function(name), arguments });
        value(result)
    }

    pub(super) fn call(&mut self, call: &syn::ExprCall, steps: &mut Vec<Step>) -> String {
        let Expr::Path(path) = &*call.func else { return self.spelled(&call.to_token_stream()) };
        let segments: Vec<String> = path.path.segments.iter().map(|one| one.ident.to_string()).collect();
        let name = segments.last().cloned().unwrap_or_default();
        let translated = segments.first().is_some_and(|first| first == "super");
        let skipped = usize::from(translated);
        let arguments = self.all(call.args.iter().skip(skipped), steps);
        match (name.as_str(), arguments.as_slice()) {
            _ if translated => self.step(&name, arguments, steps),
            ("Ok" | "Some" | "Str" | "Object" | "Int" | "Given" | "Size" | "offsetof", [one]) => one.clone(),
            _ => format!("{name}({})", arguments.join(", ")),
        }
    }
}
