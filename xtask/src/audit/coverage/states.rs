//! What the tracer does with a C function, read from the generated modules and the tables of the runtime.
use super::rows::{Column, State};
use crate::audit::models::{self, ByHand};
use crate::audit::opcodes::{self, Arms};
use crate::audit::tiers::{self, Rows};
use crate::place;
use anyhow::{Context, Result};
use serde_json::Value;
use slotgen::effects::FunctionEffects;
use slotgen::facts::{Facts, Slotdef};
use std::collections::{BTreeMap, BTreeSet};

/// A state, and why it is that.
type Found = (State, String);

/// Everything that tells states.
pub struct States<'f> {
    /// Whether the runtime traces the release at all.
    is_traced: bool,
    translated: BTreeMap<String, BTreeSet<String>>,
    /// Functions of slots whose bodies the tracer runs for every object; `slot_*` is each that begins so.
    run: BTreeSet<String>,
    by_hand: BTreeMap<String, ByHand>,
    /// Methods of `CApi` that the tracer answers.
    answered: BTreeSet<String>,
    /// Names that the tracer tells apart.
    told_apart: BTreeSet<String>,
    /// The same in the code that looks up attributes.
    attributes: BTreeSet<String>,
    /// Special methods by slot.
    methods: BTreeMap<&'f str, Vec<&'f str>>,
    effects: BTreeMap<&'f str, Vec<&'f FunctionEffects>>,
    words: Vec<String>,
    arms: Arms,
}

impl<'f> States<'f> {
    /// Reads them; `bodies` is the release whose generated bodies the runtime runs.
    pub fn read(series: &str, bodies: Option<&str>, facts: &'f Facts, claims: &'f Facts) -> Result<Self> {
        let by_hand = models::read()?;
        let cases = |of: &dyn Fn(&str) -> bool| -> BTreeSet<String> {
            by_hand.iter().filter(|(file, _)| of(file)).flat_map(|(_, file)| file.cases.clone()).collect()
        };
        let mut effects: BTreeMap<&str, Vec<&FunctionEffects>> = BTreeMap::new();
        claims.effects.iter().for_each(|row| effects.entry(&row.name).or_default().push(row));
        let mut methods: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        facts.slotdefs.iter().for_each(|row| methods.entry(&row.slot).or_default().push(&row.name));
        Ok(Self {
            is_traced: bodies.is_some(),
            translated: bodies.map(tiers::translated).transpose()?.unwrap_or_default(),
            run: tiers::run_by_body(&by_hand),
            answered: by_hand.values().flat_map(|file| file.vocabulary.clone()).collect(),
            told_apart: cases(&|_| true),
            attributes: cases(&|file| file.starts_with("attribute/")),
            methods,
            effects,
            words: bodies.filter(|other| *other == series).map(words).transpose()?.unwrap_or_default(),
            arms: opcodes::arms()?,
            by_hand,
        })
    }

