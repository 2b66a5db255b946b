//! How a function is called: its convention, and whether it is translated or a method of `CApi`.

use super::contracts::{Convention, ParamKind, convention};
use super::table::{ARRAY_NAMES, World};
use crate::lower::{CType, Param, Signature};

/// How a function is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// A method of `CApi`.
    Vocabulary,
    /// A translated function, by its C file.
    Translated(String),
}

impl Route {
    pub(crate) fn key(&self, name: &str) -> String {
        match self {
            Self::Vocabulary => name.to_owned(),
            Self::Translated(file) => format!("{file}:{name}"),
        }
    }
}

impl World {
    /// The convention and route of a function called from `file`.
    pub(crate) fn callee(&self, file: &str, name: &str, args: usize) -> Option<(Convention, Route)> {
        let here = (file.to_owned(), name.to_owned());
        let translated = self.translated.borrow();
        if let Some(convention) = translated.get(&here) {
            return Some((convention.clone(), Route::Translated(file.to_owned())));
        }
        let elsewhere =
            self.defined.iter().find(|((_, other), function)| other == name && !function.is_static).map(|(key, _)| key);
        let elsewhere = elsewhere
            .filter(|key| !self.contracts.memory(&key.0) && !self.contracts.meaning(name).starts_with("world"));
        if let Some((key, convention)) = elsewhere.and_then(|key| translated.get_key_value(key)) {
            return Some((convention.clone(), Route::Translated(key.0.clone())));
        }
        drop(translated);
        let row = self.contracts.get(name);
        let signature = match self.defined.get(&here) {
            Some(function) => function.signature.clone(),
            None => match self.declarations.prototypes.get(name) {
                Some(signature) => signature.clone(),
                None if self.contracts.get(name).is_none()
                    && self.function_macros.contains_key(name)
                    && !name.ends_with("_Check") =>
                {
                    macro_signature(name, args).filter(|_| name.contains("_GET_") || name.ends_with("Exact"))?
                }
                None => macro_signature(name, args)?,
            },
        };
        let mut convention = convention(name, &signature, row);
        let method = self.method_name(file, name);
        if row.is_some_and(|row| row.pending) {
            return Some((convention, Route::Vocabulary));
        }
        let kept = convention.params.iter_mut().filter(|kind| **kind != ParamKind::Nothing).enumerate();
        for (index, kind) in kept {
            if let Some(nullable) = kind.nullable_mut()
                && self.elsewhere.newer.may_be_null(&method, index)
            {
                *nullable = true;
            }
        }
        if let Some(known) = self.vocabulary.borrow().get(&method) {
            convention.params.iter_mut().zip(&known.params).for_each(|(mine, theirs)| mine.widen(theirs));
        }
        slices(&signature, &mut convention);
        Some((convention, Route::Vocabulary))
    }

    /// The convention of calls through a function typedef.
    pub(crate) fn slot_convention(&self, function: &str) -> Option<Convention> {
        let signature = self.declarations.functions.get(function)?;
        let mut convention = convention(function, signature, self.contracts.get(function));
        slices(signature, &mut convention);
        Some(convention)
    }
}

/// A pointer to objects is an array where it is const or its name says so.
fn slices(signature: &Signature, convention: &mut Convention) {
    for (param, kind) in signature.params.iter().zip(&mut convention.params) {
        if param.ctype == CType::Objects && (param.array || ARRAY_NAMES.contains(&param.name.as_str())) {
            *kind = ParamKind::Slice;
        }
    }
}

/// The head of a macro that the headers define without a prototype, by what its name says.
fn macro_signature(name: &str, args: usize) -> Option<Signature> {
    let object = |name: &str| Param {
        name: name.to_owned(),
        ctype: CType::Object,
        structure: "PyObject".to_owned(),
        array: false,
    };
    let size = |name: &str| Param {
        name: name.to_owned(),
        ctype: CType::Int("isize"),
        structure: String::new(),
        array: false,
    };
    let (params, returns) = if name.ends_with("_Check") || name.ends_with("_CheckExact") {
        (vec![object("op")], CType::Int("i32"))
    } else if name.ends_with("_GET_SIZE") && args == 1 {
        (vec![object("op")], CType::Int("isize"))
    } else if name.ends_with("_GET_ITEM") && args == 2 {
        (vec![object("op"), size("i")], CType::Object)
    } else {
        return None;
    };
    Some(Signature { params, returns, variadic: false })
}
