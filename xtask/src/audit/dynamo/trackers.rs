//! Tracker classes against the slots and tables of the C types that they name.
use super::audited::{Audited, at};
use super::python::{Class, Sources};
use crate::audit::findings::{Finding, Severity};
use crate::obtain::interpreter;
use crate::place;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use slotgen::emit::MEMORY;
use slotgen::facts::Type;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

/// The class that all trackers share; its methods mostly break the graph.
const SHARED: &str = "VariableTracker";

/// A slot that a type fills, and whether the tracker has a body for it.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// `dict.nb_or`.
    pub id: String,
    /// The C function; none if C leaves the slot empty.
    pub function: Option<String>,
    /// Whether a structure of the trackers has the slot.
    pub known: bool,
    /// Where the body is: `file:line`.
    pub body: Option<String>,
}

/// A type of CPython that a tracker names.
#[derive(Clone, Debug, Serialize)]
pub struct Tracked {
    /// `dict`.
    pub name: String,
    /// The tracker classes.
    pub trackers: Vec<String>,
    /// Its slots.
    pub cells: Vec<Cell>,
    /// Methods, getters and members of C, by table: how many there are, and which the trackers have not.
    pub tables: BTreeMap<String, (usize, Vec<String>)>,
}

/// The tables: the trackers' name, and the names that a C type has.
type TableOf = (&'static str, for<'t> fn(&'t Type) -> Vec<&'t str>);
const TABLES: [TableOf; 3] = [
    ("tp_methods", |ty| ty.methods.iter().map(|row| row.name.as_str()).collect()),
    ("tp_getset", |ty| ty.getset.iter().map(|row| row.name.as_str()).collect()),
    ("tp_members", |ty| ty.members.iter().map(|row| row.name.as_str()).collect()),
];

/// Compares every tracker that names types of CPython.
pub fn compare(
    sources: &Sources,
    series: &str,
    audited: &Audited<'_>,
    findings: &mut Vec<Finding>,
) -> Result<Vec<Tracked>> {
    let named: Vec<(&Class, &str)> = sources
        .classes
        .values()
        .filter_map(|class| Some((class, class.bound.get("_cpython_type")?.1.as_str())))
        .filter(|(_, text)| *text != "None")
        .collect();
    let texts: BTreeSet<&str> = named.iter().map(|(_, text)| *text).collect();
    let types = type_names(series, &texts)?;
    let mut by_type: BTreeMap<&str, Vec<&Class>> = BTreeMap::new();
    for (class, text) in named {
        for name in types.get(text).into_iter().flatten() {
            by_type.entry(name).or_default().push(class);
        }
    }
    let slots: Vec<(&str, String)> = slots(audited, sources);
    let mut tracked = Vec::new();
    for (name, classes) in by_type {
        let Some(ty) = audited.type_named(name) else { continue };
        let lineage: Vec<&Class> = classes.iter().flat_map(|class| sources.lineage(&class.name, SHARED)).collect();
        let compared = Compared { audited, ty, classes: &classes, lineage };
        tracked.push(Tracked {
            name: name.to_owned(),
            trackers: classes.iter().map(|class| class.name.clone()).collect(),
            cells: slots.iter().filter_map(|(slot, method)| compared.cell(slot, method, sources, findings)).collect(),
            tables: TABLES.iter().map(|&table| (table.0.to_owned(), compared.table(table, findings))).collect(),
        });
    }
    Ok(tracked)
}

/// The slots that programs see, with the method that stands for each.
fn slots<'f>(audited: &Audited<'f>, sources: &Sources) -> Vec<(&'f str, String)> {
    let rows = sources.slotdefs.iter().flatten();
    let method: BTreeMap<&str, &str> = rows.map(|row| (row.slot.as_str(), row.implementation.as_str())).collect();
    let seen = audited.facts.slots().into_iter().map(|slot| slot.name).filter(|slot| !MEMORY.contains(slot));
    seen.map(|slot| (slot, method.get(slot).map_or_else(|| format!("{slot}_impl"), |method| (*method).to_owned())))
        .collect()
}

struct Compared<'a, 'f> {
    audited: &'a Audited<'f>,
    ty: &'f Type,
    classes: &'a [&'a Class],
    lineage: Vec<&'a Class>,
}

impl Compared<'_, '_> {
    fn cell(&self, slot: &str, method: &str, sources: &Sources, findings: &mut Vec<Finding>) -> Option<Cell> {
        let value = self.ty.slots.get(slot);
        let body = self.lineage.iter().find_map(|class| Some((*class, class.methods.get(method)?.0)));
        let known = sources.classes.values().any(|class| {
            class.bases.iter().any(|base| base == "NamedTuple") && class.fields.iter().any(|field| field == slot)
        });
        if value.is_none() && body.is_none() {
            return None;
        }
        let id = format!("{}.{slot}", self.ty.tp_name);
        match (value, body) {
            (Some(value), None) if self.audited.is_own(self.ty, slot) => {
                let severity = if known { Severity::Warning } else { Severity::Note };
                let class = self.classes[0];
                let message = format!("C fills {id} with {}; {} has no {method}.", value.function, class.name);
                let advice = if known {
                    format!(
                        "Define {method} as {} does it; until then the operation breaks the graph or takes another way.",
                        value.function
                    )
                } else {
                    format!(
                        "No structure of the trackers has {slot}: add it with {method}, or handle the operation elsewhere and say where."
                    )
                };
                let finding =
                    self.audited.finding("slot-body-missing", severity, message, &advice, at(&class.path, class.line));
                findings.push(self.audited.about(finding, &id, &value.function, self.ty.unit()));
            }
            (None, Some((class, line)))
                if self.classes.len() == 1
                    && self.classes.iter().any(|own| own.name == class.name)
                    && !several(class) =>
            {
                let message = format!("{} defines {method}; C leaves {id} empty.", class.name);
                let advice = "Remove the method: C raises its own error where the slot is empty.";
                let mut finding =
                    self.audited.finding("slot-body-extra", Severity::Note, message, advice, at(&class.path, line));
                finding.subject.clone_from(&id);
                finding.c_place = Some(format!("{}:{}", self.ty.file, self.ty.line));
                findings.push(finding);
            }
            _ => {}
        }
        let body = body.map(|(class, line)| format!("{}:{line}", class.path));
        Some(Cell { id, function: value.map(|value| value.function.clone()), known, body })
    }

