//! Coalesces stores to one variable or attribute: the last value is stored where the first store was.
use crate::trace::state::outcome::Effect;
use crate::trace::state::value::ValueId;
use rustc_hash::FxHashMap;

/// What an effect sets.
#[derive(PartialEq, Eq, Hash)]
enum Place {
    Attribute(ValueId, String),
    Global(ValueId, String),
    Cell(ValueId),
}

/// The place, and whether it holds something afterwards.
fn place(effect: &Effect) -> Option<(Place, bool)> {
    Some(match effect {
        Effect::SetAttr { object, name, .. } => (Place::Attribute(*object, name.clone()), true),
        Effect::DelAttr { object, name } => (Place::Attribute(*object, name.clone()), false),
        Effect::SetGlobal { globals, name, .. } => (Place::Global(*globals, name.clone()), true),
        Effect::DelGlobal { globals, name } => (Place::Global(*globals, name.clone()), false),
        Effect::SetCell { cell, value } => (Place::Cell(*cell), value.is_some()),
        _ => return None,
    })
}

/// Later stores go where the first store went, so that the order of names in a namespace stays; a deletion begins anew.
pub(crate) fn merge(effects: &mut Vec<Effect>) {
    let mut first: FxHashMap<Place, usize> = FxHashMap::default();
    let mut kept: Vec<Effect> = Vec::with_capacity(effects.len());
    for effect in effects.drain(..) {
        match place(&effect) {
            Some((place, true)) => match first.get(&place) {
                Some(index) => kept[*index] = effect,
                None => {
                    first.insert(place, kept.len());
                    kept.push(effect);
                }
            },
            Some((place, false)) => {
                first.remove(&place);
                kept.push(effect);
            }
            None => kept.push(effect),
        }
    }
    *effects = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: u32) -> Effect {
        Effect::SetGlobal { globals: ValueId(0), name: name.into(), value: ValueId(value) }
    }

    #[test]
    fn the_last_store_takes_the_place_of_the_first() {
        let mut effects = vec![set("a", 1), set("b", 2), set("a", 3)];
        merge(&mut effects);
        let said: Vec<_> = effects.iter().map(|effect| format!("{effect:?}")).collect();
        assert_eq!(said, [format!("{:?}", set("a", 3)), format!("{:?}", set("b", 2))]);
    }

    #[test]
    fn a_deletion_begins_anew() {
        let gone = || Effect::DelGlobal { globals: ValueId(0), name: "a".into() };
        let mut effects = vec![set("a", 1), gone(), set("b", 2), set("a", 3)];
        merge(&mut effects);
        assert_eq!(effects.len(), 4);
    }
}
