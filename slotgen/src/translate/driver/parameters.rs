//! What parameters turn out to be that their C types do not tell: objects or functions behind `void *`, and which may be NULL.

use std::collections::BTreeSet;

use crate::lower::Function;
use crate::translate::world::{Convention, ParamKind, World};

/// What an untyped pointer is, by what the body does with it.
pub(super) fn untyped(function: &Function, name: &str) -> ParamKind {
    let text = format!("{:?}", function.body);
    let used = format!("kind: Name({name:?})");
    if !text.contains(&used) {
        return ParamKind::Nothing;
    }
    let is = |what: &str| {
        text.match_indices(&used).all(|(at, _)| {
            text[..at].rsplit("Cast(").next().is_some_and(|cast| cast.starts_with(what) && cast.len() < 90)
        })
    };
    if is("Function(") {
        return ParamKind::Function(String::new(), false);
    }
    if is("Object") { ParamKind::Object(false) } else { ParamKind::Unsupported("void*".to_owned()) }
}

/// Untyped pointers that are handed on are what the callee takes them for; the others are pointers to no known struct.
pub(super) fn untyped_arguments(world: &World) {
    for last in [false, false, false, true] {
        let known = world.translated.borrow().clone();
        let mut translated = world.translated.borrow_mut();
        for (key, convention) in translated.iter_mut() {
            let Some(function) = world.defined.get(key) else { continue };
            for (kind, param) in convention.params.iter_mut().zip(&function.signature.params) {
                if !matches!(kind, ParamKind::Unsupported(text) if text == "void*") {
                    continue;
                }
                match crate::lower::handed_on(&function.body, &param.name) {
                    Some((callee, index)) => {
                        let theirs = known.get(&(key.0.clone(), callee)).and_then(|theirs| theirs.params.get(index));
                        if let Some(theirs @ (ParamKind::Function(..) | ParamKind::Object(_))) = theirs {
                            *kind = theirs.clone();
                        } else if last {
                            *kind = ParamKind::Object(true);
                        }
                    }
                    None if last => *kind = ParamKind::Object(true),
                    None => {}
                }
            }
        }
    }
}

/// The methods of the vocabulary with parameters that may be NULL.
pub(super) fn nullable_methods(world: &World) -> BTreeSet<(String, usize)> {
    let vocabulary = world.vocabulary.borrow();
    let nullable =
        |convention: &Convention| convention.params.iter().filter(|kind| kind.nullable() == Some(true)).count();
    vocabulary
        .iter()
        .map(|(name, convention)| (name.clone(), nullable(convention)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Whether a pointer to objects is used as an array.
pub(super) fn indexed(function: &Function, name: &str) -> bool {
    // What is indexed, or stepped over, or called like one, is an array; all else is an out parameter.
    let set = || {
        let mut assigned = BTreeSet::new();
        function.body.iter().for_each(|stmt| crate::lower::in_stmt(stmt, &mut assigned));
        assigned.contains(&format!("*{name}"))
    };
    crate::lower::indexed(&function.body, name) || crate::translate::world::ARRAY_NAMES.contains(&name) && !set()
}

pub(super) fn widen(world: &World, target: &str, index: usize) -> bool {
    let Some((file, name)) = target.split_once(':') else { return false };
    let mut translated = world.translated.borrow_mut();
    let Some(convention) = translated.get_mut(&(file.to_owned(), name.to_owned())) else { return false };
    match convention.params.get_mut(index).and_then(ParamKind::nullable_mut) {
        Some(nullable) if !*nullable => {
            *nullable = true;
            true
        }
        _ => false,
    }
}
