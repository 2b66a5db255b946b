//! Finds which of many residual programs allows a call. Steps that programs begin with alike run once; where programs ask for different
//! values of one thing, the value says which of them is left.
use super::aspect::Aspect;
use super::load::Registers;
use super::step::{Action, Step};
use super::test::Test;
use super::watched::residual::Residual;
use crate::ffi::Args;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A tree of residual programs, which are known by number.
#[derive(Debug)]
pub struct Selection(Branch);

#[derive(Debug)]
enum Branch {
    /// The rest of one program.
    Program(usize),
    Fork(Box<Fork>),
}

/// Programs that begin with the same steps.
#[derive(Debug)]
struct Fork {
    programs: Box<[usize]>,
    /// How many steps they have in common.
    common: usize,
    /// Tests of one register that come next in some of them.
    choices: Vec<Choice>,
    /// Those of which no number tells whether they are right.
    others: Vec<Branch>,
}

/// Tests of one aspect: where each of the numbers that they ask for leads.
#[derive(Debug)]
struct Choice {
    aspect: Aspect,
    register: usize,
    /// One of the tests: it reads the number of a value.
    reader: Arc<Test>,
    branches: FxHashMap<u64, Branch>,
}

/// A program while the tree is made.
type Numbered<'a> = (usize, &'a Residual);

impl Selection {
    /// For these programs; `None` where there are not two that could be told apart.
    #[must_use]
    pub fn new(programs: &[Numbered<'_>], py: Python<'_>) -> Option<Self> {
        (programs.len() > 1).then(|| Self(branch(programs, py)))
    }

    /// The number of a program that allows the call. `usable` gives programs by number, but not those that cannot be right now.
    pub fn find<'a, 'py>(
        &self,
        usable: &impl Fn(usize) -> Option<&'a Residual>,
        args: Args<'_, 'py>,
        function: &Bound<'py, PyAny>,
    ) -> Option<usize> {
        self.0.find(usable, 0, &mut Registers::new(), args, function)
    }
}

impl Branch {
    /// Of the programs below, one whose steps from `from` on hold.
    fn find<'a, 'py>(
        &self,
        usable: &impl Fn(usize) -> Option<&'a Residual>,
        from: usize,
        registers: &mut Registers<'py>,
        args: Args<'_, 'py>,
        function: &Bound<'py, PyAny>,
    ) -> Option<usize> {
        let fork = match self {
            Self::Program(number) => {
                let program = usable(*number)?;
                program.serve();
                return program.check(from, registers, args, function).is_ok().then_some(*number);
            }
            Self::Fork(fork) => fork,
        };
        if from < fork.common {
            // What one found through its watch is gone with that: only one that holds can run the steps for all.
            let first = fork.programs.iter().find_map(|number| usable(*number))?;
            if !first.run(from..fork.common, registers, args, function) {
                return None;
            }
        }
        for choice in &fork.choices {
            let value = registers.get(choice.register)?.as_ref();
            let number = value.and_then(|value| choice.reader.number(value));
            let branch = number.and_then(|number| choice.branches.get(&number));
            let found = branch.and_then(|branch| branch.find(usable, fork.common, registers, args, function));
            if found.is_some() {
                return found;
            }
        }
        fork.others.iter().find_map(|branch| branch.find(usable, fork.common, registers, args, function))
    }
}

/// The tree of some programs, of which there is one at least.
fn branch(programs: &[Numbered<'_>], py: Python<'_>) -> Branch {
    let (first, rest) = match programs {
        [] => return Branch::Fork(Box::new(Fork::of(programs, 0))),
        [(number, _)] => return Branch::Program(*number),
        [(_, first), rest @ ..] => (first, rest),
    };
    let common = rest.iter().map(|(_, program)| first.shared(program, py)).min().unwrap_or(0);
    let mut fork = Fork::of(programs, common);
    let mut told: Vec<(usize, Aspect, u64, Vec<Numbered<'_>>)> = Vec::new();
    let mut alike: Vec<Vec<Numbered<'_>>> = Vec::new();
    for program in programs {
        let step = program.1.steps.get(common);
        if let Some((register, aspect, number)) = step.and_then(|step| wanted(step, py)) {
            let same = |known: &&mut (usize, Aspect, u64, Vec<Numbered<'_>>)| {
                (known.0, known.1, known.2) == (register, aspect, number)
            };
            match told.iter_mut().find(same) {
                Some(known) => known.3.push(*program),
                None => told.push((register, aspect, number, vec![*program])),
            }
            continue;
        }
        let same = |known: &&mut Vec<Numbered<'_>>| {
            let other = known.first().and_then(|(_, other)| other.steps.get(common));
            step.zip(other).is_some_and(|(step, other)| step.same(other, py))
        };
        match alike.iter_mut().find(same) {
            Some(known) => known.push(*program),
            None => alike.push(vec![*program]),
        }
    }
    for (register, aspect, number, group) in told {
        match below(&group, programs.len(), py) {
            Ok(branch) => fork.choose(register, aspect, number, &group, branch),
            Err(each) => fork.others.extend(each),
        }
    }
    for group in alike {
        match below(&group, programs.len(), py) {
            Ok(branch) => fork.others.push(branch),
            Err(each) => fork.others.extend(each),
        }
    }
    Branch::Fork(Box::new(fork))
}

/// The tree of a part of some programs; those that nothing tells apart, one by one.
fn below(group: &[Numbered<'_>], of: usize, py: Python<'_>) -> Result<Branch, Vec<Branch>> {
    if group.len() < of {
        return Ok(branch(group, py));
    }
    Err(group.iter().map(|(number, _)| Branch::Program(*number)).collect())
}

/// The register that a step tests, what it looks at, and the number that it asks for.
fn wanted(step: &Step, py: Python<'_>) -> Option<(usize, Aspect, u64)> {
    let Action::Check { register, test } = &step.action else { return None };
    let (aspect, number) = test.wanted(py)?;
    Some((*register, aspect, number))
}

impl Fork {
    fn of(programs: &[Numbered<'_>], common: usize) -> Self {
        let programs = programs.iter().map(|(number, _)| *number).collect();
        Self { programs, common, choices: Vec::new(), others: Vec::new() }
    }

    /// Adds where a number leads.
    fn choose(&mut self, register: usize, aspect: Aspect, number: u64, group: &[Numbered<'_>], branch: Branch) {
        let known = self.choices.iter_mut().find(|choice| choice.register == register && choice.aspect == aspect);
        if let Some(choice) = known {
            choice.branches.insert(number, branch);
            return;
        }
        let step = group.first().and_then(|(_, program)| program.steps.get(self.common));
        let Some(Step { action: Action::Check { test, .. }, .. }) = step else { return };
        let branches = FxHashMap::from_iter([(number, branch)]);
        self.choices.push(Choice { aspect, register, reader: Arc::clone(test), branches });
    }
}
