//! The release of CPython that TorchDynamo is compared with, and findings about it.
use crate::audit::findings::{Finding, Severity};
use slotgen::facts::{Facts, Function, Type};
use std::collections::BTreeMap;

/// A file and a line.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    path: &'a str,
    line: u32,
}

/// A line of a file; 0 is the file as a whole.
pub fn at(path: &str, line: u32) -> Place<'_> {
    Place { path, line }
}

/// The facts of the release.
pub struct Audited<'f> {
    /// All of them.
    pub facts: &'f Facts,
    /// Where the trackers stand; the path of findings that have none.
    pub folder: String,
    functions: BTreeMap<&'f str, Vec<&'f Function>>,
}

impl<'f> Audited<'f> {
    /// Takes the facts.
    pub fn new(facts: &'f Facts, folder: String) -> Self {
        Self { functions: crate::audit::coverage::by_name(facts), facts, folder }
    }

    /// A finding without a C function.
    pub fn finding(&self, rule: &str, severity: Severity, message: String, advice: &str, place: Place<'_>) -> Finding {
        Finding {
            rule: rule.to_owned(),
            severity,
            message,
            advice: advice.to_owned(),
            path: if place.path.is_empty() { self.folder.clone() } else { place.path.to_owned() },
            line: place.line,
            function: None,
            c_place: None,
            release: self.facts.release.clone(),
            digest: None,
            subject: String::new(),
        }
    }

    /// The finding, with a row and a C function that it is about.
    pub fn about(&self, finding: Finding, subject: &str, function: &str, file: &str) -> Finding {
        let found = self.function(function, file);
        Finding {
            function: Some(function.to_owned()),
            c_place: found.map(|found| format!("{}:{}", found.file, found.line)),
            digest: found.map(|found| found.digest.clone()),
            subject: subject.to_owned(),
            ..finding
        }
    }

    /// The function that a file means by a name.
    pub fn function(&self, name: &str, file: &str) -> Option<&'f Function> {
        let all = self.functions.get(name)?;
        let own = all.iter().find(|function| function.unit() == file || function.file == file);
        own.or_else(|| all.iter().find(|function| !function.is_static)).or(all.first()).copied()
    }

    /// How many arguments a slot takes beside the object.
    pub fn arity(&self, slot: &str) -> Option<usize> {
        let signature = self.facts.slots().into_iter().find(|found| found.name == slot)?.signature;
        let ty = self.facts.function_types.iter().find(|ty| ty.name == signature)?;
        Some(ty.signature.parameters.len().saturating_sub(1))
    }

    /// A type by the name that Python code sees.
    pub fn type_named(&self, name: &str) -> Option<&'f Type> {
        self.facts.types.iter().find(|ty| ty.tp_name == name)
    }

    /// Whether the slot says more of a type than what every object has.
    pub fn is_own(&self, ty: &Type, slot: &str) -> bool {
        let of_all = self.type_named("object").and_then(|object| object.slots.get(slot));
        ty.slots.get(slot).is_some_and(|value| of_all.is_none_or(|other| other.function != value.function))
    }

    /// The names of a kind of table of a type and of its bases but `object`.
    pub fn names(&self, ty: &'f Type, of: &dyn Fn(&'f Type) -> Vec<&'f str>) -> Vec<(&'f str, &'f Type)> {
        let mut found: Vec<(&str, &Type)> = Vec::new();
        let mut current = Some(ty);
        while let Some(ty) = current {
            found.extend(of(ty).into_iter().map(|name| (name, ty)));
            let base = ty.base.as_deref();
            current = base
                .and_then(|base| self.facts.types.iter().find(|other| other.c_name == base))
                .filter(|base| base.tp_name != ty.tp_name);
        }
        found
    }
}