    fn effects(&self, function: &str, file: &str) -> Option<&'f FunctionEffects> {
        let all = self.effects.get(function)?;
        all.iter().find(|row| row.file == file).or(all.first().filter(|_| all.len() == 1)).copied()
    }

    fn is_translated(&self, function: &str, unit: &str) -> bool {
        self.translated.get(unit).is_some_and(|functions| functions.contains(function))
    }

    /// Whether the tracer runs the body of a slot's function in the place of C's.
    fn is_run(&self, function: &str, unit: &str) -> bool {
        self.is_translated(function, unit) && tiers::covers(&self.run, function)
    }

    fn traced(&self, found: Found) -> Found {
        if self.is_traced { found } else { (State::Untraced, "the runtime does not trace this release".to_owned()) }
    }

    /// A slot of a type.
    pub fn slot(&self, owner: &str, column: &Column, function: &str, unit: &str) -> Found {
        let called = self.answered.contains(&format!("call_{}", column.signature));
        let effects = self.effects(function, unit);
        let methods = self.methods.get(column.name.as_str()).map_or(&[][..], Vec::as_slice);
        let by_name = methods.iter().copied().chain((column.name == "tp_new").then_some("__new__"));
        let named: Vec<&str> = by_name.filter(|name| self.told_apart.contains(*name)).collect();
        self.traced(if self.is_run(function, unit) {
            (State::Translated, String::new())
        } else if called && self.is_translated(function, unit) {
            (State::Native, "C's function; its generated body takes over for objects that C cannot have".to_owned())
        } else if called && effects.is_some_and(|row| row.verdict == "pure" && row.slots.is_empty()) {
            (State::Folded, "it is pure: it runs on numbers, text and the like".to_owned())
        } else if called {
            (State::Native, format!("the tracer calls every {}", column.signature))
        } else if !named.is_empty() {
            (State::Modelled, format!("the tracer tells {} apart", named.join(", ")))
        } else {
            let method = methods.first().copied().unwrap_or(&column.name);
            match effects {
                Some(row) => self.tier(owner, method, row),
                None => (State::Break, format!("the tracer calls no {}", column.signature)),
            }
        })
    }

    /// A method or a function of a module.
    pub fn function(&self, owner: &str, name: &str, function: &str, file: &str) -> Found {
        let unread = FunctionEffects { verdict: "unknown".to_owned(), ..FunctionEffects::default() };
        match self.effects(function, file) {
            Some(row) => self.traced(self.tier(owner, name, row)),
            None => match self.tier(owner, name, &unread) {
                (State::Break, _) => {
                    self.traced((State::Break, "the effects of its C function are not read".to_owned()))
                }
                found => self.traced(found),
            },
        }
    }

    fn tier(&self, owner: &str, name: &str, row: &FunctionEffects) -> Found {
        let (tier, why) = Rows::of(&self.by_hand).tier(owner, name, row, !owner.contains('.'));
        let state = match tier {
            "folded" => State::Folded,
            "modelled" => State::Modelled,
            "stateful" | "break" => State::Break,
            _ => State::Native,
        };
        (state, if why.is_empty() { tier.to_owned() } else { format!("{tier}: {why}") })
    }

    /// A getter or a member.
    pub fn attribute(&self, name: &str, reader: &str) -> Found {
        self.traced(if self.attributes.contains(name) {
            (State::Modelled, "the tracer tells the attribute apart by name".to_owned())
        } else {
            (State::Native, format!("{reader} runs on the object"))
        })
    }

    /// What stands for a special method of a class.
    pub fn slotdef(&self, row: &Slotdef) -> Found {
        let Some(function) = &row.function else {
            return self.traced((State::Translated, "C has no function here: the row only inherits".to_owned()));
        };
        self.traced(if self.is_run(function, "Objects/typeobject.c") {
            (State::Translated, String::new())
        } else if self.told_apart.contains(&row.name) {
            (State::Modelled, format!("the tracer tells {} apart", row.name))
        } else {
            (State::Break, "no generated body".to_owned())
        })
    }

    /// An instruction.
    pub fn opcode(&self, name: &str) -> Found {
        self.traced(match self.arms.get(name) {
            Some(None) => (State::Modelled, "the tracer has an arm for it".to_owned()),
            Some(Some(why)) => (State::Break, why.clone()),
            None => (State::Break, "the tracer has no arm for it".to_owned()),
        })
    }

    /// The methods of `CApi` that generated code of the release asks.
    pub fn vocabulary(&self) -> Vec<String> {
        self.words.clone()
    }

    /// A method of `CApi`.
    pub fn word(&self, name: &str) -> Found {
        self.traced(if self.answered.contains(name) {
            (State::Modelled, "the tracer answers it".to_owned())
        } else {
            (State::Break, "the tracer does not answer it: a body that asks ends the graph".to_owned())
        })
    }
}

/// The vocabulary of a release.
fn words(series: &str) -> Result<Vec<String>> {
    let path = place::root().join("generated/facts/vocabulary").join(format!("{series}.json"));
    let text = std::fs::read_to_string(&path).with_context(|| place::shown(&path))?;
    let found: Value = serde_json::from_str(&text).with_context(|| place::shown(&path))?;
    Ok(found["methods"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect())
}
