//! The two front ends against each other: what the sources say of a type, and what the compiler made of it.

use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

use super::ProveError;
use super::exceptions::{Alone, Exceptions, Side};
use crate::binary::Library;
use crate::facts::{Facts, SlotOrigin, Type, TypeKind};

/// One point on which sources and library disagree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct FrontEndDifference {
    /// The compiled C file of the type.
    pub file: String,
    /// The C variable of the type.
    pub c_name: String,
    /// `slot nb_or`, `method append`, `slotdef __or__`…
    pub what: String,
    /// What the sources say.
    pub source: Option<String>,
    /// What the library holds.
    pub library: Option<String>,
    /// Why they may differ, from the reviewed exceptions.
    pub reason: Option<String>,
}

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct FrontEndsProof {
    /// The release of the sources.
    pub source: String,
    /// The release of the library.
    pub library: String,
    /// Types that both have.
    pub matched: usize,
    /// Own slots of these types.
    pub pairs: usize,
    /// Methods of these types.
    pub methods: usize,
    /// Getters of these types.
    pub getset: usize,
    /// Members of these types.
    pub members: usize,
    /// Rows of `slotdefs[]` that agree.
    pub slotdefs: usize,
    /// Points on which they differ.
    pub differences: Vec<FrontEndDifference>,
    /// Types that only one side has.
    pub alone: Vec<Alone>,
}

impl FrontEndsProof {
    /// Differences, and types of one side alone, without a reason.
    pub fn unexplained(&self) -> usize {
        let differences = self.differences.iter().filter(|difference| difference.reason.is_none()).count();
        differences + self.alone.iter().filter(|ty| ty.reason.is_none()).count()
    }
}

/// Compares static types, specs and `slotdefs[]`; nothing that is inherited counts.
pub fn front_ends(facts: &Facts, library: &Library) -> Result<FrontEndsProof, ProveError> {
    let mut proof =
        FrontEndsProof { source: facts.release.clone(), library: library.release.clone(), ..FrontEndsProof::default() };
    let mut compiled: FxHashMap<(&str, &str), Vec<&Type>> = FxHashMap::default();
    for ty in &library.types {
        compiled.entry((&ty.c_name, &ty.tp_name)).or_default().push(ty);
    }
    let mut used: BTreeSet<*const Type> = BTreeSet::new();
    for fact in facts.types.iter().filter(|ty| ty.kind != TypeKind::StructSequence) {
        let candidates = compiled.get(&(fact.c_name.as_str(), fact.tp_name.as_str())).map_or(&[][..], Vec::as_slice);
        let fresh = candidates.iter().filter(|ty| !used.contains(&std::ptr::from_ref::<Type>(ty)));
        let compared = fresh.map(|ty| (differences(fact, ty, library), *ty));
        match compared.min_by_key(|(found, ty)| (found.len(), !same_file(fact, ty))) {
            Some((found, ty)) => {
                used.insert(std::ptr::from_ref(ty));
                proof.matched += 1;
                proof.pairs += ty.slots.len();
                proof.methods += ty.methods.len();
                proof.getset += ty.getset.len();
                proof.members += ty.members.len();
                proof.differences.extend(found);
            }
            None if library.unread.contains(&fact.c_name) && candidates.is_empty() && has_own_name(facts, fact) => {
                let (file, c_name) = (fact.unit().to_owned(), fact.c_name.clone());
                let source = Some(fact.tp_name.clone());
                proof.differences.push(FrontEndDifference {
                    file,
                    c_name,
                    what: "type".to_owned(),
                    source,
                    library: None,
                    reason: None,
                });
            }
            None => proof.alone.push(Alone::of(fact, Side::Tables)),
        }
    }
    let unknown = library
        .types
        .iter()
        .filter(|ty| ty.kind != TypeKind::StructSequence)
        .filter(|ty| !used.contains(&std::ptr::from_ref::<Type>(ty)));
    proof.alone.extend(unknown.map(|ty| Alone::of(ty, Side::Library)));
    proof.alone.sort();
    slotdefs(facts, library, &mut proof);
    proof.differences.sort();
    let exceptions = Exceptions::between(&facts.release, &library.release)?;
    exceptions.explain(&mut proof.alone);
    for found in &mut proof.differences {
        let slot = found.what.strip_prefix("slot ").unwrap_or(&found.what);
        found.reason = exceptions.reason(&found.c_name, slot);
    }
    Ok(proof)
}

