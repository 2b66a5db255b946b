//! Lays the predicted types over the live ones, slot by slot.

use rustc_hash::{FxHashMap, FxHashSet};

use super::answer::{Live, LiveType};
use super::exceptions::{Alone, Side};
use super::symbols::Symbols;
use super::tables;
use crate::facts::{Facts, SlotOrigin, Type, TypeKind};

/// One slot on which tables and interpreter disagree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Difference {
    /// The compiled C file of the type.
    pub file: String,
    /// The C variable of the type.
    pub c_name: String,
    /// `tp_name`.
    pub tp_name: String,
    /// The slot, or the row of a table: `method append`, `getter real`, `member start`, `tp_flags Py_TPFLAGS_BASETYPE`.
    pub slot: String,
    /// What the tables say.
    pub table: Option<String>,
    /// The names of what the interpreter holds.
    pub live: Vec<String>,
    /// Why they may differ, from the reviewed exceptions.
    pub reason: Option<String>,
}

/// The result of a comparison.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct LiveProof {
    /// The interpreter's release.
    pub release: String,
    /// C types of the interpreter, those made by calling a metatype left out.
    pub types: usize,
    /// Types found in the tables.
    pub matched: usize,
    /// Filled slots of the matched types.
    pub pairs: usize,
    /// Of these, own ones, those that `PyType_Ready` fills among them.
    pub own: usize,
    /// Of these, inherited ones.
    pub inherited: usize,
    /// Rows of method tables.
    pub methods: usize,
    /// Of these, rows with a text signature that was compared with `__text_signature__`.
    pub signatures: usize,
    /// Rows of getter tables.
    pub getset: usize,
    /// Rows of member tables.
    pub members: usize,
    /// Slots, rows of tables and flags that differ.
    pub differences: Vec<Difference>,
    /// Types that only one side has.
    pub alone: Vec<Alone>,
    /// Modules that could not be imported, and why.
    pub failed: Vec<(String, String)>,
}

const HEAPTYPE: u64 = 1 << 9;

/// A type that `type(...)` made, not a C initialiser: it has the functions that only `type_new` puts there.
fn made_by_metatype(ty: &LiveType, symbols: &Symbols) -> bool {
    let holds = |slot: &str, name: &str| {
        let held = ty.slots.get(slot).map_or(&[][..], |&address| symbols.at(address));
        held.iter().any(|known| known == name)
    };
    ty.flags & HEAPTYPE != 0 && holds("tp_traverse", "subtype_traverse")
}

pub(super) fn compare(facts: &Facts, live: &Live, symbols: &Symbols) -> LiveProof {
    let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (index, ty) in facts.types.iter().enumerate() {
        let name = if ty.kind == TypeKind::Static { &ty.c_name } else { &ty.tp_name };
        by_name.entry(name).or_default().push(index);
    }
    let mut proof = LiveProof {
        release: live.release.clone(),
        failed: live.failed.iter().map(|(name, why)| (name.clone(), why.clone())).collect(),
        ..LiveProof::default()
    };
    let mut seen = FxHashSet::default();
    for ty in live.types.iter().filter(|ty| !made_by_metatype(ty, symbols)) {
        proof.types += 1;
        let names = symbols.at(ty.address).iter().map(String::as_str).chain([ty.tp_name.as_str()]);
        let candidates: Vec<usize> = names.filter_map(|name| by_name.get(name)).flatten().copied().collect();
        let same_name = |index: &usize| facts.types.get(*index).is_some_and(|fact| fact.tp_name == ty.tp_name);
        let best = candidates
            .into_iter()
            .filter(same_name)
            .map(|index| (differences(facts, &facts.types[index], ty, symbols), index));
        match best.min_by_key(|(found, index)| (found.len(), seen.contains(index), *index)) {
            Some((found, index)) => {
                seen.insert(index);
                proof.count(&facts.types[index], ty);
                proof.count_tables(tables::compare(facts, &facts.types[index], ty, symbols).0);
                proof.differences.extend(found);
            }
            None => proof.alone.push(only_live(ty, symbols)),
        }
    }
    let unseen = facts.types.iter().enumerate().filter(|(index, _)| !seen.contains(index));
    proof.alone.extend(unseen.map(|(_, ty)| Alone::of(ty, Side::Tables)));
    proof.differences.sort();
    proof.alone.sort();
    proof
}

fn only_live(ty: &LiveType, symbols: &Symbols) -> Alone {
    Alone {
        only: Side::Process,
        file: String::new(),
        c_name: symbols.at(ty.address).first().cloned().unwrap_or_default(),
        tp_name: ty.tp_name.clone(),
        reason: None,
    }
}

impl LiveProof {
    /// Differences, and types of one side alone, without a reason.
    pub fn unexplained(&self) -> usize {
        let differences = self.differences.iter().filter(|difference| difference.reason.is_none()).count();
        differences + self.alone.iter().filter(|ty| ty.reason.is_none()).count()
    }

    fn count_tables(&mut self, compared: tables::Compared) {
        self.methods += compared.methods;
        self.signatures += compared.signatures;
        self.getset += compared.getset;
        self.members += compared.members;
    }

    fn count(&mut self, fact: &Type, live: &LiveType) {
        self.matched += 1;
        for slot in live.slots.keys() {
            self.pairs += 1;
            match fact.slots.get(slot).map(|value| value.origin) {
                Some(SlotOrigin::Own | SlotOrigin::Ready) => self.own += 1,
                _ => self.inherited += 1,
            }
        }
    }
}

fn differences(facts: &Facts, fact: &Type, live: &LiveType, symbols: &Symbols) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |what: String, table: Option<String>, held: Vec<String>| {
        found.push(Difference {
            file: fact.unit().to_owned(),
            c_name: fact.c_name.clone(),
            tp_name: fact.tp_name.clone(),
            slot: what,
            table,
            live: held,
            reason: None,
        });
    };
    let slots: std::collections::BTreeSet<&String> = fact.slots.keys().chain(live.slots.keys()).collect();
    for slot in slots {
        let table = fact.slots.get(slot).map(|value| value.function.clone());
        let held = live.slots.get(slot).map_or(&[][..], |&address| symbols.at(address));
        let agree = match &table {
            Some(function) => live.slots.contains_key(slot) && held.contains(function),
            None => !live.slots.contains_key(slot),
        };
        if !agree {
            differ(slot.clone(), table, held.to_vec());
        }
    }
    for (what, table, held) in tables::compare(facts, fact, live, symbols).1 {
        differ(what, table, held);
    }
    found
}
