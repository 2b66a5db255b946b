//! Which C functions may run during a trace: those whose effects are confined to their arguments, and a short reviewed list.
use crate::semantics::effects::EFFECTS;
use crate::semantics::slotdefs::SLOTDEFS;
use generated::effects::Effects;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::OnceLock;

use super::reviewed::{REVIEWED, STATEFUL, TOKENS, UNREAD};

/// The C name of a function, and its effects.
type Row = (&'static str, Effects);

/// The C function behind a name of a type or a module, with its effects; `None` if its sources were not read.
pub(super) fn of(owner: &str, name: &str) -> Option<Row> {
    row(owner, name).or_else(|| match name {
        "__new__" => row(owner, "tp_new"),
        _ => slots_of(name).iter().find_map(|slot| row(owner, slot)),
    })
}

/// The row of the generated table.
fn row(owner: &str, name: &str) -> Option<Row> {
    static ROWS: OnceLock<FxHashMap<[&'static str; 2], Row>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| EFFECTS.iter().map(|row| ([row.0, row.1], (row.2, row.3))).collect());
    rows.get(&[owner, name]).copied()
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
pub(super) struct Given {
    /// The first is an object that the trace made.
    pub own_first: bool,
    /// The others are numbers, text and the like, which nothing changes.
    pub plain: bool,
}

/// Whether a function may run: it is in the reviewed table; or it is pure and gets nothing but numbers and text; or it touches nothing
/// but an object that the trace made, or but its arguments, for which tokens may stand. Otherwise why not, in words.
pub(super) fn confined(owner: &str, name: &str, given: Given) -> Result<(), String> {
    let found = of(owner, name);
    if is_stateful(owner, name) {
        return Err(reason(found));
    }
    if is_reviewed(owner, name) {
        return Ok(());
    }
    let by_effects = found.is_some_and(|(_, effects)| {
        effects.is_self_contained() && (takes_tokens(owner) || given.plain && (effects.is_pure() || given.own_first))
    });
    if by_effects { Ok(()) } else { Err(reason(found)) }
}

/// Whether instances of a class of C are made by a function that touches nothing but its arguments.
pub(super) fn makes(owner: &str) -> bool {
    let by_effects = || of(owner, "__new__").is_some_and(|(_, effects)| effects.is_self_contained());
    is_reviewed(owner, "__new__") || takes_tokens(owner) && by_effects()
}

/// Whether a function depends on state of the process, whatever a row says.
pub(super) fn is_stateful(owner: &str, name: &str) -> bool {
    static ROWS: OnceLock<Covered> = OnceLock::new();
    ROWS.get_or_init(|| covered(STATEFUL)).contains(&[owner, name])
}

/// Whether a row of the reviewed table covers a function.
fn is_reviewed(owner: &str, name: &str) -> bool {
    static ROWS: OnceLock<Covered> = OnceLock::new();
    ROWS.get_or_init(|| covered(REVIEWED)).contains(&[owner, name]) || UNREAD.iter().any(|row| row.0 == owner)
}

/// Owners and names of functions.
type Covered = FxHashSet<[&'static str; 2]>;

fn covered(rows: &[super::reviewed::Row]) -> Covered {
    rows.iter().flat_map(|row| row.1.iter().map(|name| [row.0, name])).collect()
}

/// Whether tokens may stand for the arguments of an owner's functions: its own row, or that of its module.
fn takes_tokens(owner: &str) -> bool {
    let module = owner.rsplit_once('.').map_or("", |(module, _)| module);
    TOKENS.iter().any(|row| row.0 == owner || row.0 == module)
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
        assert!(EFFECTS.is_sorted_by_key(|row| (row.0, row.1)));
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