fn same_file(fact: &Type, compiled: &Type) -> bool {
    fact.unit().rsplit('/').next() == Some(compiled.file.as_str())
}

/// Whether no other type of the sources has the variable's name.
fn has_own_name(facts: &Facts, fact: &Type) -> bool {
    facts.types.iter().filter(|ty| ty.c_name == fact.c_name).count() == 1
}

fn differences(fact: &Type, compiled: &Type, library: &Library) -> Vec<FrontEndDifference> {
    let mut found = Vec::new();
    let mut differ = |what: String, source: Option<&String>, held: Option<&String>| {
        let agree = match (source, held) {
            (Some(source), Some(held)) => library.same(source, held),
            (None, None) => true,
            _ => false,
        };
        if !agree {
            let (file, c_name) = (fact.unit().to_owned(), fact.c_name.clone());
            found.push(FrontEndDifference {
                file,
                c_name,
                what,
                source: source.cloned(),
                library: held.cloned(),
                reason: None,
            });
        }
    };
    // What code assigns at run time stands in no table of the library.
    let by_code = |slot: &String| fact.assigned.contains(slot) && !compiled.slots.contains_key(slot);
    let own = |slot: &String| {
        let held = fact.slots.get(slot).filter(|held| held.origin == SlotOrigin::Own && !by_code(slot));
        held.map(|held| &held.function)
    };
    let slots: BTreeSet<&String> = fact.slots.keys().chain(compiled.slots.keys()).collect();
    for slot in slots {
        differ(format!("slot {slot}"), own(slot), compiled.slots.get(slot).map(|held| &held.function));
    }
    let names: BTreeSet<&String> = fact.methods.iter().chain(&compiled.methods).map(|method| &method.name).collect();
    for name in names {
        let of =
            |ty: &'_ Type| ty.methods.iter().find(|method| method.name == *name).map(|method| method.function.clone());
        differ(format!("method {name}"), of(fact).as_ref(), of(compiled).as_ref());
    }
    let names: BTreeSet<&String> = fact.getset.iter().chain(&compiled.getset).map(|row| &row.name).collect();
    for name in names {
        let row = |ty: &'_ Type| ty.getset.iter().find(|row| row.name == *name).cloned();
        let (source, held) = (row(fact), row(compiled));
        let get = |row: &Option<crate::facts::GetSet>| row.as_ref().and_then(|row| row.get.clone());
        let set = |row: &Option<crate::facts::GetSet>| row.as_ref().and_then(|row| row.set.clone());
        differ(format!("getter {name}"), get(&source).as_ref(), get(&held).as_ref());
        differ(format!("setter {name}"), set(&source).as_ref(), set(&held).as_ref());
    }
    let names: BTreeSet<&String> = fact.members.iter().chain(&compiled.members).map(|row| &row.name).collect();
    for name in names {
        let has = |ty: &Type| ty.members.iter().any(|row| row.name == *name).then(|| name.clone());
        differ(format!("member {name}"), has(fact).as_ref(), has(compiled).as_ref());
    }
    found
}

fn slotdefs(facts: &Facts, library: &Library, proof: &mut FrontEndsProof) {
    let length = facts.slotdefs.len().max(library.slotdefs.len());
    for i in 0..length {
        let (source, held) = (facts.slotdefs.get(i), library.slotdefs.get(i));
        let agree = source.zip(held).is_some_and(|(source, held)| {
            let same = |a: &Option<String>, b: &Option<String>| match (a, b) {
                (Some(a), Some(b)) => library.same(a, b),
                (a, b) => a == b,
            };
            (&source.name, &source.slot, source.offset, source.flags, &source.doc)
                == (&held.name, &held.slot, held.offset, held.flags, &held.doc)
                && same(&source.function, &held.function)
                && same(&source.wrapper, &held.wrapper)
        });
        if agree {
            proof.slotdefs += 1;
            continue;
        }
        let text = |row: Option<&crate::facts::Slotdef>| row.map(|row| format!("{row:?}"));
        proof.differences.push(FrontEndDifference {
            file: "Objects/typeobject.c".to_owned(),
            c_name: "slotdefs".to_owned(),
            what: format!("slotdef {i}"),
            source: text(source),
            library: text(held),
            reason: None,
        });
    }
}
