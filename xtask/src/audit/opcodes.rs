//! `audit opcodes`: lists the instructions that the tracer does not trace, read from its `match`.
use crate::place;
use crate::testing::{DECODED, SUPPORTED};
use crate::ui::{Advise, table::table};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use syn::visit::Visit;

/// Where the `match` stands.
const DISPATCH: &str = "runtime/src/trace/instructions/step.rs";

/// What to list.
#[derive(Args, Debug)]
pub struct Options {
    /// CPython series (3.13); without it, 3.11 to 3.15
    #[arg(long)]
    release: Option<String>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// What an arm does: traces, or stops with a reason.
pub(super) type Arms = BTreeMap<String, Option<String>>;

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let arms = arms()?;
    let releases: Vec<&str> = match &options.release {
        Some(release) => vec![release],
        None => DECODED.iter().map(String::as_str).collect(),
    };
    let mut reports = Vec::new();
    for release in releases {
        reports.push(report(release, &operations(release)?, &arms));
    }
    if options.json {
        anstream::println!("{:#}", Value::Array(reports));
    } else {
        reports.iter().for_each(show);
    }
    Ok(())
}

/// The unspecialised operations of a release, from its facts.
pub(super) fn operations(release: &str) -> Result<Vec<String>> {
    if !DECODED.iter().any(|known| known == release) {
        return Err(anyhow!("the instructions of CPython {release} are not known"))
            .advise(format!("known releases: {}", DECODED.join(", ")));
    }
    let facts = place::root().join("generated/facts");
    let installed = facts.join("installed").join(format!("{release}.json"));
    let path = if installed.exists() { installed } else { facts.join(format!("{release}.json")) };
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let facts: Value = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    let rows = facts["opcodes"]["opcodes"].as_array().with_context(|| format!("{}: no opcodes", path.display()))?;
    let real = rows.iter().filter(|row| row["kind"] == "real");
    Ok(real.filter_map(|row| row["name"].as_str()).map(str::to_owned).collect())
}

/// The arms of the tracer's `match` over operations.
pub(super) fn arms() -> Result<Arms> {
    read_arms(&place::root().join(DISPATCH))
}

/// The arms of the tracer's `match` over operations; an arm without names is refused, because it would hide a missing operation.
fn read_arms(path: &Path) -> Result<Arms> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let file = syn::parse_file(&text).with_context(|| path.display().to_string())?;
    let mut found = Dispatch::default();
    found.visit_file(&file);
    if found.arms.is_empty() {
        bail!("{}: no match over `instr.op`", path.display());
    }
    if found.wildcard {
        bail!("{}: the match over operations has an arm without names: name what it stands for", path.display());
    }
    Ok(found.arms)
}

#[derive(Default)]
struct Dispatch {
    arms: Arms,
    wildcard: bool,
}

impl<'ast> Visit<'ast> for Dispatch {
    fn visit_expr_match(&mut self, matched: &'ast syn::ExprMatch) {
        let syn::Expr::Field(field) = &*matched.expr else { return };
        if !matches!(&field.member, syn::Member::Named(name) if name == "op") {
            return;
        }
        for arm in &matched.arms {
            let mut names = Vec::new();
            self.wildcard |= !operation_names(&arm.pat, &mut names);
            let reason = stops(&arm.body);
            self.arms.extend(names.into_iter().map(|name| (name, reason.clone())));
        }
    }
}

/// `Op::A | Op::B`; whether it was nothing else.
fn operation_names(pattern: &syn::Pat, names: &mut Vec<String>) -> bool {
    match pattern {
        syn::Pat::Or(either) => either.cases.iter().all(|case| operation_names(case, names)),
        syn::Pat::Path(path) => match path.path.segments.last() {
            Some(segment) => {
                names.push(segment.ident.to_string());
                true
            }
            None => false,
        },
        _ => false,
    }
}

/// The reason, if all that an arm does is to stop.
fn stops(body: &syn::Expr) -> Option<String> {
    match body {
        syn::Expr::Block(block) => match block.block.stmts.as_slice() {
            [syn::Stmt::Expr(only, None)] => stops(only),
            _ => None,
        },
        syn::Expr::Call(call) => {
            let syn::Expr::Path(function) = &*call.func else { return None };
            if !function.path.is_ident("unsupported") {
                return None;
            }
            match call.args.first() {
                Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(reason), .. })) => Some(reason.value()),
                _ => Some("unsupported".to_owned()),
            }
        }
        _ => None,
    }
}

fn report(release: &str, operations: &[String], arms: &Arms) -> Value {
    let (mut traced, mut stopped, mut missing) = (Vec::new(), BTreeMap::new(), Vec::new());
    for name in operations {
        match arms.get(name) {
            Some(None) => traced.push(name),
            Some(Some(reason)) => {
                stopped.insert(name, reason);
            }
            None => missing.push(name),
        }
    }
    json!({
        "release": release, "is_traced": SUPPORTED.iter().any(|series| series == release), "operations": operations.len(),
        "traced": traced, "stopped": stopped, "without_arm": missing,
    })
}

fn show(report: &Value) {
    let release = report["release"].as_str().unwrap_or_default();
    let counted = |name: &str| report[name].as_array().map_or(0, Vec::len);
    let stopped = report["stopped"].as_object();
    let note = if report["is_traced"] == true { "" } else { " (not traced yet: what the arms would do)" };
    anstream::println!(
        "CPython {release}{note}: {} operations, {} traced, {} stop the trace, {} without an arm",
        report["operations"],
        counted("traced"),
        stopped.map_or(0, serde_json::Map::len),
        counted("without_arm")
    );
    let rows: Vec<Vec<String>> = stopped
        .into_iter()
        .flatten()
        .map(|(name, reason)| vec![name.clone(), reason.as_str().unwrap_or_default().to_owned()])
        .chain(
            report["without_arm"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(|name| vec![name.to_owned(), "no arm".to_owned()]),
        )
        .collect();
    if !rows.is_empty() {
        anstream::println!("{}", table(&["operation", "reason"], &rows));
    }
}
