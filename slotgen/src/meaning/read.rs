//! From a translated body to its normal form.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Block, Expr, Lit, Pat, Stmt};

use super::names;
use super::normal::{Meaning, PARAMETER, Step, ends, value};

/// Texts longer than this are told by their digest.
const LONGEST: usize = 1500;

/// Reads a body; `members` are the methods that read a member of a struct.
pub(super) fn meaning(body: &TokenStream, parameters: &[String], members: &BTreeSet<String>) -> Meaning {
    let Ok(block) = syn::parse2::<Block>(quote!({ #body })) else {
        return Meaning { steps: vec![Step::Return(body.to_string())] };
    };
    let named = parameters.iter().enumerate().map(|(index, name)| (name.clone(), format!("{PARAMETER}{index}")));
    let mut reader = Reader { scopes: vec![named.collect()], next: 0, members, joins: Vec::new() };
    let mut steps = Vec::new();
    if let Some(result) = reader.statements(&block.stmts, &mut steps) {
        steps.push(Step::Return(result));
    }
    Meaning { steps }.numbered()
}

struct Reader<'m> {
    scopes: Vec<BTreeMap<String, String>>,
    next: u32,
    members: &'m BTreeSet<String>,
    /// Labelled blocks whose value a variable takes.
    joins: Vec<(String, u32)>,
}

impl Reader<'_> {
    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn bind(&mut self, name: String, to: String) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, to);
        }
    }

    fn known(&self, name: &str) -> Option<&String> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn scoped(&mut self, stmts: &[Stmt], steps: &mut Vec<Step>) -> Option<String> {
        self.scopes.push(BTreeMap::new());
        let found = self.statements(stmts, steps);
        self.scopes.pop();
        found
    }

    /// Statements up to the end of their block; gives the block's value, if it has one.
    fn statements(&mut self, stmts: &[Stmt], steps: &mut Vec<Step>) -> Option<String> {
        for (index, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[index + 1..];
            match stmt {
                Stmt::Local(local) => {
                    let Some(init) = &local.init else { continue };
                    if let Some((_, no)) = &init.diverge {
                        // `let Some(x) = e else { … };`
                        let held = self.expr(&init.expr, steps);
                        let mut other = Vec::new();
                        self.block_expr(no, &mut other);
                        self.pattern(&local.pat, &held);
                        let mut yes = Vec::new();
                        let result = self.statements(rest, &mut yes);
                        steps.push(branch(held, yes, other));
                        return result;
                    }
                    let held = self.expr(&init.expr, steps);
                    if ends(steps) {
                        return None;
                    }
                    match &local.pat {
                        Pat::Ident(name) if name.mutability.is_some() => {
                            let variable = self.fresh();
                            steps.push(Step::Set(variable, held));
                            self.bind(name.ident.to_string(), value(variable));
                        }
                        pattern => self.pattern(pattern, &held),
                    }
                }
                Stmt::Expr(Expr::If(one), _) if one.else_branch.is_none() => {
                    self.scopes.push(BTreeMap::new());
                    let condition = self.condition(&one.cond, steps);
                    let mut yes = Vec::new();
                    let result = self.statements(&one.then_branch.stmts, &mut yes);
                    self.scopes.pop();
                    if rest.is_empty() && result.is_some() {
                        return result;
                    }
                    if ends(&yes) {
                        let mut no = Vec::new();
                        let result = self.statements(rest, &mut no);
                        steps.push(branch(condition, yes, no));
                        return result;
                    }
                    steps.push(branch(condition, yes, Vec::new()));
                }
                Stmt::Expr(expr, semicolon) => {
                    let found = self.expr(expr, steps);
                    if ends(steps) {
                        return None;
                    }
                    if rest.is_empty() && semicolon.is_none() {
                        return (!found.is_empty()).then_some(found);
                    }
                }
                Stmt::Item(_) | Stmt::Macro(_) => {}
            }
        }
        None
    }

    fn pattern(&mut self, pattern: &Pat, held: &str) {
        match pattern {
            Pat::Ident(name) => self.bind(name.ident.to_string(), held.to_owned()),
            Pat::TupleStruct(inner) => inner.elems.iter().for_each(|one| self.pattern(one, held)),
            Pat::Tuple(inner) => {
                for (index, one) in inner.elems.iter().enumerate() {
                    self.pattern(one, &format!("{held}.{index}"));
                }
            }
            Pat::Reference(inner) => self.pattern(&inner.pat, held),
            Pat::Paren(inner) => self.pattern(&inner.pat, held),
            _ => {}
        }
    }

    fn block_expr(&mut self, expr: &Expr, steps: &mut Vec<Step>) -> Option<String> {
        match expr {
            Expr::Block(block) if block.label.is_none() => self.scoped(&block.block.stmts, steps),
            other => {
                let found = self.expr(other, steps);
                (!found.is_empty() && !ends(steps)).then_some(found)
            }
        }
    }

    /// A condition; `let Some(x) = e` holds where `e` is something.
    fn condition(&mut self, expr: &Expr, steps: &mut Vec<Step>) -> String {
        match expr {
            Expr::Let(one) => {
                let held = self.expr(&one.expr, steps);
                self.pattern(&one.pat, &held);
                held
            }
            Expr::Binary(both) if matches!(both.op, syn::BinOp::And(_)) => {
                let left = self.condition(&both.left, steps);
                let mut more = Vec::new();
                let right = self.condition(&both.right, &mut more);
                self.joined(left, more, right, true, steps)
            }
            other => self.expr(other, steps),
        }
    }

    /// `left && right` (or `||`), where the right side is looked at only if it matters.
    fn joined(&mut self, left: String, more: Vec<Step>, right: String, and: bool, steps: &mut Vec<Step>) -> String {
        if more.is_empty() {
            return format!("({left} {} {right})", if and { "&&" } else { "||" });
        }
        let variable = self.fresh();
        let mut more = more;
        more.push(Step::Set(variable, right));
        let known = vec![Step::Set(variable, if and { "false" } else { "true" }.to_owned())];
        steps.push(if and { branch(left, more, known) } else { branch(left, known, more) });
        value(variable)
    }

    /// The value of ways that meet again.
    fn met(&mut self, ways: [(Vec<Step>, Option<String>); 2], condition: String, steps: &mut Vec<Step>) -> String {
        let [(mut yes, one), (mut no, other)] = ways;
        if let (Some(one), Some(other), true, true) = (&one, &other, yes.is_empty(), no.is_empty()) {
            return shortened(match (one.as_str(), other.as_str()) {
                ("1" | "true", "0" | "false") => condition,
                ("0" | "false", "1" | "true") => not(&condition),
                _ if one == other => one.clone(),
                _ => match condition.strip_prefix('!') {
                    Some(positive) => format!("({positive} ? {other} : {one})"),
                    None => format!("({condition} ? {one} : {other})"),
                },
            });
        }
        if one.is_none() && other.is_none() {
            steps.push(branch(condition, yes, no));
            return String::new();
        }
        // A value that only one way gives needs no variable.
        match (one, other) {
            (Some(one), None) if ends(&no) && yes.is_empty() => {
                steps.push(branch(condition, yes, no));
                one
            }
            (None, Some(other)) if ends(&yes) && no.is_empty() => {
                steps.push(branch(condition, yes, no));
                other
            }
            (one, other) => {
                let variable = self.fresh();
                yes.extend(one.map(|one| Step::Set(variable, one)));
                no.extend(other.map(|other| Step::Set(variable, other)));
                steps.push(branch(condition, yes, no));
                value(variable)
            }
        }
    }

    fn expr(&mut self, expr: &Expr, steps: &mut Vec<Step>) -> String {
        shortened(self.any(expr, steps))
    }

    fn any(&mut self, expr: &Expr, steps: &mut Vec<Step>) -> String {
        match expr {
            Expr::Lit(one) => literal(&one.lit),
            Expr::Path(path) => self.path(path),
            Expr::Reference(inner) => self.expr(&inner.expr, steps),
            Expr::Paren(inner) => self.expr(&inner.expr, steps),
            Expr::Group(inner) => self.expr(&inner.expr, steps),
            Expr::Cast(inner) => self.expr(&inner.expr, steps),
            Expr::Try(inner) => self.expr(&inner.expr, steps),
            Expr::Unary(one) => {
                let inner = self.expr(&one.expr, steps);
                match one.op {
                    syn::UnOp::Not(_) => not(&inner),
                    syn::UnOp::Neg(_) => format!("-{inner}"),
                    _ => inner,
                }
            }
            Expr::Binary(both) => self.binary(both, steps),
            Expr::MethodCall(call) => self.method(call, steps),
            Expr::Call(call) => self.call(call, steps),
            Expr::If(one) => {
                self.scopes.push(BTreeMap::new());
                let condition = self.condition(&one.cond, steps);
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                let left = self.scoped(&one.then_branch.stmts, &mut yes);
                self.scopes.pop();
                let right = one.else_branch.as_ref().and_then(|(_, other)| self.block_expr(other, &mut no));
                self.met([(yes, left), (no, right)], condition, steps)
            }
            Expr::Match(one) => self.matched(one, steps),
            Expr::Block(block) => self.labelled(block, steps),
            Expr::Loop(one) => {
                let variable = self.fresh();
                self.joins.push((one.label.as_ref().map_or(String::new(), |label| label.name.to_string()), variable));
                let mut inner = Vec::new();
                self.scoped(&one.body.stmts, &mut inner);
                self.joins.pop();
                steps.push(Step::Loop(inner));
                value(variable)
            }
            Expr::Return(one) => {
                self.returned(one.expr.as_deref(), steps);
                String::new()
            }
            Expr::Break(one) => {
                let held = one.expr.as_ref().map(|held| self.expr(held, steps));
                let label = one.label.as_ref().map_or(String::new(), ToString::to_string);
                let found =
                    self.joins.iter().rev().position(|(name, _)| label.is_empty() || *name == label).unwrap_or(0);
                let variable = self.joins.iter().rev().nth(found).map(|join| join.1);
                if let (Some(variable), Some(held)) = (variable, held.filter(|held| !held.is_empty())) {
                    steps.push(Step::Set(variable, held));
                }
                steps.push(Step::Leave(format!("out {found}")));
                String::new()
            }
            Expr::Continue(one) => {
                let label = one.label.as_ref().map_or(String::new(), ToString::to_string);
                let found =
                    self.joins.iter().rev().position(|(name, _)| label.is_empty() || *name == label).unwrap_or(0);
                steps.push(Step::Leave(format!("again {found}")));
                String::new()
            }
            Expr::Assign(one) => {
                let held = self.expr(&one.right, steps);
                let to = self.expr(&one.left, steps);
                match to.strip_prefix('\u{1}').and_then(|number| number.parse().ok()) {
                    Some(variable) => steps.push(Step::Set(variable, held)),
                    None => {
                        let result = self.fresh();
                        steps.push(Step::Call { result, function: "=".to_owned(), arguments: vec![to, held] });
                    }
                }
                String::new()
            }
            Expr::Tuple(all) => format!("({})", self.all(all.elems.iter(), steps).join(", ")),
            Expr::Array(all) => format!("[{}]", self.all(all.elems.iter(), steps).join(", ")),
            Expr::Index(one) => {
                let (base, index) = (self.expr(&one.expr, steps), self.expr(&one.index, steps));
                format!("{base}[{index}]")
            }
            Expr::Range(one) => {
                let mut end =
                    |side: &Option<Box<Expr>>| side.as_ref().map_or(String::new(), |side| self.expr(side, steps));
                let (from, to) = (end(&one.start), end(&one.end));
                format!("{from}..{to}")
            }
            Expr::Field(one) => format!("{}.{}", self.expr(&one.base, steps), one.member.to_token_stream()),
            other => self.spelled(&other.to_token_stream()),
        }
    }

    fn all<'e>(&mut self, all: impl Iterator<Item = &'e Expr>, steps: &mut Vec<Step>) -> Vec<String> {
        all.map(|one| self.expr(one, steps)).collect()
    }

    /// Tokens as they stand, with values for names.
    fn spelled(&self, tokens: &TokenStream) -> String {
        let words = tokens.clone().into_iter().map(|tree| match tree {
            proc_macro2::TokenTree::Group(group) => format!("({})", self.spelled(&group.stream())),
            proc_macro2::TokenTree::Ident(name) => {
                let name = name.to_string();
                self.known(&name).cloned().unwrap_or(name)
            }
            other => other.to_string(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn path(&self, path: &syn::ExprPath) -> String {
        let name = path.path.segments.last().map_or(String::new(), |last| last.ident.to_string());
        if path.path.segments.len() == 1
            && let Some(known) = self.known(&name)
        {
            return known.clone();
        }
        if name == "None" { "NULL".to_owned() } else { name }
    }

    fn binary(&mut self, both: &syn::ExprBinary, steps: &mut Vec<Step>) -> String {
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

    fn method(&mut self, call: &syn::ExprMethodCall, steps: &mut Vec<Step>) -> String {
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
        if names::without_meaning(name) {
            return "NULL".to_owned();
        }
        let result = self.fresh();
        steps.push(Step::Call { result, function: names::function(name), arguments });
        value(result)
    }

    fn call(&mut self, call: &syn::ExprCall, steps: &mut Vec<Step>) -> String {
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

    /// `match call { Ok(x) => …, Err(e) if … => { handler } … }`, or a way by a number.
    fn matched(&mut self, one: &syn::ExprMatch, steps: &mut Vec<Step>) -> String {
        let is_result = |pattern: &Pat| match pattern {
            Pat::TupleStruct(inner) => inner.path.is_ident("Ok") || inner.path.is_ident("Err"),
            Pat::Guard(_) => true,
            _ => false,
        };
        let held = self.expr(&one.expr, steps);
        if !one.arms.iter().any(|arm| is_result(&arm.pat)) {
            let variable = self.fresh();
            let mut gives = false;
            let mut arms = Vec::new();
            for arm in &one.arms {
                let mut way = Vec::new();
                if let Some(found) = self.block_expr(&arm.body, &mut way) {
                    gives = true;
                    way.push(Step::Set(variable, found));
                }
                arms.push((arm.pat.to_token_stream().to_string(), way));
            }
            steps.push(Step::Switch { value: held, arms });
            return if gives { value(variable) } else { String::new() };
        }
        let (mut fine, mut caught) = ((Vec::new(), None), (Vec::new(), None));
        for arm in &one.arms {
            self.scopes.push(BTreeMap::new());
            let is_ok = matches!(&arm.pat, Pat::TupleStruct(inner) if inner.path.is_ident("Ok"));
            if is_ok {
                self.pattern(&arm.pat, &held);
                let mut way = Vec::new();
                let found = self.block_expr(&arm.body, &mut way);
                fine = (way, found);
            } else if let Pat::Guard(guarded) = &arm.pat {
                self.pattern(&guarded.pat, "error");
                let mut way = Vec::new();
                let found = self.block_expr(&arm.body, &mut way);
                caught = (way, found);
            }
            self.scopes.pop();
        }
        let passes_on = |step: &Step| matches!(step, Step::Raise { exception, message } if exception == "error" && message.is_empty());
        if caught.0.len() == 1 && caught.0.iter().all(passes_on) {
            steps.extend(fine.0);
            return fine.1.unwrap_or_default();
        }
        if ends(&caught.0) {
            steps.push(Step::Caught(caught.0));
            steps.extend(fine.0);
            return fine.1.unwrap_or_default();
        }
        let variable = self.fresh();
        let (mut handler, mut way) = (caught.0, fine.0);
        handler.extend(caught.1.map(|found| Step::Set(variable, found)));
        let gives = fine.1.is_some();
        way.extend(fine.1.map(|found| Step::Set(variable, found)));
        steps.push(Step::Caught(handler));
        steps.push(Step::Branch { condition: "no error".to_owned(), yes: way, no: Vec::new() });
        if gives { value(variable) } else { String::new() }
    }

    fn labelled(&mut self, block: &syn::ExprBlock, steps: &mut Vec<Step>) -> String {
        let Some(label) = &block.label else { return self.scoped(&block.block.stmts, steps).unwrap_or_default() };
        let variable = self.fresh();
        self.joins.push((label.name.to_string(), variable));
        let mut inner = Vec::new();
        if let Some(found) = self.scoped(&block.block.stmts, &mut inner) {
            inner.push(Step::Set(variable, found));
        }
        self.joins.pop();
        steps.push(Step::Loop(inner));
        value(variable)
    }

    fn returned(&mut self, expr: Option<&Expr>, steps: &mut Vec<Step>) {
        let Some(expr) = expr else { return steps.push(Step::Return(String::new())) };
        let is_error =
            matches!(expr, Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Err")));
        if !is_error {
            let held = self.expr(expr, steps);
            if !ends(steps) {
                steps.push(Step::Return(held));
            }
            return;
        }
        let Expr::Call(call) = expr else { return };
        let held = self.all(call.args.iter(), steps).pop().unwrap_or_default();
        match steps.last() {
            Some(Step::Call { result, function, arguments }) if names::raises(function) && value(*result) == held => {
                let mut arguments = arguments.clone().into_iter();
                let exception = arguments.next().unwrap_or_else(|| function.clone());
                let message = arguments.collect();
                steps.pop();
                steps.push(Step::Raise { exception, message });
            }
            _ => steps.push(Step::Raise { exception: held, message: Vec::new() }),
        }
    }
}

/// A branch whose condition is no negation.
fn branch(condition: String, yes: Vec<Step>, no: Vec<Step>) -> Step {
    match condition.strip_prefix('!') {
        Some(positive) => Step::Branch { condition: positive.to_owned(), yes: no, no: yes },
        None => Step::Branch { condition, yes, no },
    }
}

fn not(text: &str) -> String {
    text.strip_prefix('!').map_or_else(|| format!("!{text}"), str::to_owned)
}

/// Equality has no sides.
fn equal(one: String, other: String) -> String {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    format!("({first} == {second})")
}

fn literal(lit: &Lit) -> String {
    match lit {
        Lit::Int(number) => number.base10_digits().to_owned(),
        Lit::Float(number) => number.base10_digits().to_owned(),
        other => other.to_token_stream().to_string(),
    }
}

fn shortened(text: String) -> String {
    if text.len() <= LONGEST { text } else { format!("#{}", super::short(&text)) }
}
