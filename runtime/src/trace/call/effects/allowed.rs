//! Says whether a C function may run during a trace: its effects stay within its arguments, or a reviewed row allows it.
use crate::ffi::types;
use crate::names::name;
use crate::semantics::effects::EFFECTS;
use crate::semantics::slotdefs::SLOTDEFS;
use crate::semantics::{METHODS, module_in_tables};
use generated::effects::{Effects, lines};
use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

use crate::trace::call::effects::reviewed::{LOOK_INSIDE, PROXIES_ALLOWED, REVIEWED, STATEFUL, UNREAD};

/// The C name of a function, and its effects.
type Row = (&'static str, Effects);

/// What the tables say of one name of an owner.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    row: Option<Row>,
    is_stateful: bool,
    is_reviewed: bool,
}

/// What the tables say of an owner, and of its names.
#[derive(Debug, Default)]
struct Owner {
    /// All may run.
    is_reviewed: bool,
    /// Proxies may stand for arguments.
    takes_proxies: bool,
    /// Texts with a line for each name.
    lines: Vec<&'static str>,
    /// Names that stand for another one's function.
    renamed: Vec<(&'static str, &'static str)>,
    stateful: Vec<&'static str>,
    reviewed: Vec<&'static str>,
    /// Its names, put together when one of them is asked for.
    names: OnceLock<FxHashMap<&'static str, Facts>>,
}

impl Owner {
    fn facts(&self, name: &str) -> Facts {
        self.names.get_or_init(|| self.by_name()).get(name).copied().unwrap_or_default()
    }

    fn by_name(&self) -> FxHashMap<&'static str, Facts> {
        let mut facts: FxHashMap<_, Facts> = FxHashMap::default();
        for (name, function, effects) in self.lines.iter().flat_map(|text| lines(text)) {
            facts.entry(name).or_default().row = Some((function, effects));
        }
        self.stateful.iter().for_each(|name| facts.entry(name).or_default().is_stateful = true);
        self.reviewed.iter().for_each(|name| facts.entry(name).or_default().is_reviewed = true);
        for (name, other) in &self.renamed {
            let known = facts.get(other).copied().unwrap_or_default();
            facts.insert(name, known);
        }
        facts
    }
}

fn owner_of(name: &str) -> &'static Owner {
    static NOBODY: OnceLock<Owner> = OnceLock::new();
    static OWNERS: OnceLock<FxHashMap<&'static str, Owner>> = OnceLock::new();
    let owners = OWNERS.get_or_init(|| {
        let mut owners: FxHashMap<_, Owner> = FxHashMap::default();
        EFFECTS.iter().for_each(|(owner, text)| owners.entry(*owner).or_default().lines.push(text));
        METHODS.iter().for_each(|row| owners.entry(row.0).or_default().renamed.push((row.1, row.2)));
        STATEFUL.iter().for_each(|row| owners.entry(row.0).or_default().stateful.extend(row.1));
        REVIEWED.iter().for_each(|row| owners.entry(row.0).or_default().reviewed.extend(row.1));
        UNREAD.iter().for_each(|row| owners.entry(row.0).or_default().is_reviewed = true);
        PROXIES_ALLOWED.iter().for_each(|row| owners.entry(row.0).or_default().takes_proxies = true);
        owners
    });
    owners.get(module_in_tables(name)).unwrap_or_else(|| NOBODY.get_or_init(Owner::default))
}

/// What the tables say of one name of an owner.
fn facts(owner: &str, name: &str) -> Facts {
    owner_of(owner).facts(name)
}

/// The C function behind a name of a type or a module, with its effects; `None` if its sources were not read.
pub(crate) fn of(owner: &str, name: &str) -> Option<Row> {
    facts(owner, name).row.or_else(|| of_slots(owner, name))
}

/// The function of the slot that the name, of a special method, fills.
fn of_slots(owner: &str, name: &str) -> Option<Row> {
    match name {
        "__new__" => facts(owner, "tp_new").row,
        _ => slots_of(name).iter().find_map(|slot| facts(owner, slot).row),
    }
}

/// The slots that a special method fills.
fn slots_of(name: &str) -> &'static [&'static str] {
    static SLOTS: OnceLock<FxHashMap<&'static str, Vec<&'static str>>> = OnceLock::new();
    let slots = SLOTS.get_or_init(|| {
        let mut slots: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for row in SLOTDEFS {
            slots.entry(row.name).or_default().push(row.slot.name());
        }
        slots
    });
    slots.get(name).map_or(&[], Vec::as_slice)
}

