//! The normal form of a body: calls in their order, branches, and how paths end.

use std::collections::BTreeMap;

/// Stands before the number of a value in texts.
pub(crate) const VALUE: char = '\u{1}';
/// Stands before the number of a parameter in texts.
pub(crate) const PARAMETER: char = '\u{2}';

/// A new object.
pub(super) const NEW: &str = "new object";

/// The text of a value.
pub(super) fn value(number: u32) -> String {
    format!("{VALUE}{number}")
}

/// What a function means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Meaning {
    /// Its steps.
    pub steps: Vec<Step>,
}

/// A step. Values are texts in which a number behind [`VALUE`] is the result of a step, or a variable, and one behind
/// [`PARAMETER`] a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// `result = function(arguments)`.
    Call {
        /// The number of its result.
        result: u32,
        /// What is called.
        function: String,
        /// What it is given.
        arguments: Vec<String>,
    },
    /// `if condition { yes } else { no }`; no condition is a negation.
    Branch {
        /// What is looked at.
        condition: String,
        /// Where it holds.
        yes: Vec<Step>,
        /// Where it does not.
        no: Vec<Step>,
    },
    /// One of several ways by a number.
    Switch {
        /// The number.
        value: String,
        /// The ways.
        arms: Vec<(String, Vec<Step>)>,
    },
    /// Steps that are repeated until one leaves them.
    Loop(Vec<Step>),
    /// What is done if the call before raises.
    Caught(Vec<Step>),
    /// `variable = value`.
    Set(u32, String),
    /// Leaves a loop, or begins it again.
    Leave(String),
    /// The result.
    Return(String),
    /// An exception.
    Raise {
        /// Its type.
        exception: String,
        /// Its message, and what is put into it.
        message: Vec<String>,
    },
}

impl Meaning {
    /// With numbers in the order in which they are given.
    #[must_use]
    pub(super) fn numbered(mut self) -> Self {
        let mut numbers = BTreeMap::new();
        number(&mut self.steps, &mut numbers);
        self
    }

    /// A digest that functions share if they mean the same.
    #[must_use]
    pub fn digest(&self) -> String {
        super::digest::short(&format!("{:?}", self.steps))
    }

    /// The functions that it calls, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<String> {
        let mut found = Vec::new();
        visit(&self.steps, &mut |step| {
            if let Step::Call { function, .. } = step {
                found.push(function.clone());
            }
        });
        found
    }
}

/// Whether no step behind these is reached.
pub(super) fn ends(steps: &[Step]) -> bool {
    match steps.last() {
        Some(Step::Return(_) | Step::Raise { .. } | Step::Leave(_)) => true,
        Some(Step::Branch { yes, no, .. }) => ends(yes) && ends(no),
        Some(Step::Switch { arms, .. }) => !arms.is_empty() && arms.iter().all(|arm| ends(&arm.1)),
        _ => false,
    }
}

/// Steps without ways that depend on memory alone: there is enough of it, and no list keeps freed objects.
pub(super) fn settled(steps: Vec<Step>) -> Vec<Step> {
    let mut out = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Branch { condition, yes, .. } if condition == NEW => out.extend(settled(yes)),
            Step::Branch { condition, no, .. } if condition == "NULL" || condition.contains("freelist") => {
                out.extend(settled(no));
            }
            Step::Branch { condition, yes, no } => {
                out.push(Step::Branch { condition, yes: settled(yes), no: settled(no) });
            }
            Step::Switch { value, arms } => {
                let arms = arms.into_iter().map(|(pattern, way)| (pattern, settled(way))).collect();
                out.push(Step::Switch { value, arms });
            }
            Step::Loop(inner) => out.push(Step::Loop(settled(inner))),
            Step::Caught(inner) => out.push(Step::Caught(settled(inner))),
            step => out.push(step),
        }
        if ends(&out) {
            break;
        }
    }
    out
}

/// Visits all steps, outer ones first.
pub(crate) fn visit(steps: &[Step], with: &mut dyn FnMut(&Step)) {
    for step in steps {
        with(step);
        match step {
            Step::Branch { yes, no, .. } => {
                visit(yes, with);
                visit(no, with);
            }
            Step::Switch { arms, .. } => arms.iter().for_each(|arm| visit(&arm.1, with)),
            Step::Loop(inner) | Step::Caught(inner) => visit(inner, with),
            _ => {}
        }
    }
}

/// Changes all texts of steps.
pub(super) fn texts(steps: &mut [Step], with: &mut dyn FnMut(&mut String)) {
    for step in steps {
        match step {
            Step::Call { arguments, .. } => arguments.iter_mut().for_each(&mut *with),
            Step::Branch { condition, yes, no } => {
                with(condition);
                texts(yes, with);
                texts(no, with);
            }
            Step::Switch { value, arms } => {
                with(value);
                arms.iter_mut().for_each(|arm| texts(&mut arm.1, with));
            }
            Step::Loop(inner) | Step::Caught(inner) => texts(inner, with),
            Step::Set(_, value) | Step::Return(value) => with(value),
            Step::Raise { exception, message } => {
                with(exception);
                message.iter_mut().for_each(&mut *with);
            }
            Step::Leave(_) => {}
        }
    }
}

fn number(steps: &mut [Step], numbers: &mut BTreeMap<u32, u32>) {
    fn given(old: u32, numbers: &mut BTreeMap<u32, u32>) -> u32 {
        let next = numbers.len() as u32;
        *numbers.entry(old).or_insert(next)
    }
    for step in steps {
        let mut rename = |text: &mut String| *text = replaced(text, VALUE, &mut |old| value(given(old, numbers)));
        match step {
            Step::Call { arguments, .. } => arguments.iter_mut().for_each(&mut rename),
            Step::Branch { condition, .. } => rename(condition),
            Step::Switch { value, .. } => rename(value),
            Step::Set(_, value) | Step::Return(value) => rename(value),
            Step::Raise { exception, message } => {
                rename(exception);
                message.iter_mut().for_each(&mut rename);
            }
            Step::Loop(_) | Step::Caught(_) | Step::Leave(_) => {}
        }
        match step {
            Step::Call { result, .. } => *result = given(*result, numbers),
            Step::Set(variable, _) => *variable = given(*variable, numbers),
            Step::Branch { yes, no, .. } => {
                number(yes, numbers);
                number(no, numbers);
            }
            Step::Switch { arms, .. } => arms.iter_mut().for_each(|arm| number(&mut arm.1, numbers)),
            Step::Loop(inner) | Step::Caught(inner) => number(inner, numbers),
            _ => {}
        }
    }
}

/// A text with something else for each number behind a mark.
pub(crate) fn replaced(text: &str, mark: char, with: &mut dyn FnMut(u32) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(mark) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let digits = after[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len() - 1);
        match after[1..=digits].parse() {
            Ok(number) => out.push_str(&with(number)),
            Err(_) => out.push_str(&after[..=digits]),
        }
        rest = &after[1 + digits..];
    }
    out.push_str(rest);
    out
}
