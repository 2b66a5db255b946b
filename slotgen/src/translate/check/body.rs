//! Walks a function's body and finds the first thing that does not fit.

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::{Block, Expr, Lit, Pat, Stmt};

use super::fits::{fits, meet};
use super::heads::Heads;
use super::kinds::Ty;

pub(super) type Found = Result<Ty, String>;

/// A function as Rust.
pub(crate) struct Function(syn::ItemFn);

impl Function {
    /// Reads a function's text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        syn::parse_str(text).map(Self).map_err(|error| format!("Rust does not parse it: {error}"))
    }
}

impl Heads {
    /// Why a function's Rust does not compile, if it is known not to.
    pub(crate) fn refusal(&self, Function(function): &Function) -> Option<String> {
        let returns = match &function.sig.output {
            syn::ReturnType::Type(_, ty) => Ty::of(ty),
            syn::ReturnType::Default => Ty::Unit,
        };
        let mut body = Body { heads: self, scopes: vec![BTreeMap::new()], returns, joins: Vec::new() };
        for input in &function.sig.inputs {
            if let syn::FnArg::Typed(one) = input
                && let Pat::Ident(name) = &*one.pat
            {
                body.bind(name.ident.to_string(), Ty::of(&one.ty));
            }
        }
        let returns = body.returns.clone();
        match body.block(&function.block, Some(&returns)) {
            Err(why) => Some(why),
            Ok(given) => {
                (!fits(&given, &returns)).then(|| format!("the body gives `{given}` where `{returns}` is wanted"))
            }
        }
    }
}

pub(super) struct Body<'h> {
    pub(super) heads: &'h Heads,
    scopes: Vec<BTreeMap<String, Ty>>,
    returns: Ty,
    /// Labels of blocks and loops, with what they give.
    joins: Vec<(String, Ty)>,
}

