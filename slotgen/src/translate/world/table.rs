//! All that is known beside the function under translation: headers, contracts, slots, and the conventions of the others.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::contracts::{Contracts, Convention, ParamKind, convention};
use super::vocabulary::Elsewhere;
use crate::lower::{CType, Declarations, Expr, Function, Kind, Known, Param, Signature, suite_field};
use crate::translate::call::Route;
use crate::translate::value::Val;

/// A slot of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotInfo {
    /// `PyTypeObject`, or the field of the suite.
    pub suite: &'static str,
    /// The typedef of its function.
    pub function: String,
}

/// What CPython calls pointers to several objects.
pub(crate) const ARRAY_NAMES: [&str; 6] = ["args", "stack", "items", "array", "fastargs", "src"];

/// What CPython calls the keywords of a call, which are NULL where there are none.
pub(crate) const KEYWORDS: [&str; 4] = ["kwds", "kwargs", "kwnames", "kw"];

/// Looks up an object-like macro.
pub type Macros = Box<dyn Fn(&str) -> Option<String>>;

/// What translations ask.
pub struct World {
    pub(crate) contracts: Contracts,
    /// What newer releases ask of their worlds.
    pub(crate) elsewhere: Elsewhere,
    pub(crate) declarations: Declarations,
    /// File-level variables with their types.
    pub(crate) variables: BTreeMap<(String, String), CType>,
    /// Object-like macros of the headers.
    pub(crate) macros: Macros,
    /// Macros of the headers that take arguments: parameters and body.
    pub(crate) function_macros: BTreeMap<String, (Vec<String>, String)>,
    /// Conventions of the functions that are translated, by file and name.
    pub(crate) translated: RefCell<BTreeMap<(String, String), Convention>>,
    /// Functions defined in each file.
    pub(crate) defined: BTreeMap<(String, String), Rc<Function>>,
    /// Methods of `CApi` that were asked for.
    pub(crate) vocabulary: RefCell<BTreeMap<String, Convention>>,
    /// Members of structs that those methods read or set: struct and path, by the reading method.
    pub(crate) fields: RefCell<BTreeMap<String, (String, Vec<String>)>>,
    /// Globals that were asked for.
    pub(crate) globals: RefCell<BTreeSet<String>>,
    /// Functions used as values or reachable through slots.
    pub(crate) ids: RefCell<BTreeMap<String, (String, String)>>,
    /// File-level tables of identifiers.
    pub(crate) tables: BTreeMap<(String, String), Vec<String>>,
    /// File-level tables of integers, as their items are written.
    pub(crate) numbers: BTreeMap<String, Vec<String>>,
}

/// The module of a C file.
pub fn module(file: &str) -> String {
    let stem = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".c").trim_end_matches(".h");
    match stem {
        "abstract" => "abstract_".to_owned(),
        stem => stem.replace(['.', '-'], "_"),
    }
}

/// The suite that a member of a type points to.
pub fn suite_of(member: &str) -> Option<&'static str> {
    ["PyNumberMethods", "PySequenceMethods", "PyMappingMethods", "PyAsyncMethods", "PyBufferProcs"]
        .into_iter()
        .filter_map(suite_field)
        .find(|field| *field == member)
}

impl World {
    /// The slot of a name.
    pub(crate) fn slot(&self, name: &str) -> Option<SlotInfo> {
        let structs = [
            ("PyTypeObject", "PyTypeObject"),
            ("PyNumberMethods", "tp_as_number"),
            ("PySequenceMethods", "tp_as_sequence"),
            ("PyMappingMethods", "tp_as_mapping"),
            ("PyAsyncMethods", "tp_as_async"),
            ("PyBufferProcs", "tp_as_buffer"),
        ];
        for (structure, suite) in structs {
            if let Some(CType::Function(function)) =
                self.declarations.members.get(&(structure.to_owned(), name.to_owned()))
            {
                return Some(SlotInfo { suite, function: function.clone() });
            }
        }
        None
    }

    /// All slots, in the order of their structs.
    pub fn slots(&self) -> Vec<(String, SlotInfo, usize)> {
        let structs = [
            "PyTypeObject",
            "PyAsyncMethods",
            "PyNumberMethods",
            "PySequenceMethods",
            "PyMappingMethods",
            "PyBufferProcs",
        ];
        let mut out = Vec::new();
        for structure in structs {
            let Some(members) = self.declarations.structs.get(structure) else { continue };
            for (index, name) in members.iter().enumerate() {
                if let Some(slot) = self.slot(name) {
                    out.push((name.clone(), slot, index * 8));
                }
            }
        }
        out
    }

