//! Compares what functions mean, and says in which way they differ.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{ByMeaning, Change, Kind, Row};
use crate::diff::reach::Reach;
use crate::diff::{Generated, Key};
use crate::facts::Facts;
use crate::meaning::{
    Meaning, Meanings, PARAMETER, Step, VALUE, only_looks, plain_name, replaced, visit, without_meaning,
};

/// How many changes of one kind a row tells one by one.
const TOLD: usize = 6;

/// Compares two releases, each with its facts.
#[must_use]
pub fn by_meaning((before, older): (&Meanings, &Facts), (after, newer): (&Meanings, &Facts)) -> ByMeaning {
    let generated: Generated = after.keys().chain(before.keys()).cloned().collect();
    let (old, new) = (Reach::new(older, &generated), Reach::new(newer, &generated));
    let mut found = ByMeaning { from: before.release.clone(), to: after.release.clone(), ..ByMeaning::default() };
    let both: BTreeSet<&Key> = before.keys().chain(after.keys()).collect();
    let mut rows = Vec::new();
    for key in both {
        match before.same_text(after, key) {
            Some(true) => found.same_text += 1,
            // What one release's translation does not have, its C shows.
            _ if before.relies_on_untranslated(after, key) || after.relies_on_untranslated(before, key) => {
                rows.extend(by_text((before, &old), (after, &new), key, &mut found));
            }
            None => rows.extend(by_text((before, &old), (after, &new), key, &mut found)),
            Some(false) => {
                let Some((one, other)) = before.pair(after, key) else { continue };
                let changes = if one == other { Vec::new() } else { changes(&one, &other) };
                if changes.is_empty() {
                    found.only_text.push(key.1.clone());
                } else {
                    rows.push(row(key, changes, false, &new));
                }
            }
        }
    }
    found.rows = grouped(rows);
    found
}

/// Rows of the same file and role in which the same changed are one.
fn grouped(mut rows: Vec<Row>) -> Vec<Row> {
    let raises = |row: &Row| row.changes.iter().any(|change| change.kind == Kind::Exception);
    let order =
        |row: &Row| (rank(row), loudness(row), Reverse(row.used_by), Reverse(raises(row)), row.functions.clone());
    rows.sort_by_cached_key(order);
    let mut out: Vec<Row> = Vec::new();
    for row in rows {
        let same = out.iter_mut().find(|known| {
            (&known.file, known.role, &known.changes, known.from_text)
                == (&row.file, row.role, &row.changes, row.from_text)
        });
        match same {
            Some(known) => {
                known.functions.extend(row.functions);
                let fresh: Vec<String> =
                    row.operations.into_iter().filter(|one| !known.operations.contains(one)).collect();
                known.operations.extend(fresh);
            }
            None => out.push(row),
        }
    }
    out
}