impl Body<'_> {
    fn bind(&mut self, name: String, ty: Ty) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, ty);
        }
    }

    fn known(&self, name: &str) -> Option<&Ty> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn block(&mut self, block: &Block, wanted: Option<&Ty>) -> Found {
        self.scopes.push(BTreeMap::new());
        let found = self.statements(&block.stmts, wanted);
        self.scopes.pop();
        found
    }

    fn statements(&mut self, stmts: &[Stmt], wanted: Option<&Ty>) -> Found {
        let mut ended = false;
        for (index, stmt) in stmts.iter().enumerate() {
            let last = index + 1 == stmts.len();
            let ty = match stmt {
                Stmt::Local(local) => self.local(local)?,
                Stmt::Expr(expr, None) if last => {
                    let ty = self.expr(expr, wanted)?;
                    return Ok(if ended { Ty::Never } else { ty });
                }
                Stmt::Expr(expr, semicolon) => {
                    let ty = self.expr(expr, None)?;
                    if semicolon.is_none() && !matches!(ty, Ty::Unit | Ty::Never | Ty::Unknown) {
                        return Err(format!("a statement gives `{ty}`: {}", told(expr)));
                    }
                    if ty == Ty::Never { Ty::Never } else { Ty::Unit }
                }
                _ => Ty::Unit,
            };
            ended |= ty == Ty::Never;
        }
        Ok(if ended { Ty::Never } else { Ty::Unit })
    }

    fn local(&mut self, local: &syn::Local) -> Found {
        let (pattern, annotated) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(Ty::of(&typed.ty))),
            pattern => (pattern, None),
        };
        let Some(init) = &local.init else {
            self.pattern(pattern, &annotated.unwrap_or(Ty::Unknown))?;
            return Ok(Ty::Unit);
        };
        let found = self.expr(&init.expr, annotated.as_ref())?;
        if let Some(annotated) = &annotated {
            self.must(&found, annotated, &init.expr)?;
        }
        let ty = annotated.unwrap_or(found);
        if let Some((_, no)) = &init.diverge {
            let other = self.expr(no, None)?;
            if other != Ty::Never && other != Ty::Unknown {
                return Err("`let … else` goes on".to_owned());
            }
        }
        self.pattern(pattern, &ty)?;
        Ok(if ty == Ty::Never { Ty::Never } else { Ty::Unit })
    }

    fn pattern(&mut self, pattern: &Pat, ty: &Ty) -> Result<(), String> {
        match pattern {
            Pat::Ident(name) => self.bind(name.ident.to_string(), ty.clone()),
            Pat::Tuple(all) => match ty.bare() {
                Ty::Tuple(types) if types.len() == all.elems.len() => {
                    for (one, ty) in all.elems.iter().zip(types) {
                        self.pattern(one, ty)?;
                    }
                }
                ty if ty.is_open() => {
                    for one in &all.elems {
                        self.pattern(one, &Ty::Unknown)?;
                    }
                }
                ty => return Err(format!("`{ty}` is taken apart as a tuple")),
            },
            Pat::TupleStruct(one) => {
                let name = one.path.segments.last().map_or(String::new(), |last| last.ident.to_string());
                // What is matched through a reference is a reference.
                let lent = |inner: &Ty| match ty {
                    Ty::Ref(_) => Ty::Ref(Box::new(inner.clone())),
                    Ty::Mut(_) => Ty::Mut(Box::new(inner.clone())),
                    _ => inner.clone(),
                };
                let inner = match (name.as_str(), ty.bare()) {
                    ("Some", Ty::Option(inner)) | ("Ok", Ty::Result(inner)) => lent(inner),
                    ("Err", Ty::Result(_)) => Ty::named("Error"),
                    (_, ty) if ty.is_open() => Ty::Unknown,
                    ("Some" | "Ok" | "Err", ty) => return Err(format!("`{name}` is looked for in `{ty}`")),
                    _ => Ty::Unknown,
                };
                for one in &one.elems {
                    self.pattern(one, &inner)?;
                }
            }
            Pat::Guard(one) => {
                self.pattern(&one.pat, ty)?;
                let found = self.expr(&one.guard, Some(&Ty::Bool))?;
                self.must(&found, &Ty::Bool, &one.guard)?;
            }
            Pat::Reference(one) => self.pattern(&one.pat, ty.bare())?,
            Pat::Paren(one) => self.pattern(&one.pat, ty)?,
            Pat::Or(one) => {
                for case in &one.cases {
                    self.pattern(case, ty)?;
                }
            }
            Pat::Lit(_) | Pat::Range(_)
                if !(ty.bare().is_number()
                    || ty.bare().is_open()
                    || *ty.bare() == Ty::Bool
                    || *ty.bare() == Ty::Str) =>
            {
                return Err(format!("`{ty}` is compared with a number"));
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn must(&self, given: &Ty, wanted: &Ty, at: &Expr) -> Result<(), String> {
        if fits(given, wanted) { Ok(()) } else { Err(format!("`{given}` where `{wanted}` is wanted: {}", told(at))) }
    }

    /// The type of an expression; `wanted` is what its surroundings want, which reaches into `Some(…)` and into branches.
    pub(super) fn expr(&mut self, expr: &Expr, wanted: Option<&Ty>) -> Found {
        match expr {
            Expr::Lit(one) => Ok(literal(&one.lit)),
            Expr::Path(path) => self.path(path),
            Expr::Paren(inner) => self.expr(&inner.expr, wanted),
            Expr::Group(inner) => self.expr(&inner.expr, wanted),
            Expr::Reference(inner) => {
                let below = match wanted {
                    Some(Ty::Ref(below) | Ty::Mut(below)) => Some(&**below),
                    _ => None,
                };
                let found = self.expr(&inner.expr, below)?;
                let found = Box::new(found);
                Ok(if inner.mutability.is_some() { Ty::Mut(found) } else { Ty::Ref(found) })
            }
            Expr::Unary(one) => self.unary(one),
            Expr::Binary(both) => self.binary(both),
            Expr::Cast(one) => self.cast(one),
            Expr::Try(one) => {
                let below = wanted.map(|wanted| Ty::Result(Box::new(wanted.clone())));
                match self.expr(&one.expr, below.as_ref())? {
                    Ty::Result(inner) => Ok(*inner),
                    ty if ty.is_open() => Ok(Ty::Unknown),
                    ty => Err(format!("`?` behind `{ty}`: {}", told(&one.expr))),
                }
            }
            Expr::MethodCall(call) => self.method(call),
            Expr::Call(call) => self.call(call, wanted),
            Expr::If(one) => self.conditional(one, wanted),
            Expr::Let(one) => {
                let found = self.expr(&one.expr, None)?;
                self.pattern(&one.pat, &found)?;
                Ok(Ty::Bool)
            }
            Expr::Match(one) => self.matched(one, wanted),
            Expr::Block(block) => match &block.label {
                Some(label) => {
                    self.joins.push((label.name.to_string(), Ty::Never));
                    let found = self.block(&block.block, wanted)?;
                    let joined = self.joins.pop().map_or(Ty::Never, |join| join.1);
                    met(joined, found, expr)
                }
                None => self.block(&block.block, wanted),
            },
            Expr::Loop(one) => {
                self.joins.push((one.label.as_ref().map_or(String::new(), |label| label.name.to_string()), Ty::Never));
                self.block(&one.body, None)?;
                Ok(self.joins.pop().map_or(Ty::Never, |join| join.1))
            }
            Expr::Break(one) => {
                let given = match &one.expr {
                    Some(held) => self.expr(held, None)?,
                    None => Ty::Unit,
                };
                let label = one.label.as_ref().map_or(String::new(), ToString::to_string);
                let at = self.joins.iter().rposition(|(name, _)| label.is_empty() || *name == label);
                if let Some(join) = at.and_then(|at| self.joins.get_mut(at)) {
                    join.1 = met(join.1.clone(), given, expr)?;
                }
                Ok(Ty::Never)
            }
            Expr::Continue(_) => Ok(Ty::Never),
            Expr::Return(one) => {
                let returns = self.returns.clone();
                if let Some(held) = &one.expr {
                    let found = self.expr(held, Some(&returns))?;
                    self.must(&found, &returns, held)?;
                }
                Ok(Ty::Never)
            }
            Expr::Assign(one) => {
                let to = self.expr(&one.left, None)?;
                let found = self.expr(&one.right, Some(&to))?;
                self.must(&found, &to, &one.right)?;
                Ok(Ty::Unit)
            }
            Expr::Tuple(all) if all.elems.is_empty() => Ok(Ty::Unit),
            Expr::Tuple(all) => {
                Ok(Ty::Tuple(all.elems.iter().map(|one| self.expr(one, None)).collect::<Result<_, _>>()?))
            }
            Expr::Array(all) => {
                let below = match wanted {
                    Some(Ty::Slice(below)) => Some((**below).clone()),
                    _ => None,
                };
                let mut joined = below.clone().unwrap_or(Ty::Never);
                for one in &all.elems {
                    let found = self.expr(one, below.as_ref())?;
                    joined = met(joined, found, one)?;
                }
                Ok(Ty::Slice(Box::new(if joined == Ty::Never { Ty::Unknown } else { joined })))
            }
            _ => Ok(Ty::Unknown),
        }
    }

    fn path(&self, path: &syn::ExprPath) -> Found {
        let segments: Vec<String> = path.path.segments.iter().map(|one| one.ident.to_string()).collect();
        match segments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["None"] => Ok(Ty::Option(Box::new(Ty::Unknown))),
            [name] => Ok(self.known(name).cloned().unwrap_or(Ty::Unknown)),
            ["Global", name] if !self.heads.globals.contains(*name) => Err(format!("there is no `Global::{name}`")),
            ["FunctionId", name] if !self.heads.ids.contains(*name) => Err(format!("there is no `FunctionId::{name}`")),
            [kind @ ("Global" | "FunctionId" | "Slot" | "Suite"), _] => Ok(Ty::named(kind)),
            _ => Ok(Ty::Unknown),
        }
    }

    fn conditional(&mut self, one: &syn::ExprIf, wanted: Option<&Ty>) -> Found {
        self.scopes.push(BTreeMap::new());
        let condition = self.expr(&one.cond, Some(&Ty::Bool))?;
        self.must(&condition, &Ty::Bool, &one.cond)?;
        let yes = self.block(&one.then_branch, wanted)?;
        self.scopes.pop();
        match &one.else_branch {
            Some((_, other)) => {
                let no = self.expr(other, wanted)?;
                self.ways(yes, no, wanted, other)
            }
            None if matches!(yes, Ty::Unit | Ty::Never | Ty::Unknown) => Ok(Ty::Unit),
            None => Err(format!("one way gives `{yes}`, the other nothing")),
        }
    }

    /// Two ways meet: each may be coerced to what is wanted.
    fn ways(&self, yes: Ty, no: Ty, wanted: Option<&Ty>, at: &Expr) -> Found {
        if let Some(wanted) = wanted.filter(|wanted| !wanted.is_open() && yes != Ty::Never && no != Ty::Never)
            && fits(&yes, wanted)
            && fits(&no, wanted)
        {
            return Ok(wanted.clone());
        }
        met(yes, no, at)
    }

    fn matched(&mut self, one: &syn::ExprMatch, wanted: Option<&Ty>) -> Found {
        let held = self.expr(&one.expr, None)?;
        let mut joined = Ty::Never;
        for arm in &one.arms {
            self.scopes.push(BTreeMap::new());
            self.pattern(&arm.pat, &held)?;
            let found = self.expr(&arm.body, wanted)?;
            self.scopes.pop();
            joined = self.ways(joined, found, wanted, &arm.body)?;
        }
        Ok(joined)
    }
}

fn met(one: Ty, other: Ty, at: &Expr) -> Found {
    let told = || format!("one way gives `{one}`, the other `{other}`: {}", told(at));
    meet(one.clone(), other.clone()).ok_or_else(told)
}

fn literal(lit: &Lit) -> Ty {
    match lit {
        Lit::Int(number) if number.suffix().is_empty() => Ty::AnyInt,
        Lit::Int(number) if number.suffix() == "f64" => Ty::Double,
        Lit::Int(number) => Ty::Int(number.suffix().to_owned()),
        Lit::Float(number) if number.suffix().is_empty() => Ty::AnyDouble,
        Lit::Float(_) => Ty::Double,
        Lit::Bool(_) => Ty::Bool,
        Lit::Str(_) => Ty::Ref(Box::new(Ty::Str)),
        _ => Ty::Unknown,
    }
}

pub(super) fn told(expr: &Expr) -> String {
    told_tokens(expr)
}

/// The beginning of an expression as it stands.
pub(super) fn told_tokens(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