    fn table(&self, (table, of): TableOf, findings: &mut Vec<Finding>) -> (usize, Vec<String>) {
        let own = of(self.ty);
        let theirs: BTreeMap<&str, (&Class, u32)> = self
            .lineage
            .iter()
            .flat_map(|class| {
                class.tables.get(table).into_iter().flatten().map(|(name, line)| (name.as_str(), (*class, *line)))
            })
            .collect();
        let by_hand = |name: &str| self.lineage.iter().any(|class| class.strings.contains(name));
        let missing: Vec<&str> =
            own.iter().copied().filter(|name| !theirs.contains_key(name) && !by_hand(name)).collect();
        let class = self.classes[0];
        for name in &missing {
            let function = self.function(name);
            let message = format!(
                "{}.{name} of C's {table} is neither in {table} of {} nor named in its body.",
                self.ty.tp_name, class.name
            );
            let advice = format!("Add {name} to {table} of {}.", class.name);
            let finding = self.audited.finding(
                "table-row-missing",
                Severity::Note,
                message,
                &advice,
                at(&class.path, class.line),
            );
            let subject = format!("{}.{name}", self.ty.tp_name);
            findings.push(match function {
                Some(function) => self.audited.about(finding, &subject, function, self.ty.unit()),
                None => Finding { subject, ..finding },
            });
        }
        self.extra(table, of, &theirs, findings);
        (own.len(), missing.into_iter().map(str::to_owned).collect())
    }

    /// The C function of a row of the type's tables.
    fn function(&self, name: &str) -> Option<&str> {
        let method = self.ty.methods.iter().find(|row| row.name == name).map(|row| row.function.as_str());
        let accessor = || {
            let row = self.ty.getset.iter().find(|row| row.name == name)?;
            row.get.as_deref().or(row.set.as_deref())
        };
        let member = || self.ty.members.iter().any(|row| row.name == name).then_some("PyMember_GetOne");
        method.or_else(accessor).or_else(member)
    }

    fn extra(
        &self,
        table: &str,
        of: for<'t> fn(&'t Type) -> Vec<&'t str>,
        theirs: &BTreeMap<&str, (&Class, u32)>,
        findings: &mut Vec<Finding>,
    ) {
        let inherited = self.audited.names(self.ty, &|ty| of(ty));
        let slots = self.audited.facts.slotdefs.iter().map(|row| row.name.as_str());
        let known: BTreeSet<&str> = inherited.iter().map(|(name, _)| *name).chain(slots).collect();
        let own = |class: &Class| self.classes.iter().any(|tracker| tracker.name == class.name) && !several(class);
        for (name, (class, line)) in theirs.iter().filter(|(name, (class, _))| !known.contains(*name) && own(class)) {
            let elsewhere = TABLES.iter().find(|(other, of)| {
                *other != table && self.audited.names(self.ty, &|ty| of(ty)).iter().any(|(known, _)| known == name)
            });
            let (message, advice) = match elsewhere {
                Some((other, _)) => (
                    format!("{}.{name} stands in {table}; C has it in {other}.", self.ty.tp_name),
                    format!("Move it to {other}, so that its errors are those of C."),
                ),
                None => (
                    format!("{}.{name} stands in {table}; the C type has no such row.", self.ty.tp_name),
                    "Remove the row, or name the release that has it.".to_owned(),
                ),
            };
            let mut finding =
                self.audited.finding("table-row-extra", Severity::Note, message, &advice, at(&class.path, *line));
            finding.subject = format!("{}.{name}", self.ty.tp_name);
            finding.c_place = Some(format!("{}:{}", self.ty.file, self.ty.line));
            findings.push(finding);
        }
    }
}

/// Whether a tracker stands for several types: what one of them lacks another has.
fn several(class: &Class) -> bool {
    class.bound.get("_cpython_type").is_some_and(|(_, text)| text.starts_with('('))
}

/// The types that expressions name, as an interpreter of the release says.
fn type_names<'t>(series: &str, texts: &BTreeSet<&'t str>) -> Result<BTreeMap<&'t str, Vec<String>>> {
    let python = interpreter::find(series, None)?;
    let mut command = Command::new(&python.executable);
    command.args(["-I", "-B"]).arg(place::root().join("xtask/src/audit/dynamo/type_names.py"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("the interpreter could not be started")?;
    child.stdin.take().context("the interpreter has no input")?.write_all(&serde_json::to_vec(texts)?)?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("the names of types could not be read: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let names: Vec<Vec<String>> = serde_json::from_slice(&output.stdout).context("the interpreter printed no names")?;
    Ok(texts.iter().copied().zip(names).collect())
}
