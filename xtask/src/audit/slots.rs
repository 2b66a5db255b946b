//! `audit slots`: counts the slots of each C type: absent, modelled, not modelled; by slotrt and by TorchDynamo.
use super::{models, tiers};
use crate::obtain::{interpreter, torch};
use crate::place;
use crate::run as process;
use crate::ui::{Advise, table::table};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use slotgen::emit::MEMORY;
use slotgen::facts::{Facts, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to compare.
#[derive(Args, Debug)]
pub struct Options {
    /// CPython release
    #[arg(long, default_value = "3.13", value_parser = tiers::with_bodies())]
    release: String,
    /// The folder `torch` of an installed PyTorch; without it, the one that `cargo xtask test --torch` installed
    #[arg(long, value_name = "DIR")]
    torch: Option<PathBuf>,
    /// Name every slot
    #[arg(long)]
    verbose: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// What `dynamo.py` prints.
#[derive(Debug, Deserialize)]
struct Dynamo {
    slotdefs: Option<Vec<(String, String)>>,
    slots: Vec<String>,
    types: BTreeMap<String, Tracker>,
}

#[derive(Debug, Deserialize)]
struct Tracker {
    methods: BTreeSet<String>,
}

/// What stands for a slot that a type fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A generated body, proved against the C function; the tracer may still run that on objects of the trace.
    Translated,
    /// The C function runs on objects of the trace, and looks at symbolic values through proxies.
    Native,
    /// The tracer tells its special method apart by name, and has code for it.
    ByHand,
    /// Present, and the tracer has no way to call it.
    Unmodelled,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Translated => "translated",
            State::Native => "native on proxies",
            State::ByHand => "by hand",
            State::Unmodelled => "present, not modelled",
        }
    }
}

/// A slot that a type fills.
struct Filled<'f> {
    slot: &'f str,
    function: &'f str,
    state: State,
    /// Whether Dynamo has a body; `None` where it has no tracker for the type.
    dynamo: Option<bool>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let facts = slotgen::committed(&place::root().join("generated"), &options.release)?;
    let ours = Ours::read(&options.release, &facts)?;
    let (dynamo, why) = match dynamo(options.torch.as_deref()) {
        Ok(found) => (Some(found), None),
        Err(error) if options.torch.is_none() => (None, Some(format!("{error:#}"))),
        Err(error) => return Err(error),
    };
    let slots: Vec<&str> =
        facts.slots().iter().map(|slot| slot.name).filter(|slot| !MEMORY.contains(slot)).map(intern(&facts)).collect();
    let rows: Vec<(&Type, Vec<Filled<'_>>)> = facts
        .types
        .iter()
        .filter(|ty| {
            ty.file.starts_with("Objects/") || ty.file == "Python/bltinmodule.c" || has_tracker(dynamo.as_ref(), ty)
        })
        .map(|ty| (ty, filled(ty, &slots, &ours, dynamo.as_ref())))
        .collect();
    if options.json {
        anstream::println!("{:#}", as_json(&facts, &rows, dynamo.as_ref()));
        return Ok(());
    }
    show(&facts, &rows, dynamo.as_ref(), slots.len(), options.verbose);
    if let Some(why) = why {
        anstream::println!("TorchDynamo is not compared: {why}");
    }
    Ok(())
}

/// The same name as the facts own it.
fn intern<'f>(facts: &'f Facts) -> impl Fn(&str) -> &'f str {
    let names: BTreeMap<&str, &'f str> = facts
        .structs
        .iter()
        .flat_map(|layout| &layout.fields)
        .map(|field| (field.name.as_str(), field.name.as_str()))
        .collect();
    move |name| names.get(name).copied().unwrap_or_default()
}

/// What the tracer has for slots.
struct Ours {
    translated: BTreeSet<String>,
    /// Slots of a signature that the symbolic vocabulary calls.
    called: BTreeSet<String>,
    /// Slots whose special methods the tracer tells apart by name.
    by_hand: BTreeSet<String>,
}

impl Ours {
    fn read(release: &str, facts: &Facts) -> Result<Self> {
        let by_hand = models::read()?;
        let vocabulary: BTreeSet<&String> = by_hand.values().flat_map(|file| &file.vocabulary).collect();
        let told_apart: BTreeSet<&String> = by_hand.values().flat_map(|file| &file.cases).collect();
        let slots = facts.slots().into_iter();
        let called = slots.filter(|slot| vocabulary.contains(&format!("call_{}", slot.signature)));
        let called = called.map(|slot| slot.name.to_owned()).collect();
        let run = tiers::run_by_body(&by_hand);
        let bodies = tiers::translated(release)?.into_values().flatten();
        let translated = bodies.filter(|function| tiers::covers(&run, function)).collect();
        let named = facts.slotdefs.iter().filter(|row| told_apart.contains(&row.name));
        let mut by_hand: BTreeSet<String> = named.map(|row| row.slot.clone()).collect();
        if told_apart.contains(&"__new__".to_owned()) {
            by_hand.insert("tp_new".to_owned());
        }
        Ok(Self { translated, called, by_hand })
    }

    fn state(&self, slot: &str, function: &str) -> State {
        if self.translated.contains(function) {
            State::Translated
        } else if self.called.contains(slot) {
            State::Native
        } else if self.by_hand.contains(slot) {
            State::ByHand
        } else {
            State::Unmodelled
        }
    }
}