    /// The type of a member, through embedded structs.
    pub(crate) fn member_type(&self, structure: &str, path: &[String]) -> Option<CType> {
        let mut structure = structure.to_owned();
        for (index, member) in path.iter().enumerate() {
            let structure_name = structure.trim_start_matches("struct ");
            if self.contracts.meaning(&format!("{structure_name}_{member}")) == "function" {
                return Some(CType::Function(String::new()));
            }
            let ctype = self.declarations.members.get(&(structure_name.to_owned(), member.clone()))?;
            if index + 1 == path.len() {
                return Some(ctype.clone());
            }
            match ctype {
                CType::Opaque(text) => {
                    structure = text.trim_end_matches('*').trim_start_matches("struct ").to_owned();
                }
                _ => return None,
            }
        }
        None
    }

    /// The struct of a file-level variable.
    pub(crate) fn variable_struct(&self, file: &str, name: &str) -> Option<String> {
        let ctype =
            self.variables.get(&(file.to_owned(), name.to_owned())).or_else(|| self.declarations.globals.get(name))?;
        let CType::Opaque(text) = ctype else { return None };
        let structure = text.trim_end_matches('*').trim_start_matches("struct ").to_owned();
        self.declarations.structs.contains_key(&structure).then_some(structure)
    }

    /// The struct that a member belongs to, if only one has a member of that name.
    pub(crate) fn only_struct(&self, member: &str) -> Option<String> {
        if member.starts_with("tp_") {
            return Some("PyTypeObject".to_owned());
        }
        let mut found =
            self.declarations.members.keys().filter(|(_, name)| name == member).map(|(structure, _)| structure);
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    }

    /// What a call of a macro of the headers stands for, if that is an expression.
    pub(crate) fn expanded(&self, name: &str, args: &[Expr]) -> Option<Expr> {
        let (params, body) = self.function_macros.get(name)?;
        if params.len() != args.len() {
            return None;
        }
        let text = format!("int f(void) {{ return {}; }}", crate::lower::casts(body));
        let tree = crate::lower::parse(&text)?;
        if tree.root_node().has_error() {
            return None;
        }
        let functions = crate::lower::Text::new(&text, &self.declarations).functions(tree.root_node(), "");
        match functions.first()?.body.first()? {
            crate::lower::Stmt::Return(Some(value), _) => {
                let with = params.iter().cloned().zip(args.iter().cloned()).collect();
                Some(crate::lower::substitute(value, &with, &self.declarations))
            }
            _ => None,
        }
    }