/// What the arguments of a call are, as far as effects ask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    /// The first is an object that the trace made.
    pub own_first: bool,
    /// The others are numbers, text and the like, which nothing changes.
    pub plain: bool,
}

/// Whether a function may run: it is in the reviewed table; or it is pure and gets nothing but numbers and text; or it touches nothing
/// but an object that the trace made, or but its arguments, for which proxies may stand. Otherwise why not, in words.
pub(crate) fn confined(owner: &str, name: &str, given: Given) -> Result<(), String> {
    let facts = facts(owner, name);
    let of_all = owner_of(owner);
    if !facts.is_stateful && (facts.is_reviewed || of_all.is_reviewed) {
        return Ok(());
    }
    let found = facts.row.or_else(|| of_slots(owner, name));
    let by_effects = !facts.is_stateful
        && found.is_some_and(|(_, effects)| {
            effects.is_self_contained()
                && (of_all.takes_proxies
                    || module_takes_proxies(owner)
                    || given.plain && (effects.is_pure() || given.own_first))
        });
    if by_effects { Ok(()) } else { Err(reason(found)) }
}

/// Whether instances of a class of C are made by a function that touches nothing but its arguments.
pub(crate) fn makes(owner: &str) -> bool {
    let of_all = owner_of(owner);
    let by_effects = || of(owner, "__new__").is_some_and(|(_, effects)| effects.is_self_contained());
    of_all.is_reviewed
        || facts(owner, "__new__").is_reviewed
        || (of_all.takes_proxies || module_takes_proxies(owner)) && by_effects()
}

/// Whether functions of an owner tell what lies in containers within their arguments by flags, which a proxy does not have.
pub(crate) fn looks_inside(owner: &str) -> bool {
    let module = owner.split_once('.').map_or(owner, |(module, _)| module);
    LOOK_INSIDE.iter().any(|row| row.0 == module)
}

/// Whether a function depends on state of the process, whatever a row says.
pub(crate) fn is_stateful(owner: &str, name: &str) -> bool {
    facts(owner, name).is_stateful
}

/// Whether a method is one of a builtin type's, all of which are reviewed but those that depend on state, and calls of what an object
/// stands for.
pub(crate) fn of_builtins(class: &Bound<'_, PyType>, name: &str) -> bool {
    let module = class.getattr(name!("__module__")).map(|module| types::text(&module)).unwrap_or_default();
    module == "builtins" && name != "__call__" && !is_stateful(&types::c_name(class), name)
}

/// Whether proxies may stand for the arguments of all functions of an owner's module.
fn module_takes_proxies(owner: &str) -> bool {
    owner.rsplit_once('.').is_some_and(|(module, _)| owner_of(module).takes_proxies)
}

fn reason(found: Option<(&'static str, Effects)>) -> String {
    match found {
        Some((function, effects)) if effects.words().is_empty() => {
            format!("{function} may look at or change what it gets")
        }
        Some((function, effects)) => format!("{function} {}", effects.words().join(", ")),
        None => "its C function is not among those whose effects are known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_finds_methods_slots_and_functions() {
        assert!(EFFECTS.iter().is_sorted_by_key(|row| row.0));
        assert!(
            EFFECTS.iter().all(|row| !row.1.trim().is_empty() && lines(row.1).count() == row.1.trim().lines().count())
        );
        assert_eq!(of("dict", "__or__").map(|row| row.0), Some("dict_or"));
        assert_eq!(of("list", "append").map(|row| row.0), Some("list_append"));
        assert_eq!(of("math", "gcd").map(|row| row.0), Some("math_gcd"));
        assert!(of("list", "append").is_some_and(|(_, effects)| effects.meets(Effects::MUTATES_SELF)));
        assert!(of("datetime.datetime", "timestamp").is_some_and(|(_, effects)| !effects.is_self_contained()));
    }

    #[test]
    fn rows_have_reasons_and_state_wins() {
        assert!(STATEFUL.iter().chain(REVIEWED).all(|row| !row.1.is_empty() && !row.2.is_empty()));
        let given = Given { own_first: true, plain: true };
        assert!(confined("datetime.datetime", "timestamp", given).is_err());
        assert!(confined("no.such", "thing", given).is_err());
    }
}
