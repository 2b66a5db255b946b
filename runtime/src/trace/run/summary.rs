//! What two traces of the same instructions agree on: debug builds compare a trace that went back with one that was made again.
use crate::trace::state::outcome::{Effect, End, Outcome};

/// How many guards are there because C called back.
pub(super) fn called_by_c(outcome: &Outcome) -> usize {
    outcome.guards.iter().filter(|guard| guard.reason.why == crate::trace::state::reasons::CALLED_BY_C).count()
}

/// What two traces of the same instructions agree on: all but what C's caches (of abstract classes) and addresses (places in the
/// table of a set) decide.
pub(super) fn summary(outcome: &Outcome, whole: bool) -> String {
    let guards: Vec<_> = outcome
        .guards
        .iter()
        .filter(|guard| guard.reason.why != crate::trace::state::reasons::CALLED_BY_C)
        .map(|guard| format!("{:?} {}", std::mem::discriminant(&guard.source), guard.reason))
        .collect();
    let end = match &outcome.end {
        End::Break { at, stack, locals, .. } => {
            format!("at {at}, {} on the stack, {} variables", stack.len(), locals.len())
        }
        End::Return { .. } | End::Raise(_) => "at its end".to_owned(),
    };
    let shared_caches = outcome.effects.iter().filter(|effect| !matches!(effect, Effect::Call { .. }));
    let kinds: Vec<_> = shared_caches.map(std::mem::discriminant).collect();
    let result = format!("{end}, {kinds:?}, {} nodes", outcome.graph.nodes.len());
    if whole { format!("{} steps, {result}, {guards:#?}", outcome.steps) } else { result }
}
