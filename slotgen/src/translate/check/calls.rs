//! Calls: of the world, of other functions, of Rust's own types.

use syn::Expr;

use super::body::{Body, Found, told};
use super::fits::fits;
use super::kinds::Ty;

impl Body<'_> {
    fn given<'e>(
        &mut self,
        name: &str,
        params: &[Ty],
        args: impl ExactSizeIterator<Item = &'e Expr>,
    ) -> Result<(), String> {
        if params.len() != args.len() {
            return Err(format!("`{name}` takes {} arguments and is given {}", params.len(), args.len()));
        }
        for (wanted, arg) in params.iter().zip(args) {
            let found = self.expr(arg, Some(wanted))?;
            if !fits(&found, wanted) {
                return Err(format!("`{name}` is given `{found}` where it takes `{wanted}`: {}", told(arg)));
            }
        }
        Ok(())
    }

    pub(super) fn method(&mut self, call: &syn::ExprMethodCall) -> Found {
        let name = call.method.to_string();
        if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("c")) {
            let Some(head) = self.heads.methods.get(&name).cloned() else {
                return Err(format!("the world has no method `{name}`"));
            };
            self.given(&name, &head.params, call.args.iter())?;
            return Ok(head.returns);
        }
        let receiver = self.expr(&call.receiver, None)?;
        for arg in &call.args {
            self.expr(arg, None)?;
        }
        if receiver.is_open() {
            return Ok(Ty::Unknown);
        }
        let option = |inner: Ty| Ty::Option(Box::new(inner));
        let lent = |inner: &Ty| Ty::Ref(Box::new(inner.clone()));
        Ok(match (name.as_str(), receiver.bare()) {
            ("clone", ty) => ty.clone(),
            ("is_some" | "is_none", Ty::Option(_)) => Ty::Bool,
            ("is_some" | "is_none", ty) => {
                return Err(format!("`{ty}` is asked whether it is something: {}", told(&call.receiver)));
            }
            ("as_ref", Ty::Option(inner)) => option(lent(inner)),
            ("as_mut", Ty::Option(inner)) => option(Ty::Mut(inner.clone())),
            ("cloned" | "copied", Ty::Option(inner)) => option(inner.bare().clone()),
            ("as_deref", Ty::Option(inner)) if **inner == Ty::named("String") => option(lent(&Ty::Str)),
            ("as_str", Ty::Named(name)) if name == "String" => lent(&Ty::Str),
            ("as_str", ty) => return Err(format!("`{ty}` is no string: {}", told(&call.receiver))),
            ("to_owned" | "to_string", Ty::Str) => Ty::named("String"),
            ("to_owned" | "to_string", Ty::Named(name)) if name == "String" => Ty::named("String"),
            ("len", _) => Ty::Int("usize".to_owned()),
            (name, ty) if name.starts_with("wrapping_") && ty.is_number() => ty.clone(),
            _ => Ty::Unknown,
        })
    }

    pub(super) fn call(&mut self, call: &syn::ExprCall, wanted: Option<&Ty>) -> Found {
        let Expr::Path(path) = &*call.func else { return Ok(Ty::Unknown) };
        let segments: Vec<String> = path.path.segments.iter().map(|one| one.ident.to_string()).collect();
        let name = segments.last().cloned().unwrap_or_default();
        if let [first, module, _] = segments.as_slice()
            && first == "super"
        {
            let Some(head) = self.heads.functions.get(&(module.clone(), name.clone())).cloned() else {
                return Err(format!("there is no `{module}::{name}`"));
            };
            let args: Vec<&Expr> = call.args.iter().skip(1).collect();
            self.given(&name, &head.params, args.into_iter())?;
            return Ok(Ty::Result(Box::new(head.returns)));
        }
        let below = match (name.as_str(), wanted) {
            ("Some", Some(Ty::Option(inner))) | ("Ok", Some(Ty::Result(inner))) => Some((**inner).clone()),
            ("Err", _) => Some(Ty::named("Error")),
            ("Str", _) => Some(Ty::named("String")),
            ("Int", _) => Some(Ty::Int("i64".to_owned())),
            _ => None,
        };
        let mut first = Ty::Unit;
        for (index, arg) in call.args.iter().enumerate() {
            let found = self.expr(arg, below.as_ref())?;
            if let Some(below) = below.as_ref().filter(|_| segments.len() == 1 || segments[0] == "Argument") {
                self.must(&found, below, arg)?;
            }
            if index == 0 {
                first = found;
            }
        }
        let inner = Box::new(below.filter(|below| !below.is_open()).unwrap_or(first));
        Ok(match name.as_str() {
            "Some" => Ty::Option(inner),
            "Ok" => Ty::Result(inner),
            "Err" => Ty::Result(Box::new(Ty::Unknown)),
            "offsetof" => Ty::Int("i32".to_owned()),
            _ => Ty::Unknown,
        })
    }
}
