//! Translates a tree, and leaves out what would not compile as it is rendered.

use super::capi::capi;
use super::files::rendered;
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::preprocess::Preprocessor;
use crate::source::Tree;
use crate::translate::check::{Function, Heads};
use crate::translate::driver::{self, Left, Translation};
use crate::translate::world::Elsewhere;

/// What a reason begins with.
const UNFIT: &str = "Rust that would not compile";

/// How often functions are left out because others were.
const ROUNDS: usize = 12;

/// Translates the functions of the given C files. A function whose Rust would not compile is left out, with the reason.
pub fn translate(
    tree: &Tree,
    pre: &Preprocessor,
    files: &[&str],
    elsewhere: Elsewhere,
    diagnostics: &mut Diagnostics,
) -> Result<Translation, String> {
    fitting(driver::translate(tree, pre, files, elsewhere, diagnostics)?)
}

/// What was left out because it would not compile.
pub(super) fn told(translation: &Translation) -> Diagnostics {
    let left = translation.left.iter().filter(|left| left.construct.starts_with(UNFIT));
    let warning = |left: &Left| Diagnostic {
        severity: Severity::Warning,
        code: "translate/unfit",
        file: left.file.clone(),
        line: left.line,
        column: 1,
        message: format!("`{}` is left out: {}", left.name, left.construct),
        help: "calls of it are asked of the world".to_owned(),
    };
    Diagnostics(left.map(warning).collect())
}

/// A translation without the functions that would not compile.
pub(crate) fn fitting(mut translation: Translation) -> Result<Translation, String> {
    for _ in 0..ROUNDS {
        let refused = refused(&translation)?;
        if refused.is_empty() {
            return Ok(translation);
        }
        translation = translation.without(refused);
    }
    Err("functions are left out without an end".to_owned())
}

/// A function, by its file and name, and why it is left out.
type Refusal = ((String, String), String);

/// The functions that would not compile, each with the reason.
fn refused(translation: &Translation) -> Result<Vec<Refusal>, String> {
    let (rendered, vocabulary) = rendered(translation)?;
    let all = translation.world.elsewhere.newer.clone().and(&vocabulary);
    let mut heads = Heads::of_world(&capi(&all)?, &all.globals, all.functions.keys())?;
    for unit in &rendered.units {
        for function in &unit.functions {
            let params = function.head.params.iter().map(String::as_str);
            heads.add(unit.module.clone(), function.name.clone(), params, &function.head.returns);
        }
    }
    let mut found = Vec::new();
    for unit in &rendered.units {
        for function in &unit.functions {
            let why = Function::parse(&function.text).and_then(|parsed| heads.refusal(&parsed).map_or(Ok(()), Err));
            if let Err(why) = why {
                found.push(((unit.file.clone(), function.name.clone()), format!("{UNFIT}: {why}")));
            }
        }
    }
    Ok(found)
}
