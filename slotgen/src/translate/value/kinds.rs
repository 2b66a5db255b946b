//! What is known of a C value on one path.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;

use crate::translate::block::{Var, ident};

/// An expression that names a Rust value without computing anything.
#[derive(Debug, Clone)]
pub struct Place {
    /// The expression.
    pub code: TokenStream,
    /// Whether it is a reference already.
    pub by_ref: bool,
}

impl Place {
    /// A variable that owns its value.
    pub fn owned(var: Var) -> Self {
        let name = ident(var);
        Self { code: quote!(#name), by_ref: false }
    }
    /// A variable that is a reference.
    pub fn by_ref(var: Var) -> Self {
        let name = ident(var);
        Self { code: quote!(#name), by_ref: true }
    }
    /// As a reference.
    pub fn reference(&self) -> TokenStream {
        let code = &self.code;
        if self.by_ref { quote!(#code) } else { quote!(&#code) }
    }
    /// As a value of its own.
    pub fn value(&self) -> TokenStream {
        let code = &self.code;
        quote!(#code.clone())
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.by_ref == other.by_ref && self.code.to_string() == other.code.to_string()
    }
}

/// A C value.
#[derive(Debug, Clone, PartialEq)]
pub enum Val {
    /// Not set on this path.
    Uninit,
    /// Nothing (`void`).
    Unit,
    /// The thread state, which has no counterpart.
    Thread,
    /// The null pointer.
    Null,
    /// An object.
    Object(Place),
    /// An object or NULL: an `Option`.
    MaybeObject(Place),
    /// A function found in a slot.
    Function(Place, String),
    /// A slot's content.
    MaybeFunction(Place, String),
    /// A C function by name.
    Named(String),
    /// A C global object by name.
    Global(String),
    /// A known integer, with the name of the constant if it has one.
    Const(i128, Option<String>),
    /// An integer: its code, Rust type, and whether it is known not to be negative.
    Int(Place, &'static str, bool),
    /// A truth value, as a Rust `bool`.
    Bool(Place),
    /// A `double`.
    Double(Place),
    /// A string constant.
    Literal(String),
    /// A C string.
    Str(Place),
    /// A C string or NULL: an `Option`.
    MaybeStr(Place),
    /// A suite of a type; whether it is known to be there.
    Suite(Place, &'static str, Option<bool>),
    /// A byte within a suite.
    SuiteByte(Place, &'static str, Box<Val>),
    /// A local struct that nobody has used yet: its C name.
    Unmade(String),
    /// A local array of objects, from an offset.
    Array(Vec<Val>, usize),
    /// A slice of objects.
    Slice(Place),
    /// A variable that lives on between calls: where the world has it.
    Behind(Place),
    /// Memory for so many elements, whose type its variable says.
    Room(Box<Val>),
    /// An array of the function's own, or one that it is given to read: its elements (`object` or an integer type), and where it is pointed to.
    Buffer(Place, &'static str, Option<Place>),
    /// Objects that may be NULL, but for the first few.
    Optionals(Place, usize),
    /// The address of a variable.
    Address(String),
    /// The address of a caller's variable, or NULL.
    MaybeAddress(String),
    /// A pointer to a member of a struct, not read yet: object, struct, path.
    Member(Place, String, Vec<String>),
    /// The pending exception, as `PyErr_Occurred` gives it.
    Pending,
}

impl Val {
    /// A number that a pointer leads to: `int` is its Rust type.
    pub fn out(place: Place, int: &'static str, positive: bool) -> Self {
        if int == "f64" { Self::Double(place) } else { Self::Int(place, int, positive) }
    }

    /// What it is, in words.
    pub fn word(&self) -> String {
        let word = match self {
            Self::Uninit => "a value that is not set",
            Self::Unit => "nothing",
            Self::Thread => "the thread state",
            Self::Null => "NULL",
            Self::Object(_) | Self::Global(_) => "an object",
            Self::MaybeObject(_) => "an object that may be NULL",
            Self::Function(..) | Self::MaybeFunction(..) => "a function pointer",
            Self::Named(name) => return format!("the function {name}"),
            Self::Const(..) | Self::Int(..) | Self::Bool(_) => "an integer",
            Self::Double(_) => "a double",
            Self::Literal(_) | Self::Str(_) => "a string",
            Self::MaybeStr(_) => "a string that may be NULL",
            Self::Suite(..) | Self::SuiteByte(..) => "a suite",
            Self::Unmade(_) => "a struct",
            Self::Array(..) | Self::Slice(_) | Self::Optionals(..) | Self::Room(_) | Self::Buffer(..) => "an array",
            Self::Address(_) => "an address",
            Self::MaybeAddress(_) => "an address that may be NULL",
            Self::Member(_, structure, path) => return format!("{structure}'s {}", path.join(".")),
            Self::Behind(_) => "a static variable",
            Self::Pending => "the type of the pending exception",
        };
        word.to_owned()
    }
    /// Whether it names one of the variables.
    pub fn mentions(&self, vars: &std::collections::BTreeSet<Var>) -> bool {
        let place = match self {
            Self::Object(place)
            | Self::MaybeObject(place)
            | Self::Function(place, _)
            | Self::MaybeFunction(place, _)
            | Self::Int(place, ..)
            | Self::Bool(place)
            | Self::Double(place)
            | Self::Str(place)
            | Self::MaybeStr(place)
            | Self::Suite(place, ..)
            | Self::Slice(place)
            | Self::Optionals(place, _)
            | Self::Behind(place)
            | Self::Member(place, ..) => place,
            Self::SuiteByte(place, _, offset) => {
                if offset.mentions(vars) {
                    return true;
                }
                place
            }
            Self::Array(items, _) => return items.iter().any(|item| item.mentions(vars)),
            Self::Buffer(place, _, offset) => {
                let mut uses = BTreeMap::new();
                crate::translate::block::count(&place.code, &mut uses);
                offset.iter().for_each(|offset| crate::translate::block::count(&offset.code, &mut uses));
                return uses.keys().any(|var| vars.contains(var));
            }
            _ => return false,
        };
        let mut uses = BTreeMap::new();
        crate::translate::block::count(&place.code, &mut uses);
        uses.keys().any(|var| vars.contains(var))
    }
}

/// What is known on one path.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Variables of the C function.
    pub vars: BTreeMap<String, Val>,
    /// What a variable was before a test said more.
    pub bases: BTreeMap<String, Val>,
    /// Reads that need not be repeated until somebody else's code runs.
    pub memo: BTreeMap<String, Val>,
    /// The pending exception.
    pub error: Option<Var>,
}

impl State {
    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: Val) {
        self.bases.remove(name);
        self.vars.insert(name.to_owned(), value);
    }
    /// Notes what a test said of a variable.
    pub fn refine(&mut self, name: &str, value: Val) {
        if let Some(old) = self.vars.insert(name.to_owned(), value) {
            self.bases.entry(name.to_owned()).or_insert(old);
        }
    }
    /// The state that two paths have in common if no value need be carried along; `None` if one must.
    pub fn forget(&self, other: &Self) -> Option<Self> {
        if self.error != other.error {
            return None;
        }
        let mut joined = Self { error: self.error, ..Self::default() };
        for (name, mine) in &self.vars {
            let Some(theirs) = other.vars.get(name) else { continue };
            let common = common(mine, self.bases.get(name), theirs, other.bases.get(name))?;
            if common == *mine
                && let Some(base) = self.bases.get(name)
            {
                joined.bases.insert(name.clone(), base.clone());
            }
            joined.vars.insert(name.clone(), common);
        }
        joined.memo = self.common_memo(other);
        Some(joined)
    }
    /// The reads that both paths remember.
    pub fn common_memo(&self, other: &Self) -> BTreeMap<String, Val> {
        self.memo
            .iter()
            .filter(|(key, value)| other.memo.get(*key) == Some(value))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }
}

/// The value that two paths have in common.
pub fn common(mine: &Val, my_base: Option<&Val>, theirs: &Val, their_base: Option<&Val>) -> Option<Val> {
    if mine == theirs {
        return Some(mine.clone());
    }
    if let (Val::Array(mine, a), Val::Array(theirs, b)) = (mine, theirs) {
        // Elements that differ are set again before they are read, or the reading is refused.
        if a == b && mine.len() == theirs.len() {
            let items = mine.iter().zip(theirs).map(|(x, y)| if x == y { x.clone() } else { Val::Uninit }).collect();
            return Some(Val::Array(items, *a));
        }
    }
    match (my_base, their_base) {
        (Some(a), Some(b)) if a == b => Some(a.clone()),
        (Some(a), _) if a == theirs => Some(a.clone()),
        (_, Some(b)) if b == mine => Some(b.clone()),
        _ => None,
    }
}
