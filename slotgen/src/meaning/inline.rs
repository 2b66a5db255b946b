//! Puts the bodies of helpers in the place of their calls.

use super::normal::{Meaning, PARAMETER, Step, VALUE, replaced, texts, value};

/// Steps that are more than this are not put into others.
const LARGEST: usize = 400;

/// The meaning with the bodies that `body` gives in the place of calls, once; nothing where none was put in.
pub(super) fn inlined(meaning: &Meaning, body: &dyn Fn(&str) -> Option<Meaning>) -> Option<Meaning> {
    let mut next = 10_000;
    let mut steps = meaning.steps.clone();
    let changed = size(&steps) <= LARGEST && within(&mut steps, body, &mut next);
    changed.then(|| Meaning { steps }.numbered())
}

fn size(steps: &[Step]) -> usize {
    let mut count = 0;
    super::normal::visit(steps, &mut |_| count += 1);
    count
}

/// Whether something was put in.
fn within(steps: &mut Vec<Step>, body: &dyn Fn(&str) -> Option<Meaning>, next: &mut u32) -> bool {
    let mut changed = false;
    let mut out: Vec<Step> = Vec::with_capacity(steps.len());
    let mut rest = std::mem::take(steps).into_iter().peekable();
    while let Some(mut step) = rest.next() {
        match &mut step {
            Step::Branch { yes, no, .. } => {
                changed |= within(yes, body, next);
                changed |= within(no, body, next);
            }
            Step::Switch { arms, .. } => arms.iter_mut().for_each(|arm| changed |= within(&mut arm.1, body, next)),
            Step::Loop(inner) | Step::Caught(inner) => changed |= within(inner, body, next),
            _ => {}
        }
        let Step::Call { result, function, arguments } = &step else {
            out.push(step);
            continue;
        };
        let held = value(*result);
        let returned = matches!(rest.peek(), Some(Step::Return(what)) if *what == held);
        let raised =
            matches!(rest.peek(), Some(Step::Raise { exception, message }) if *exception == held && message.is_empty());
        let caught = matches!(rest.peek(), Some(Step::Caught(_)));
        let Some(found) = body(function).filter(|_| !caught) else {
            out.push(step);
            continue;
        };
        let mut inner = placed(found, arguments, next);
        if returned || raised {
            rest.next();
            out.extend(inner);
            changed = true;
        } else if let Some(Step::Return(what)) = inner.last().cloned()
            && inner[..inner.len() - 1].iter().all(|step| matches!(step, Step::Call { .. } | Step::Set(..)))
        {
            inner.pop();
            out.extend(inner);
            // What follows speaks of the result by its new name.
            let mut tail: Vec<Step> = rest.collect();
            texts(&mut tail, &mut |text| {
                *text = replaced(text, VALUE, &mut |old| if value(old) == held { what.clone() } else { value(old) });
            });
            rest = tail.into_iter().peekable();
            changed = true;
        } else {
            given_to(&mut inner, *result, 0);
            out.push(Step::Loop(inner));
            changed = true;
        }
    }
    *steps = out;
    changed
}

/// Results become the value of a variable: the steps are those of a block that is left with it.
fn given_to(steps: &mut Vec<Step>, variable: u32, depth: usize) {
    let mut out = Vec::with_capacity(steps.len());
    for mut step in std::mem::take(steps) {
        match &mut step {
            Step::Branch { yes, no, .. } => {
                given_to(yes, variable, depth);
                given_to(no, variable, depth);
            }
            Step::Switch { arms, .. } => arms.iter_mut().for_each(|arm| given_to(&mut arm.1, variable, depth)),
            Step::Loop(inner) => given_to(inner, variable, depth + 1),
            Step::Caught(inner) => given_to(inner, variable, depth),
            _ => {}
        }
        match step {
            Step::Return(held) => {
                out.extend([Step::Set(variable, held), Step::Leave(format!("out {depth}"))]);
            }
            step => out.push(step),
        }
    }
    *steps = out;
}

/// A body with its arguments, its values under new numbers.
fn placed(mut meaning: Meaning, arguments: &[String], next: &mut u32) -> Vec<Step> {
    *next += 1000;
    let base = *next;
    shift(&mut meaning.steps, base);
    texts(&mut meaning.steps, &mut |text| {
        *text = replaced(text, VALUE, &mut |old| value(old + base));
        let given =
            |index: u32| arguments.get(index as usize).cloned().unwrap_or_else(|| format!("{PARAMETER}{index}"));
        *text = replaced(text, PARAMETER, &mut |index| given(index));
    });
    meaning.steps
}

fn shift(steps: &mut [Step], by: u32) {
    for step in steps {
        match step {
            Step::Call { result, .. } => *result += by,
            Step::Set(variable, _) => *variable += by,
            Step::Branch { yes, no, .. } => {
                shift(yes, by);
                shift(no, by);
            }
            Step::Switch { arms, .. } => arms.iter_mut().for_each(|arm| shift(&mut arm.1, by)),
            Step::Loop(inner) | Step::Caught(inner) => shift(inner, by),
            _ => {}
        }
    }
}