/// A function that is not translated in both releases, if its C is another: what its C calls and says.
fn by_text(
    (before, old): (&Meanings, &Reach<'_>),
    (after, new): (&Meanings, &Reach<'_>),
    key: &Key,
    found: &mut ByMeaning,
) -> Option<Row> {
    let (one, other) = (old.function(key)?, new.function(key)?);
    if one.digest == other.digest {
        return None;
    }
    // A function and those of its plain name, which do the work once a lock is held, are one.
    let own = plain_name(&key.1);
    let parts = |reach: &Reach<'_>| -> (Vec<String>, Vec<String>) {
        let (mut calls, mut strings) = (BTreeSet::new(), Vec::new());
        for part in reach.named_in(&key.0, &|name| plain_name(name) == own) {
            let seen = part.calls.iter().filter(|name| !without_meaning(name) && !only_looks(name) && !is_macro(name));
            calls.extend(seen.map(|name| plain_name(name)).filter(|name| *name != own));
            strings.extend(part.strings.iter().cloned());
        }
        (calls.into_iter().collect(), strings)
    };
    let ((one, said), (other, says)) = (parts(old), parts(new));
    let mut changes = Vec::new();
    let (gone, added) = differences(&one, &other);
    list(Kind::CallGone, gone, true, &mut changes);
    list(Kind::CallAdded, added, false, &mut changes);
    let (gone, added) = differences(&said, &says);
    pairs(Kind::Message, gone, added, &mut changes);
    if changes.is_empty() {
        let why = |meanings: &Meanings| meanings.why_not(key).map(|why| format!("{}: {why}", meanings.release));
        let reason = why(before).or_else(|| why(after)).unwrap_or_else(|| "it is asked of the world".to_owned());
        found.not_compared.push((key.1.clone(), reason));
        return None;
    }
    Some(row(key, changes, true, new))
}

/// Macros that hold, convert or look, as C writes them.
fn is_macro(name: &str) -> bool {
    const LOOKS: [&str; 6] = ["_CAST", "_GET_SIZE", "_GET_ITEM", "Py_TYPE", "Py_SIZE", "FT_ATOMIC"];
    LOOKS.iter().any(|part| name.contains(part)) || name.chars().all(|c| !c.is_ascii_lowercase())
}

fn row(key: &Key, changes: Vec<Change>, from_text: bool, reach: &Reach<'_>) -> Row {
    let fills = reach.fills(key);
    let roots = reach.roots(key);
    let is_public = reach.function(key).is_some_and(|function| !function.is_static) && key.1.starts_with("Py");
    let role = match (fills.is_empty(), is_public) {
        (false, _) => "slot",
        (_, true) => "operation",
        _ => "helper",
    };
    let operations = match role {
        "slot" => fills,
        "operation" => vec![key.1.clone()],
        _ => roots.slots.into_iter().chain(roots.generated).take(4).collect(),
    };
    let (functions, file) = (vec![key.1.clone()], key.0.clone());
    Row { operations, role, functions, file, used_by: reach.used_by(key), from_text, changes }
}

/// What a program can see comes first: exceptions, then calls into other code, then results; then how often it is used.
fn rank(row: &Row) -> (u8, u8) {
    let role = u8::from(row.role == "helper");
    // When an object's memory is given back is no operation of a program.
    let is_memory = role == 0 && row.operations.iter().all(|slot| MEMORY.contains(&slot.as_str()));
    if is_memory { (2, 1) } else { (loudness(row).min(2).max(role), role) }
}

/// Slots that only look after memory.
const MEMORY: [&str; 6] = ["tp_dealloc", "tp_clear", "tp_traverse", "tp_free", "tp_is_gc", "bf_releasebuffer"];

/// How much of a row a program sees: 0 is an exception, or a call of the C API, which may run a program's code.
fn loudness(row: &Row) -> u8 {
    let any = |test: &dyn Fn(&Change) -> bool| row.changes.iter().any(test);
    let kind = |wanted: &[Kind]| any(&|change: &Change| wanted.contains(&change.kind));
    // A call of a helper is only how the work is divided.
    let api = |change: &Change| {
        let names = [change.before.as_str(), change.after.as_str()];
        matches!(change.kind, Kind::CallAdded | Kind::CallGone) && names.iter().any(|name| name.starts_with("Py"))
    };
    match () {
        () if kind(&[Kind::Exception, Kind::Message]) || any(&api) => 0,
        () if kind(&[Kind::Order, Kind::CallAdded, Kind::CallGone, Kind::CheckAdded, Kind::CheckGone]) => 1,
        () if kind(&[Kind::Result, Kind::Arguments]) => 2,
        () => 3,
    }
}

/// The ways in which two meanings differ.
fn changes(before: &Meaning, after: &Meaning) -> Vec<Change> {
    let (one, other) = (Parts::of(before), Parts::of(after));
    let mut found = Vec::new();
    raised(&one, &other, &mut found);
    let (gone, added) = differences(&one.calls, &other.calls);
    list(Kind::CallGone, gone, true, &mut found);
    list(Kind::CallAdded, added, false, &mut found);
    if found.iter().all(|change| !matches!(change.kind, Kind::CallGone | Kind::CallAdded)) && one.calls != other.calls {
        let moved = one.calls.iter().zip(&other.calls).find(|(one, other)| one != other);
        let (before, after) = moved.map(|(one, other)| (one.clone(), other.clone())).unwrap_or_default();
        found.push(Change { kind: Kind::Order, before, after });
    }
    let (gone, added) = differences(&one.checks, &other.checks);
    list(Kind::CheckGone, gone, true, &mut found);
    list(Kind::CheckAdded, added, false, &mut found);
    let named = |results: &[String]| results.iter().filter(|held| !is_plumbing(held)).cloned().collect::<Vec<_>>();
    let (gone, added) = differences(&named(&one.results), &named(&other.results));
    pairs(Kind::Result, gone, added, &mut found);
    for (kind, left, right) in
        [(Kind::Arguments, &one.given, &other.given), (Kind::Result, &one.results, &other.results)]
    {
        if found.is_empty() {
            let (gone, added) = differences(left, right);
            pairs(kind, gone, added, &mut found);
        }
    }
    if found.is_empty() {
        found.push(Change { kind: Kind::Arrangement, before: String::new(), after: String::new() });
    }
    found
}

/// What of a meaning is compared.
#[derive(Default)]
struct Parts {
    calls: Vec<String>,
    given: Vec<String>,
    checks: Vec<String>,
    results: Vec<String>,
    raised: Vec<(String, String)>,
}

impl Parts {
    fn of(meaning: &Meaning) -> Self {
        let mut parts = Self::default();
        visit(&meaning.steps, &mut |step| match step {
            Step::Call { function, arguments, .. } if function == "=" => {
                parts.given.push(arguments.iter().map(|argument| plain(argument)).collect::<Vec<_>>().join(" = "));
            }
            Step::Call { function, arguments, .. } => {
                parts.calls.push(function.clone());
                let arguments: Vec<String> = arguments.iter().map(|argument| plain(argument)).collect();
                parts.given.push(format!("{function}({})", arguments.join(", ")));
            }
            Step::Branch { condition: looked, .. } | Step::Switch { value: looked, .. } => {
                parts.checks.extend(Some(plain(looked)).filter(|looked| !is_plumbing(looked)));
            }
            Step::Return(held) => parts.results.push(plain(held)),
            // An exception that is only passed on is nobody's own.
            Step::Raise { exception, message } if !is_passed_on(exception, message.is_empty()) => {
                let message: Vec<String> = message.iter().map(|part| plain(part)).collect();
                parts.raised.push((plain(exception), message.join(", ")));
            }
            _ => {}
        });
        parts
    }
}

/// An exception that is another's, or that memory has come to its end.
fn is_passed_on(exception: &str, silent: bool) -> bool {
    exception == "error" || silent && (exception.starts_with(VALUE) || ["NULL", "PyErr_NoMemory"].contains(&exception))
}

/// A value that says nothing by itself: a result of a call, whether there is one, a count.
fn is_plumbing(text: &str) -> bool {
    let rest = text.replace("NULL", "").replace("no error", "");
    !rest.chars().any(char::is_alphabetic) && rest != "0" && rest != "1"
}

/// A value without the numbers of results and parameters.
fn plain(text: &str) -> String {
    let text = replaced(text, VALUE, &mut |_| "·".to_owned());
    replaced(&text, PARAMETER, &mut |_| "·".to_owned())
}

/// What the one has more often than the other, and the other way round.
fn differences(one: &[String], other: &[String]) -> (Vec<String>, Vec<String>) {
    let mut counts: BTreeMap<&str, i32> = BTreeMap::new();
    one.iter().for_each(|text| *counts.entry(text).or_default() += 1);
    other.iter().for_each(|text| *counts.entry(text).or_default() -= 1);
    let of = |sign: i32| -> Vec<String> {
        let more = counts.iter().filter(|(_, count)| **count * sign > 0);
        more.map(|(text, _)| (*text).to_owned()).collect()
    };
    (of(1), of(-1))
}

fn list(kind: Kind, texts: Vec<String>, gone: bool, found: &mut Vec<Change>) {
    for text in texts.into_iter().take(TOLD) {
        let (before, after) = if gone { (text, String::new()) } else { (String::new(), text) };
        found.push(Change { kind, before, after });
    }
}

fn pairs(kind: Kind, gone: Vec<String>, added: Vec<String>, found: &mut Vec<Change>) {
    let count = gone.len().max(added.len()).min(TOLD);
    for index in 0..count {
        let of = |texts: &[String]| texts.get(index).cloned().unwrap_or_default();
        found.push(Change { kind, before: of(&gone), after: of(&added) });
    }
}

/// Exceptions that are raised otherwise: of another type with the same message, or the same with another message.
fn raised(one: &Parts, other: &Parts, found: &mut Vec<Change>) {
    let text = |(exception, message): &(String, String)| format!("{exception}: {message}");
    let mut gone: Vec<&(String, String)> = one.raised.iter().filter(|raised| !other.raised.contains(raised)).collect();
    let mut added: Vec<&(String, String)> = other.raised.iter().filter(|raised| !one.raised.contains(raised)).collect();
    gone.dedup();
    added.dedup();
    while let Some(old) = gone.pop() {
        let same_type = added.iter().position(|new| new.0 == old.0);
        let same_message = added.iter().position(|new| new.1 == old.1 && !new.1.is_empty());
        let (kind, at) = match (same_message, same_type) {
            (Some(at), _) => (Kind::Exception, Some(at)),
            (_, Some(at)) => (Kind::Message, Some(at)),
            _ => (Kind::Exception, None),
        };
        let after = at.map(|at| text(added.remove(at))).unwrap_or_default();
        found.push(Change { kind, before: text(old), after });
    }
    found.extend(added.into_iter().map(|new| Change {
        kind: Kind::Exception,
        before: String::new(),
        after: text(new),
    }));
}
