//! TorchDynamo's table of slot definitions against CPython's `slotdefs[]`.
use super::audited::{Audited, at};
use super::python::{Row, Sources};
use crate::audit::findings::{Finding, Severity};
use serde::Serialize;
use slotgen::facts::Slotdef;

/// Where `slotdefs[]` stands.
const TABLE: &str = "Objects/typeobject.c";

/// A row of CPython's table, and what TorchDynamo has of it.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// `__or__`.
    pub name: String,
    /// `nb_or`.
    pub slot: String,
    /// `slot_nb_or`.
    pub function: Option<String>,
    /// `wrap_binaryfunc_l`.
    pub wrapper: Option<String>,
    /// The row there.
    pub dynamo: Option<Row>,
}

/// Compares the tables.
pub fn compare(sources: &Sources, audited: &Audited<'_>, findings: &mut Vec<Finding>) -> Vec<Compared> {
    // Rows without function serve `tp_getattr` and `tp_setattr`, which no class fills.
    let rows: Vec<&Slotdef> = audited.facts.slotdefs.iter().collect();
    let Some(theirs) = &sources.slotdefs else {
        let message = "There is no table `_SLOTDEFS`.".to_owned();
        findings.push(audited.finding(
            "slotdefs-absent",
            Severity::Error,
            message,
            "Slot definitions are not compared.",
            at("", 0),
        ));
        return Vec::new();
    };
    let same = |row: &Slotdef, other: &Row| row.name == other.name && row.slot == other.slot;
    let compared: Vec<Compared> = rows
        .iter()
        .map(|row| Compared {
            name: row.name.clone(),
            slot: row.slot.clone(),
            function: row.function.clone(),
            wrapper: row.wrapper.clone(),
            dynamo: theirs.iter().find(|other| same(row, other)).cloned(),
        })
        .collect();
    let place = theirs.first().map_or(at("", 0), |first| at(&first.path, first.line));
    for row in compared.iter().filter(|row| row.dynamo.is_none() && row.function.is_some()) {
        let (name, slot, function) = (&row.name, &row.slot, row.function.as_deref().unwrap_or_default());
        let message = format!("CPython's slotdefs[] has {name} in {slot} ({function}); `_SLOTDEFS` has not.");
        let advice = format!(
            "Add a row for {name} with the method that stands for {slot} and a wrapper like {}.",
            row.wrapper.as_deref().unwrap_or("none")
        );
        let finding = audited.finding("slotdef-missing", Severity::Warning, message, &advice, place);
        findings.push(audited.about(finding, &format!("{name}/{slot}"), function, TABLE));
    }
    for row in theirs.iter().filter(|row| !rows.iter().any(|own| same(own, row))) {
        let message = format!("`_SLOTDEFS` has {} in {}; CPython's slotdefs[] has not.", row.name, row.slot);
        let advice = "Remove the row, or name the slot that C fills.";
        let finding = audited.finding("slotdef-extra", Severity::Warning, message, advice, at(&row.path, row.line));
        findings.push(of_row(audited, (&row.name, &row.slot), finding));
    }
    details(sources, audited, &compared, findings);
    order(audited, &rows, theirs, findings);
    compared
}

/// A finding about a row, with C's function in it; where C has none, with the file of the table.
fn of_row(audited: &Audited<'_>, (name, slot): (&str, &str), finding: Finding) -> Finding {
    let row = audited.facts.slotdefs.iter().find(|row| row.name == name && row.slot == slot);
    let subject = format!("{name}/{slot}");
    match row.and_then(|row| row.function.as_deref()) {
        Some(function) => audited.about(finding, &subject, function, TABLE),
        None => Finding { subject, c_place: Some(TABLE.to_owned()), ..finding },
    }
}

/// Wrappers and numbers of arguments.
fn details(sources: &Sources, audited: &Audited<'_>, compared: &[Compared], findings: &mut Vec<Finding>) {
    for row in compared {
        let Some(other) = &row.dynamo else { continue };
        let place = at(&other.path, other.line);
        match &row.wrapper {
            Some(wrapper) if *wrapper != other.wrapper => {
                let message =
                    format!("{} of {} has the wrapper {}; CPython's is {wrapper}.", row.name, row.slot, other.wrapper);
                let advice = format!("Compare what the wrapper checks and says with {wrapper}, or rename it.");
                let finding = audited.finding("slotdef-wrapper", Severity::Note, message, &advice, place);
                findings.push(audited.about(finding, &format!("{}/{}", row.name, row.slot), wrapper, TABLE));
            }
            None => {
                let message = format!(
                    "{} of {} has the wrapper {}; CPython has none there: no type gets the method from its slot.",
                    row.name, row.slot, other.wrapper
                );
                let advice = "Remove the wrapper, or say in a comment what needs it.";
                let finding = audited.finding("slotdef-wrapper", Severity::Note, message, advice, place);
                findings.push(of_row(audited, (&row.name, &row.slot), finding));
            }
            _ => {}
        }
        let takes = audited.arity(&row.slot);
        let base = sources.classes.get("VariableTracker").and_then(|class| class.methods.get(&other.implementation));
        match (takes, base) {
            (Some(takes), Some((line, Some(needed)))) if takes != *needed => {
                let message = format!(
                    "{} needs {needed} arguments beside self and tx; {} of C takes {takes} beside the object.",
                    other.implementation, row.slot
                );
                let advice = "Give the method the arguments of the C slot.";
                let path = sources.classes.get("VariableTracker").map_or("", |class| class.path.as_str());
                let finding = audited.finding("slotdef-signature", Severity::Warning, message, advice, at(path, *line));
                findings.push(of_row(audited, (&row.name, &row.slot), finding));
            }
            (_, None) => {
                let message = format!(
                    "{} of {} names the method {}, which VariableTracker does not define.",
                    row.name, row.slot, other.implementation
                );
                let advice = "Define the method in VariableTracker.";
                let finding = audited.finding("slotdef-method", Severity::Warning, message, advice, place);
                findings.push(of_row(audited, (&row.name, &row.slot), finding));
            }
            _ => {}
        }
    }
}

/// Rows of one special method must come in C's order: the first slot that a type fills wins.
fn order(audited: &Audited<'_>, rows: &[&Slotdef], theirs: &[Row], findings: &mut Vec<Finding>) {
    let place = |name: &str, slot: &str| rows.iter().position(|row| row.name == name && row.slot == slot);
    for (index, row) in theirs.iter().enumerate() {
        let Some(own) = place(&row.name, &row.slot) else { continue };
        let mut earlier = theirs[..index].iter().filter(|other| other.name == row.name);
        let Some(wrong) = earlier.rfind(|other| place(&other.name, &other.slot) > Some(own)) else {
            continue;
        };
        let message = format!(
            "{} in {} comes after {}; in CPython's slotdefs[] it comes before.",
            row.name, row.slot, wrong.slot
        );
        let advice = "Move the row: where a type fills both slots, the first one gives the method.";
        let finding = audited.finding("slotdef-order", Severity::Error, message, advice, at(&row.path, row.line));
        findings.push(of_row(audited, (&row.name, &row.slot), finding));
    }
}
