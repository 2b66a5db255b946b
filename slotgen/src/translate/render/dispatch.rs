//! Renders the way from the identity of a C function to its translation, per typedef of function pointers.

use std::collections::{BTreeMap, BTreeSet};

use super::rendered::{Arm, Dispatcher, Head};
use crate::translate::driver::{Translated, Translation};
use crate::translate::world::{Convention, ParamKind, Returns, module};

/// The slot typedefs with their conventions.
pub(super) fn typedefs(translation: &Translation) -> BTreeMap<String, Convention> {
    let world = &translation.world;
    let mut names: BTreeSet<String> = world.slots().into_iter().map(|(_, slot, _)| slot.function).collect();
    // Those that the runtime calls by name, whether or not this release's functions do.
    names.extend(
        world.contracts.slots().filter(|name| world.declarations.functions.contains_key(*name)).map(str::to_owned),
    );
    // Those that are no slots, but are called.
    let vocabulary = world.vocabulary.borrow();
    let called = vocabulary.keys().filter_map(|name| name.strip_prefix("call_"));
    names.extend(called.filter(|name| world.declarations.functions.contains_key(*name)).map(str::to_owned));
    names
        .into_iter()
        .filter_map(|name| world.slot_convention(&name).map(|convention| (name, convention)))
        .filter(|(_, convention)| {
            !matches!(convention.returns, Returns::Unsupported(_)) && convention.params.iter().all(usable)
        })
        .collect()
}

fn usable(kind: &ParamKind) -> bool {
    !matches!(
        kind,
        ParamKind::Unsupported(_)
            | ParamKind::Arguments
            | ParamKind::Parsed
            | ParamKind::Strings
            | ParamKind::Ints(_)
            | ParamKind::Chars
    )
}

/// The dispatchers of a release, typedef by typedef.
pub(super) fn dispatchers(translation: &Translation) -> Vec<Dispatcher> {
    let mut all = Vec::new();
    for (typedef, convention) in typedefs(translation) {
        let signature = translation.world.declarations.functions.get(&typedef);
        let Some(signature) = signature else { continue };
        let mut arms = Vec::new();
        for one in translation.translated.values().flatten() {
            let head = &one.function.signature;
            let same = head.returns == signature.returns
                && head.params.len() == signature.params.len()
                && !head.variadic
                && head.params.iter().zip(&signature.params).all(|(a, b)| a.ctype == b.ctype);
            if same {
                arms.extend(arm(translation, one, &convention));
            }
        }
        all.push(Dispatcher { typedef, head: Head::new(&convention), arms });
    }
    all
}

fn arm(translation: &Translation, one: &Translated, convention: &Convention) -> Option<Arm> {
    let id = translation.world.note_id((one.function.file.clone(), one.function.name.clone()));
    let key = (module(&one.function.file), one.function.name.clone());
    let mut args = String::new();
    for (index, (wanted, given)) in one.convention.params.iter().zip(&convention.params).enumerate() {
        args += &match (wanted, given) {
            (a, b) if a == b => format!(", a{index}"),
            (ParamKind::Object(true), ParamKind::Object(false))
            | (ParamKind::OutObject(true), ParamKind::OutObject(false)) => format!(", Some(a{index})"),
            (ParamKind::OutInt(a, true), ParamKind::OutInt(b, false)) if a == b => format!(", Some(a{index})"),
            (ParamKind::Object(false), ParamKind::Object(true)) => format!(", a{index}?"),
            (ParamKind::Function(_, false), ParamKind::Function(_, false)) => format!(", a{index}"),
            (ParamKind::Function(_, true), ParamKind::Function(_, false)) => format!(", Some(a{index})"),
            _ => return None,
        };
    }
    let call = format!("super::{}::{}(c{args})", key.0, key.1);
    let call = match (&one.convention.returns, &convention.returns) {
        (a, b) if std::mem::discriminant(a) == std::mem::discriminant(b) => call,
        (Returns::Error, _) => format!("calls::raised({call})"),
        (Returns::Object, Returns::Optional) => format!("{call}.map(Some)"),
        (Returns::Optional, Returns::Object) => format!("calls::required({call}, c)"),
        _ => return None,
    };
    Some(Arm { key, id, call: format!("Some({call})") })
}
