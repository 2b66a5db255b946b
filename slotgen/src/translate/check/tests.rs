//! What Rust's compiler would refuse, and what it would not.

use std::collections::BTreeSet;

use super::{Function, Heads};

const CAPI: &str = "trait CApi {
    fn look(&mut self, o: &Self::Object) -> Result<Self::Object, Self::Error> { todo() }
    fn find(&mut self, o: Option<&Self::Object>, name: &str) -> Result<Option<Self::Object>, Self::Error> { todo() }
    fn size(&mut self, o: &Self::Object) -> Result<isize, Self::Error> { todo() }
    fn kind(&mut self, o: &Self::Object) -> Result<i32, Self::Error> { todo() }
    fn test(&mut self, o: &Self::Object) -> Result<bool, Self::Error> { todo() }
    fn fail(&mut self, o: &Self::Object) -> Self::Error { todo() }
    fn global(&mut self, name: Global) -> Result<Self::Object, Self::Error> { todo() }
}";

/// Why a body is refused; its function takes `o`, `maybe` and `n`, and gives an object.
fn refusal(body: &str) -> Option<String> {
    let globals = BTreeSet::from(["Py_None".to_owned()]);
    let mut heads = Heads::of_world(CAPI, &globals, std::iter::empty()).unwrap();
    heads.add("small".to_owned(), "g".to_owned(), ["&C::Object", "i32"].into_iter(), "Option<C::Object>");
    let text = format!(
        "pub fn f<C: CApi>(c: &mut C, o: &C::Object, maybe: Option<&C::Object>, n: isize) -> Result<C::Object, C::Error> {{ {body} }}"
    );
    heads.refusal(&Function::parse(&text).unwrap())
}

#[test]
fn what_compiles_is_not_refused() {
    for body in [
        "return Ok(c.look(o)?);",
        "return c.look(o);",
        "let found = c.find(Some(o), \"x\")?; let Some(found) = found else { return Err(c.fail(o)); }; return Ok(found);",
        "let text = String::new(); if let Some(x) = &c.find(maybe, &text)? { return Ok(x.clone()); } return Ok(o.clone());",
        "let size = c.size(o)?; if size != n && size > 0 { return Ok(o.clone()); } return Err(c.fail(o));",
        "let v = if c.test(o)? { 1i32 } else { c.kind(o)? }; if v as isize == n { return Ok(o.clone()); } return Err(c.fail(o));",
        "let x = match c.look(o) { Ok(x) => x, Err(e) if c.is_exception(&e) => { return Err(e); } Err(e) => return Err(e), }; return Ok(x);",
        "let mut i = 0; loop { if i >= n { break; } i = i + 1; continue; } return Ok(c.global(Global::Py_None)?);",
        "let Some(x) = super::small::g(c, o, 3)? else { return Err(c.fail(o)); }; return Ok(x);",
    ] {
        let body = body.replace("c.is_exception(&e)", "true");
        assert_eq!(refusal(&body), None, "{body}");
    }
}

#[test]
fn what_does_not_compile_is_refused_with_the_reason() {
    for (body, why) in [
        ("return Ok(c.nowhere(o)?);", "no method `nowhere`"),
        ("return Ok(c.find(maybe, \"x\")?);", "`Option<Object>` where `Object`"),
        ("return Ok(c.look(maybe)?);", "`look` is given `Option<&Object>`"),
        ("return Ok(c.look(o, o)?);", "takes 1 arguments and is given 2"),
        (
            "if c.kind(o)? == n { return Ok(o.clone()); } return Err(c.fail(o));",
            "`i32` and `isize` on both sides of `==`",
        ),
        ("if c.kind(o)? { return Ok(o.clone()); } return Err(c.fail(o));", "`i32` where `bool`"),
        (
            "let v = if c.test(o)? { c.kind(o)? } else { c.size(o)? }; return Ok(o.clone());",
            "one way gives `i32`, the other `isize`",
        ),
        ("let x = c.look(o)?; if x.is_none() { return Ok(x); } return Ok(x);", "is asked whether it is something"),
        ("return Ok(super::small::g(c, o, n)?.clone());", "`g` is given `isize` where it takes `i32`"),
        ("return Ok(super::small::h(c)?);", "there is no `small::h`"),
        ("return Ok(c.global(Global::Py_Nothing)?);", "there is no `Global::Py_Nothing`"),
        (
            "if c.look(o)? == c.look(o)? { return Ok(o.clone()); } return Err(c.fail(o));",
            "`Object` and `Object` on both sides",
        ),
        ("return Ok(c.size(o)? as Object);", "cannot be cast"),
    ] {
        let found = refusal(body).unwrap_or_default();
        assert!(found.contains(why), "{body}\n{found}\n{why}");
    }
}
