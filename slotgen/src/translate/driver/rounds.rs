//! Translates all functions again and again until what they say of one another no longer changes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::TokenStream;

use super::null_tests::tested;
use super::parameters::{indexed, nullable_methods, untyped, untyped_arguments, widen};
use super::translated::{Left, Translated};
use crate::preprocess::Unit;
use crate::translate::block::{body, clean, inline, prune, safe};
use crate::translate::paths::Paths;
use crate::translate::units::has_part;
use crate::translate::world::{Convention, ParamKind, Returns, World, convention};

/// How many blocks of Rust a statement of C may become on average, and how many a function may have in any case.
const GROWTH: usize = 12;
const LEAST_LIMIT: usize = 250;
/// From this round on what is refused or widened no longer rests on a wrong guess.
const SETTLED: usize = 4;

type Key = (String, String);

/// The functions of a tree while they are translated.
pub(super) struct Rounds {
    pub(super) world: Rc<World>,
    units: Vec<Unit>,
    pub(super) left: BTreeMap<Key, Left>,
    pub(super) results: BTreeMap<Key, Translated>,
    /// Functions and methods of which other things are known now.
    dirty: BTreeSet<String>,
    done: BTreeMap<Key, BTreeSet<String>>,
}

impl Rounds {
    /// With what the prototypes say.
    pub(super) fn new(world: Rc<World>, units: Vec<Unit>) -> Self {
        first_conventions(&world);
        untyped_arguments(&world);
        let (left, results, done) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { world, units, left, results, dirty: BTreeSet::new(), done }
    }

    /// Translates until nothing changes any more, from a round on.
    pub(super) fn settle(&mut self, from: usize) {
        let world = self.world.clone();
        for round in from..20 {
            // The first rounds only find out conventions; what they refuse or widen may rest on a wrong guess.
            let settled = round >= 4;
            let mut changed = false;
            let stale = std::mem::take(&mut self.dirty);
            let nullable = nullable_methods(&world);
            let todo: Vec<_> =
                world.translated.borrow().iter().map(|(key, convention)| (key.clone(), convention.clone())).collect();
            for (key, convention) in todo {
                let Some(function) = world.defined.get(&key) else { continue };
                if round != 4
                    && self.done.get(&key).is_some_and(|calls| !stale.contains(&key.1) && calls.is_disjoint(&stale))
                {
                    continue;
                }
                let mut paths = Paths::new(world.clone(), function.clone(), convention.clone());
                match one(&mut paths) {
                    Ok((params, body)) => {
                        self.done.insert(key.clone(), paths.summary.calls.clone());
                        let next = learn(&convention, &paths, &function.signature.returns);
                        for (target, index) in paths.summary.nullable.iter().filter(|_| settled) {
                            if widen(&world, target, *index) {
                                changed = true;
                                self.dirty.insert(target.rsplit(':').next().unwrap_or(target).to_owned());
                            }
                        }
                        match next {
                            Ok(next) => {
                                if next != convention {
                                    changed = true;
                                    self.dirty.insert(key.1.clone());
                                    let mut translated = world.translated.borrow_mut();
                                    if let Some(slot) = translated.get_mut(&key) {
                                        let params = slot.params.clone();
                                        *slot = Convention { params, ..next };
                                    }
                                }
                                let translated = Translated {
                                    function: function.clone(),
                                    convention: convention.clone(),
                                    body,
                                    params,
                                    calls: paths.summary.calls,
                                };
                                self.results.insert(key, translated);
                            }
                            Err(_) if !settled => changed = true,
                            Err(construct) => {
                                self.refuse(&key, construct, function.range.start);
                                self.results.remove(&key);
                                self.dirty.insert(key.1.clone());
                                changed = true;
                            }
                        }
                    }
                    Err(_) if !settled => {
                        // Until it is known better, the prototype's word stands.
                        let mut plain = crate::translate::world::convention(&function.name, &function.signature, None);
                        plain.params = convention.params.clone();
                        if plain != convention {
                            self.dirty.insert(key.1.clone());
                        }
                        self.done.insert(key.clone(), paths.summary.calls.clone());
                        world.translated.borrow_mut().insert(key, plain);
                        changed = true;
                    }
                    Err(refusal) => {
                        self.refuse(&key, refusal.construct, refusal.at);
                        self.results.remove(&key);
                        self.dirty.insert(key.1.clone());
                        changed = true;
                    }
                }
            }
            for (name, _) in nullable_methods(&world).difference(&nullable) {
                self.dirty.insert(name.clone());
                changed = true;
            }
            if settled && !changed || round == 19 {
                break;
            }
        }
        self.results.retain(|key, _| world.translated.borrow().contains_key(key));
    }

