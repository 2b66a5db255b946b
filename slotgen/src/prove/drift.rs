//! Which differences are those of another patch release or build, and not of the tables.

use std::collections::{BTreeMap, BTreeSet};

use super::exceptions::Alone;
use super::{FrontEndsProof, LiveProof};

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FrontEnd {
    /// C sources.
    Source,
    /// A compiled library.
    Binary,
}

/// One comparison.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(untagged)]
pub enum Proof {
    /// Sources with a library.
    FrontEnds(FrontEndsProof),
    /// Sources or a library, and the release of that, with a process.
    Live(FrontEnd, String, LiveProof),
}

/// What is compared with what: the sides and their releases.
type Sides = (FrontEnd, bool, String, String);

/// A type and a point of it: a slot, a row of a table.
type Point = (String, String);

impl Proof {
    fn sides(&self) -> Sides {
        match self {
            Proof::FrontEnds(proof) => (FrontEnd::Source, false, proof.source.clone(), proof.library.clone()),
            Proof::Live(front_end, tables, proof) => (*front_end, true, tables.clone(), proof.release.clone()),
        }
    }

    fn alone(&mut self) -> &mut [Alone] {
        match self {
            Proof::FrontEnds(proof) => &mut proof.alone,
            Proof::Live(_, _, proof) => &mut proof.alone,
        }
    }

    /// Where the sides disagree.
    fn disputed(&self) -> BTreeSet<Point> {
        let (alone, points): (_, Vec<Point>) = match self {
            Proof::FrontEnds(proof) => {
                let points = proof.differences.iter().map(|found| (found.c_name.clone(), point(&found.what)));
                (&proof.alone, points.collect())
            }
            Proof::Live(_, _, proof) => {
                let points = proof.differences.iter().map(|found| (found.c_name.clone(), point(&found.slot)));
                (&proof.alone, points.collect())
            }
        };
        points.into_iter().chain(alone.iter().map(of_type)).collect()
    }

    /// Differences, and types of one side alone, without a reason.
    pub fn unexplained(&self) -> usize {
        match self {
            Proof::FrontEnds(proof) => proof.unexplained(),
            Proof::Live(_, _, proof) => proof.unexplained(),
        }
    }
}

fn point(what: &str) -> String {
    what.strip_prefix("slot ").unwrap_or(what).to_owned()
}

fn of_type(ty: &Alone) -> Point {
    (ty.tp_name.clone(), "type".to_owned())
}

/// Gives a reason to differences between two releases on points on which each release agrees with itself.
///
/// Sources of one release and a build of another may differ where the releases do. That is so when the same comparison agrees
/// within the release of the sources, and the library of the other release agrees with its own process; both must be among `proofs`.
pub fn explain_drift(proofs: &mut [Proof]) {
    let settled: BTreeMap<Sides, BTreeSet<Point>> =
        proofs.iter().map(|proof| (proof.sides(), proof.disputed())).collect();
    for proof in proofs {
        let (front_end, is_live, tables, other) = proof.sides();
        if tables == other {
            continue;
        }
        let within = settled.get(&(front_end, is_live, tables.clone(), tables.clone()));
        let beyond = settled.get(&(FrontEnd::Binary, true, other.clone(), other.clone()));
        let (Some(within), Some(beyond)) = (within, beyond) else { continue };
        let reason = |point: &Point| {
            let agreed = !within.contains(point) && !beyond.contains(point);
            agreed
                .then(|| format!("the releases or their builds differ: each agrees with itself, {tables} and {other}"))
        };
        for ty in proof.alone().iter_mut().filter(|ty| ty.reason.is_none()) {
            ty.reason = reason(&of_type(ty));
        }
        match proof {
            Proof::FrontEnds(proof) => {
                for found in proof.differences.iter_mut().filter(|found| found.reason.is_none()) {
                    found.reason = reason(&(found.c_name.clone(), point(&found.what)));
                }
            }
            Proof::Live(_, _, proof) => {
                for found in proof.differences.iter_mut().filter(|found| found.reason.is_none()) {
                    found.reason = reason(&(found.c_name.clone(), point(&found.slot)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::Difference;

    fn live(front_end: FrontEnd, tables: &str, process: &str, slots: &[&str]) -> Proof {
        let differ = |slot: &&str| Difference {
            file: "Modules/x.c".to_owned(),
            c_name: "X_Type".to_owned(),
            tp_name: "x".to_owned(),
            slot: (*slot).to_owned(),
            table: None,
            live: vec!["f".to_owned()],
            reason: None,
        };
        let proof = LiveProof {
            release: process.to_owned(),
            differences: slots.iter().map(differ).collect(),
            ..LiveProof::default()
        };
        Proof::Live(front_end, tables.to_owned(), proof)
    }

    #[test]
    fn only_what_each_release_agrees_on_is_drift() {
        let mut proofs = vec![
            live(FrontEnd::Source, "3.13.5", "3.13.0", &["tp_new", "tp_init", "tp_call"]),
            live(FrontEnd::Binary, "3.13.0", "3.13.0", &["tp_init"]),
            live(FrontEnd::Source, "3.13.5", "3.13.5", &["tp_call"]),
        ];
        explain_drift(&mut proofs);
        assert_eq!(proofs.iter().map(Proof::unexplained).collect::<Vec<_>>(), [2, 1, 1]);
    }

    #[test]
    fn without_both_comparisons_nothing_is_drift() {
        let mut proofs = vec![
            live(FrontEnd::Source, "3.13.5", "3.13.0", &["tp_new"]),
            live(FrontEnd::Source, "3.13.5", "3.13.5", &[]),
        ];
        explain_drift(&mut proofs);
        assert_eq!(proofs[0].unexplained(), 1);
    }
}