    /// The value of a name that is no variable of the function.
    pub(crate) fn global(&self, file: &str, name: &str) -> Option<Val> {
        if let Some(number) = self.declarations.constants.get(name) {
            return Some(Val::Const(*number, None));
        }
        if name.starts_with("PyExc_")
            || matches!(name, "Py_None" | "Py_True" | "Py_False" | "Py_NotImplemented" | "Py_Ellipsis")
        {
            self.globals.borrow_mut().insert(name.to_owned());
            return Some(Val::Global(name.to_owned()));
        }
        if let Some(items) = self.tables.get(&(file.to_owned(), name.to_owned())) {
            return Some(Val::Array(items.iter().map(|id| Val::Literal(id.clone())).collect(), 0));
        }
        if let Some(items) = self.numbers.get(name) {
            let texts: Option<Vec<Val>> = items
                .iter()
                .map(|item| {
                    item.strip_prefix('"')?.strip_suffix('"').map(|text| {
                        Val::Str(crate::translate::value::Place { code: quote::quote!(#text), by_ref: true })
                    })
                })
                .collect();
            if let Some(texts) = texts {
                return Some(Val::Array(texts, 0));
            }
            let items: Option<Vec<i128>> =
                items.iter().map(|item| item.parse().ok().or_else(|| self.constant(item, 0))).collect();
            if let Some(items) = items {
                return Some(Val::Array(items.into_iter().map(|number| Val::Const(number, None)).collect(), 0));
            }
        }
        if self.defined.contains_key(&(file.to_owned(), name.to_owned()))
            || self.declarations.prototypes.contains_key(name)
        {
            return Some(Val::Named(name.to_owned()));
        }
        let number = self.constant(name, 0)?;
        Some(Val::Const(number, Some(name.to_owned())))
    }

    /// Another name that a macro without arguments stands for.
    pub(crate) fn alias(&self, name: &str) -> Option<String> {
        let other = (self.macros)(name)?;
        let is_name = other.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && other.chars().all(|c| c.is_alphanumeric() || c == '_');
        (is_name && other != name).then_some(other)
    }

    /// A global struct that is an object, such as `PyType_Type`.
    pub(crate) fn object_global(&self, name: &str) -> Option<Val> {
        if name.ends_with("_Type") && name.starts_with(['P', '_']) || name == "_Py_NoneStruct" {
            self.globals.borrow_mut().insert(name.to_owned());
            return Some(Val::Global(name.to_owned()));
        }
        None
    }

    /// The number that a constant expression gives.
    pub(crate) fn constant_of(&self, expr: &Expr) -> Option<i128> {
        self.constant_expr(expr, 0)
    }

    fn constant(&self, name: &str, depth: usize) -> Option<i128> {
        match name {
            "PY_SSIZE_T_MAX" | "PY_LLONG_MAX" | "LONG_MAX" => return Some(i128::from(i64::MAX)),
            "PY_SSIZE_T_MIN" | "LONG_MIN" => return Some(i128::from(i64::MIN)),
            "INT_MAX" => return Some(i128::from(i32::MAX)),
            "INT_MIN" => return Some(i128::from(i32::MIN)),
            _ => {}
        }
        if let Some(number) = self.declarations.constants.get(name) {
            return Some(*number);
        }
        if depth > 8 {
            return None;
        }
        let body = (self.macros)(name)?;
        let text = format!("int f(void) {{ return {body}; }}");
        let tree = crate::lower::parse(&text)?;
        if tree.root_node().has_error() {
            return None;
        }
        let functions = crate::lower::Text::new(&text, &self.declarations).functions(tree.root_node(), "");
        match functions.first()?.body.first()? {
            crate::lower::Stmt::Return(Some(value), _) => self.constant_expr(value, depth + 1),
            _ => None,
        }
    }

    fn constant_expr(&self, expr: &Expr, depth: usize) -> Option<i128> {
        let of = |expr: &Expr| self.constant_expr(expr, depth);
        Some(match &expr.kind {
            Kind::Int(number) => *number,
            Kind::Name(name) => self.constant(name, depth)?,
            Kind::Cast(CType::Int(_), _, inner) => of(inner)?,
            Kind::Unary(op, inner) => match op.as_str() {
                "-" => -of(inner)?,
                "~" => !of(inner)?,
                _ => of(inner)?,
            },
            Kind::Binary(op, a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                match op.as_str() {
                    "<<" => a.checked_shl(u32::try_from(b).ok()?)?,
                    "|" => a | b,
                    "&" => a & b,
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a.checked_mul(b)?,
                    _ => return None,
                }
            }
            Kind::Call(callee, args) if matches!(&callee.kind, Kind::Name(name) if name.ends_with("_CAST")) => {
                of(args.last()?)?
            }
            Kind::SizeOf(text) => match text.as_str() {
                "size_t" | "Py_ssize_t" | "long" => 8,
                text if text.ends_with('*') => 8,
                "int" => 4,
                text => i128::try_from(self.declarations.size_of(text)?).ok()?,
            },
            _ => return None,
        })
    }

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

    /// The identity of a function that is used as a value.
    pub(crate) fn function_id(&self, file: &str, name: &str) -> Option<String> {
        let here = (file.to_owned(), name.to_owned());
        let key = if self.defined.contains_key(&here) {
            here
        } else {
            match self.defined.iter().find(|((_, other), function)| other == name && !function.is_static) {
                Some((key, _)) => key.clone(),
                None if self.declarations.prototypes.contains_key(name) => (String::new(), name.to_owned()),
                None => return None,
            }
        };
        Some(self.note_id(key))
    }

    /// Notes a function that has an identity and gives the name of it.
    pub(crate) fn note_id(&self, key: (String, String)) -> String {
        let mut ids = self.ids.borrow_mut();
        let plain = key.1.clone();
        match ids.get(&plain).or_else(|| self.elsewhere.newer.functions.get(&plain)) {
            Some(known) if *known != key => {
                let long = format!("{}_{}", module(&key.0), key.1);
                ids.insert(long.clone(), key);
                long
            }
            _ => {
                ids.insert(plain.clone(), key);
                plain
            }
        }
    }

    /// The method that stands for a function that is asked of the world: static functions of several files are told apart.
    pub(crate) fn method_name(&self, file: &str, name: &str) -> String {
        let own = self.defined.get(&(file.to_owned(), name.to_owned())).is_some_and(|function| function.is_static);
        let several = || self.defined.keys().filter(|(_, other)| other == name).nth(1).is_some();
        if own && several() { format!("{}_{name}", module(file)) } else { name.to_owned() }
    }

    /// Notes a member of a struct and gives the name of the method that reads it.
    pub(crate) fn note_field(&self, structure: &str, path: &[String]) -> String {
        let name = format!("{}_{}", structure.replace(' ', "_"), path.join("_"));
        self.fields.borrow_mut().entry(name.clone()).or_insert_with(|| (structure.to_owned(), path.to_vec()));
        name
    }

    /// Notes a method of `CApi`.
    pub(crate) fn note(&self, name: &str, convention: &Convention) {
        let mut vocabulary = self.vocabulary.borrow_mut();
        match vocabulary.get_mut(name) {
            Some(known) => {
                known.params.iter_mut().zip(&convention.params).for_each(|(mine, theirs)| mine.widen(theirs));
            }
            None => {
                vocabulary.insert(name.to_owned(), convention.clone());
            }
        }
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

impl Known for World {
    fn is_object(&self, name: &str) -> bool {
        self.declarations.is_object(name)
    }
    fn is_function(&self, name: &str) -> bool {
        self.declarations.is_function(name)
    }
    fn integer(&self, name: &str) -> Option<&'static str> {
        self.declarations.integer(name)
    }
}