    /// Leaves functions out whose Rust does not fit, and translates again what calls them.
    pub(super) fn leave_out(&mut self, refused: Vec<(Key, String)>) {
        for (key, why) in refused {
            let at = self.results.get(&key).map_or(0, |one| one.function.range.start);
            self.refuse(&key, why, at);
            self.results.remove(&key);
            self.dirty.insert(key.1);
        }
        self.settle(SETTLED + 1);
    }

    fn refuse(&mut self, key: &Key, construct: String, at: usize) {
        self.world.translated.borrow_mut().remove(key);
        let unit = self.units.iter().find(|unit| unit.path == key.0);
        let origin = unit.map(|unit| unit.map.origin(at));
        let (file, line) = origin.map_or((key.0.clone(), 0), |origin| (origin.file.to_owned(), origin.line));
        self.left.insert(key.clone(), Left { name: key.1.clone(), unit: key.0.clone(), file, line, construct });
    }
}

/// What the prototypes say, and what bodies show at once.
fn first_conventions(world: &World) {
    for (key, function) in &world.defined {
        if world.contracts.kept(&function.name) || !has_part(&key.0, &function.name) {
            continue;
        }
        let mut first = convention(&function.name, &function.signature, None);
        first.raises = false;
        if let Some(row) = world.contracts.get(&function.name) {
            // What a row says of the parameters holds for the function's own head, too.
            first.params = convention(&function.name, &function.signature, Some(row)).params;
        }
        let tested = tested(&function.body, &world.contracts);
        let mut assigned = BTreeSet::new();
        function.body.iter().for_each(|stmt| crate::lower::in_stmt(stmt, &mut assigned));
        for (kind, param) in first.params.iter_mut().zip(&function.signature.params) {
            if let (
                ParamKind::Object(nullable)
                | ParamKind::Function(_, nullable)
                | ParamKind::OutObject(nullable)
                | ParamKind::OutInt(_, nullable),
                true,
            ) = (
                &mut *kind,
                tested.contains(&param.name) || crate::translate::world::KEYWORDS.contains(&param.name.as_str()),
            ) {
                *nullable = true;
            }
            if matches!(kind, ParamKind::Unsupported(text) if text == "void*") {
                *kind = untyped(function, &param.name);
            }
            if let ParamKind::OutInt(int @ ("isize" | "i32"), _) = kind
                && crate::lower::indexed(&function.body, &param.name)
                && !assigned.contains(&param.name)
            {
                *kind = ParamKind::Ints(int);
            }
            if matches!(kind, ParamKind::OutObject(_)) && (param.array || indexed(function, &param.name)) {
                *kind = ParamKind::Slice;
            }
        }
        world.translated.borrow_mut().insert(key.clone(), first);
    }
}

fn one(paths: &mut Paths) -> Result<(Vec<String>, TokenStream), crate::translate::paths::Refusal> {
    let (params, mut block) = paths.run()?;
    for _ in 0..3 {
        prune(&mut block);
        inline(&mut block);
        clean(&mut block);
    }
    let code = body(&block, &paths.hints, &params);
    if block.size() > LEAST_LIMIT.max(GROWTH * crate::lower::statements(&paths.function.body)) {
        return Err(crate::translate::paths::Refusal {
            construct: "paths explode: far more Rust than C".to_owned(),
            at: paths.function.range.start,
        });
    }
    if let Err(error) = syn::parse2::<syn::Block>(quote::quote!({ #code })) {
        return Err(crate::translate::paths::Refusal {
            construct: format!("code that Rust does not parse: {error}"),
            at: paths.function.range.start,
        });
    }
    let names = params.iter().flatten().map(|var| safe(&paths.hints[*var])).collect();
    Ok((names, code))
}

/// The convention that a translation has shown.
fn learn(old: &Convention, paths: &Paths, returns: &crate::lower::CType) -> Result<Convention, String> {
    let summary = &paths.summary;
    let mut next = old.clone();
    next.raises = summary.raises;
    if summary.errors.len() > 1 {
        let usual = convention("", &paths.function.signature, None).error;
        // Where -1 is not among them, 0 is the one that stands for failure.
        let usual = if summary.errors.contains(&usual) { usual } else { Some(0) };
        if !summary.errors.contains(&usual) || old.strict {
            return Err("different results with an exception set".to_owned());
        }
        return Ok(Convention { error: usual, strict: true, raises: true, ..next });
    }
    if let Some(error) = summary.errors.iter().next() {
        next.error = *error;
    }
    let plain = convention(
        "",
        &crate::lower::Signature { params: Vec::new(), returns: returns.clone(), variadic: false },
        None,
    )
    .returns;
    next.returns = match plain {
        _ if summary.raises && !summary.returns => Returns::Error,
        Returns::Object if summary.optional => Returns::Optional,
        Returns::Int(int, _) => Returns::Int(int, !summary.negative),
        other => other,
    };
    Ok(next)
}