fn filled<'f>(ty: &'f Type, slots: &[&'f str], ours: &Ours, dynamo: Option<&Dynamo>) -> Vec<Filled<'f>> {
    let tracker = dynamo.and_then(|dynamo| dynamo.types.get(&ty.tp_name).map(|tracker| (dynamo, tracker)));
    let fills = |slot: &&'f str| ty.slots.get(*slot).map(|value| (*slot, value.function.as_str()));
    slots
        .iter()
        .filter_map(fills)
        .map(|(slot, function)| Filled {
            slot,
            function,
            state: ours.state(slot, function),
            dynamo: tracker.map(|(dynamo, tracker)| {
                dynamo.slots.iter().any(|known| known == slot) && tracker.methods.contains(&method(slot))
            }),
        })
        .collect()
}

/// The method of a tracker that stands for a slot.
fn method(slot: &str) -> String {
    match slot {
        "tp_call" => "call_function".to_owned(),
        "tp_hash" => "hash_impl".to_owned(),
        _ => format!("{slot}_impl"),
    }
}

fn has_tracker(dynamo: Option<&Dynamo>, ty: &Type) -> bool {
    dynamo.is_some_and(|dynamo| dynamo.types.contains_key(&ty.tp_name))
}

/// Reads the sources of an installed TorchDynamo with the Python that runs it.
fn dynamo(given: Option<&Path>) -> Result<Dynamo> {
    let (python, folder) = match given {
        Some(folder) => (interpreter::find("3.13", None)?.executable, folder.to_owned()),
        None => torch::installed()?,
    };
    let variables = folder.join("_dynamo").join("variables");
    if !variables.is_dir() {
        return Err(anyhow!("{} has no trackers", variables.display()))
            .advise("pass the folder of an installed PyTorch: `--torch .../site-packages/torch`");
    }
    let mut command = Command::new(python);
    command.args(["-I", "-B"]).arg(place::root().join("xtask/src/audit/dynamo.py")).arg(&variables);
    let output = process::output(&mut command).context("TorchDynamo's sources cannot be read")?;
    serde_json::from_str(&output).with_context(|| format!("{} is not as expected", variables.display()))
}

/// Counts of a list of slots: filled, translated, native, by hand, not modelled, and with a body in Dynamo.
fn counts(filled: &[Filled<'_>]) -> [usize; 6] {
    let of = |state| filled.iter().filter(|row| row.state == state).count();
    let dynamo = filled.iter().filter(|row| row.dynamo == Some(true)).count();
    [filled.len(), of(State::Translated), of(State::Native), of(State::ByHand), of(State::Unmodelled), dynamo]
}

fn show(facts: &Facts, rows: &[(&Type, Vec<Filled<'_>>)], dynamo: Option<&Dynamo>, slots: usize, verbose: bool) {
    let line = |name: &str, counts: [usize; 6], absent: usize, tracked: bool| {
        let mut cells = vec![name.to_owned(), absent.to_string()];
        cells.extend(counts[..5].iter().map(ToString::to_string));
        cells.push(if tracked { counts[5].to_string() } else { "-".to_owned() });
        cells
    };
    let mut lines = Vec::new();
    for (ty, filled) in rows {
        lines.push(line(&ty.tp_name, counts(filled), slots - filled.len(), has_tracker(dynamo, ty)));
    }
    let sum = |of: &dyn Fn(&Type) -> bool| {
        rows.iter().filter(|(ty, _)| of(ty)).map(|(_, filled)| counts(filled)).fold([0; 6], |mut all, counts| {
            all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            all
        })
    };
    let all = sum(&|_| true);
    let tracked = sum(&|ty| has_tracker(dynamo, ty));
    let count = |of: &dyn Fn(&Type) -> bool| rows.iter().filter(|(ty, _)| of(ty)).count();
    lines.push(line("all", all, slots * count(&|_| true) - all[0], dynamo.is_some()));
    let headings =
        ["type", "absent", "filled", "translated", "native on proxies", "by hand", "not modelled", "body in Dynamo"];
    anstream::println!("CPython {}: {slots} slots that programs see\n{}", facts.release, table(&headings, &lines));
    if let Some(dynamo) = dynamo {
        let rows = dynamo.slotdefs.as_ref().map_or_else(|| "no".to_owned(), |rows| rows.len().to_string());
        anstream::println!(
            "\nOf the {} types that a tracker of TorchDynamo names, C fills {} slots: {} translated, {} native on proxies, {} by hand, {} not modelled \
             here; {} have a body in TorchDynamo. Its table has {rows} of CPython's {} slot definitions.",
            count(&|ty| has_tracker(Some(dynamo), ty)),
            tracked[0],
            tracked[1],
            tracked[2],
            tracked[3],
            tracked[4],
            tracked[5],
            facts.slotdefs.len()
        );
    }
    if verbose {
        for (ty, filled) in rows {
            for Filled { slot, function, state, dynamo } in filled {
                let dynamo = match dynamo {
                    Some(true) => ", a body in Dynamo",
                    Some(false) => ", no body in Dynamo",
                    None => "",
                };
                anstream::println!("{}.{slot}: {function}: {}{dynamo}", ty.tp_name, state.word());
            }
        }
    }
}

fn as_json(facts: &Facts, rows: &[(&Type, Vec<Filled<'_>>)], dynamo: Option<&Dynamo>) -> Value {
    let slots = |filled: &[Filled<'_>]| -> Vec<Value> {
        filled
            .iter()
            .map(|row| json!({"slot": row.slot, "function": row.function, "state": row.state.word(), "dynamo": row.dynamo}))
            .collect()
    };
    let types: Vec<Value> = rows
        .iter()
        .map(|(ty, filled)| json!({"type": ty.tp_name, "file": ty.file, "c_name": ty.c_name, "filled": slots(filled)}))
        .collect();
    let definitions = dynamo.and_then(|dynamo| dynamo.slotdefs.as_ref()).map(Vec::len);
    json!({"release": facts.release, "types": types, "slotdefs": facts.slotdefs.len(), "slotdefs_of_dynamo": definitions})
}
