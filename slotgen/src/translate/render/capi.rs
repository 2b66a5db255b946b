//! Renders the vocabulary trait that all releases share.

use proc_macro2::TokenStream;
use quote::quote;

use crate::translate::world::{Method, Vocabulary, rust_param, rust_result};

/// Methods that the trait has anyway.
pub(crate) const OWN: [&str; 4] = ["Py_Is", "PyErr_ExceptionMatches", "_Py_ID", "_Py_STR"];

/// `capi.rs`: the trait and its value types, for the union of what the releases need.
pub fn capi(vocabulary: &Vocabulary) -> Result<String, String> {
    let methods = vocabulary.methods.iter().map(|(name, one)| method(name, one));
    let methods: String = methods.collect::<Result<_, String>>()?;
    let values = super::unparse::unparse(values())?;
    let world = super::unparse::unparse(world())?;
    let world = world.trim_end().strip_suffix('}').ok_or("the trait does not end with a brace")?;
    Ok(format!("{values}\n{}\n{world}{methods}}}\n", enums(vocabulary)))
}

/// What names globals and functions.
fn enums(vocabulary: &Vocabulary) -> String {
    let globals: Vec<&str> = vocabulary.globals.iter().map(String::as_str).collect();
    let ids: Vec<&str> = vocabulary.functions.keys().map(String::as_str).collect();
    let rows: Vec<String> = vocabulary.functions.values().map(|(file, name)| format!("({name:?}, {file:?})")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    format!(
        "crate::tables::enumerated! {{\n    /// A global object of C.\n    Global {{\n{}    }}\n}}\n\n\
        crate::tables::enumerated! {{\n    /// A C function.\n    FunctionId {{\n{}    }}\n}}\n\n\
        /// Name and file of each function; no file if it is not among those translated.\n\
        static FUNCTIONS: &[(&str, &str)] = &[\n{}];\n",
        crate::emit::filled(&globals, 8),
        crate::emit::filled(&ids, 8),
        crate::emit::filled(&rows, 4),
    )
}

/// What methods take and give.
fn values() -> TokenStream {
    quote! {
        //! The vocabulary of translated functions: one method per C function or macro that they use.
        #![allow(non_snake_case, non_camel_case_types, unused_variables, clippy::all)]

        use crate::calls;
        pub use crate::calls::{CallArgument, Gives, Value};
        pub use crate::slots::{Slot, Suite};

        /// An argument of a format string.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Argument<O> {
            /// A C string.
            Str(String),
            /// An object (`%R`, `%S`, `%U`, `%A`, `%V`, `%p`).
            Object(O),
            /// An integer.
            Int(i64),
        }

        /// What a parser of arguments is given for a unit of its format.
        #[derive(Debug)]
        pub enum Parsed<'a, O> {
            /// An object to set.
            Object(&'a mut Option<O>),
            /// An `int` to set.
            Int(&'a mut i32),
            /// A `Py_ssize_t` to set.
            Size(&'a mut isize),
            /// A `double` to set.
            Double(&'a mut f64),
            /// A value that the format asks for, such as the type of `O!`.
            Given(Argument<O>),
        }

        impl Global {
            /// The C name.
            pub const fn name(self) -> &'static str { Self::IDS[self as usize] }
        }

        impl FunctionId {
            /// The C name.
            pub const fn name(self) -> &'static str { FUNCTIONS[self as usize].0 }
            /// The C file that defines it; empty if that is not among the files translated.
            pub const fn file(self) -> &'static str { FUNCTIONS[self as usize].1 }
        }

        /// The offset of a slot within its suite, as C's `offsetof` gives it.
        pub const fn offsetof(slot: Slot) -> i32 { slot.offset() as i32 }
    }
}

/// The trait, without the methods that are named after C.
fn world() -> TokenStream {
    quote! {
        /// A world in which translated functions run.
        #[allow(missing_docs)]
        pub trait CApi: Sized {
            /// The release whose own functions shared bodies call.
            type Release: crate::release::Release;
            /// A non-null pointer: a `PyObject *` (types are objects too), or one to another struct of C that the world handed out.
            type Object: Clone + std::fmt::Debug;
            /// A C function pointer found in a slot.
            type Function: Clone + PartialEq + std::fmt::Debug;
            /// A Python exception, or the world's own reason to stop.
            type Error;

            /// Runs a C function or macro, or reads a member of a struct, by its name: the methods below that no world has a way of its own for.
            fn ask(&mut self, name: &'static str, args: &mut [CallArgument<'_, Self::Object>], gives: Gives) -> Result<Value<Self::Object>, Self::Error> { Err(self.unsupported(name)) }
            /// The reason to stop at a C function that this world does not know.
            fn unsupported(&mut self, name: &'static str) -> Self::Error;
            /// Whether an error is a Python exception; all else passes through every handler.
            fn is_exception(&self, error: &Self::Error) -> bool;

            /// Told when a translated function begins; for worlds that keep a record of the way through C.
            fn enter(&mut self, _function: FunctionId) {}

            /// A global object.
            fn global(&mut self, name: Global) -> Result<Self::Object, Self::Error> { Err(self.unsupported(name.name())) }
            /// Whether an object is a certain global.
            fn is(&mut self, object: &Self::Object, name: Global) -> Result<bool, Self::Error> {
                let global = self.global(name)?;
                self.Py_Is(object, &global)
            }
            /// A struct of C by name, zero everywhere.
            fn new_struct(&mut self, name: &'static str) -> Result<Self::Object, Self::Error> { Err(self.unsupported(name)) }
            /// An element of an array.
            fn item(&mut self, array: &[Self::Object], index: usize) -> Result<Self::Object, Self::Error> {
                match array.get(index) { Some(object) => Ok(object.clone()), None => Err(self.unsupported("element outside of an array")) }
            }
            /// Whether two pointers are one.
            fn Py_Is(&mut self, x: &Self::Object, y: &Self::Object) -> Result<bool, Self::Error> { Err(self.unsupported("Py_Is")) }
            /// An interned string.
            fn _Py_ID(&mut self, name: &'static str) -> Result<Self::Object, Self::Error> { Err(self.unsupported("_Py_ID")) }
            /// An interned string that is no identifier.
            fn _Py_STR(&mut self, name: &'static str) -> Result<Self::Object, Self::Error> { Err(self.unsupported("_Py_STR")) }
            /// The address of a variable of C that is a struct, or an array of structs.
            fn variable(&mut self, name: &'static str) -> Result<Self::Object, Self::Error> { Err(self.unsupported(name)) }
            /// A pointer some structs further in an array.
            fn step(&mut self, pointer: &Self::Object, by: isize, structure: &'static str) -> Result<Self::Object, Self::Error> { Err(self.unsupported(structure)) }
            /// What a `PyObject **` points to.
            fn read(&mut self, pointer: &Self::Object) -> Result<Option<Self::Object>, Self::Error> { Err(self.unsupported("PyObject **")) }
            /// Sets what a `PyObject **` points to.
            fn write(&mut self, pointer: &Self::Object, value: Option<&Self::Object>) -> Result<(), Self::Error> { Err(self.unsupported("PyObject **")) }
            /// What a pointer to a pointer to a struct that is no object points to.
            fn read_pointer(&mut self, pointer: &Self::Object) -> Result<Option<Self::Object>, Self::Error> { Err(self.unsupported("pointer to a pointer")) }
            /// Sets what a pointer to a pointer to a struct that is no object points to.
            fn write_pointer(&mut self, pointer: &Self::Object, value: Option<&Self::Object>) -> Result<(), Self::Error> { Err(self.unsupported("pointer to a pointer")) }
            /// The function in a slot, by the place of the slot (`void **`).
            fn read_function(&mut self, place: &Self::Object) -> Result<Option<Self::Function>, Self::Error> { Err(self.unsupported("void **")) }
            /// Fills or empties a slot, by the place of the slot (`void **`).
            fn write_function(&mut self, place: &Self::Object, function: Option<&Self::Function>) -> Result<(), Self::Error> { Err(self.unsupported("void **")) }
            /// The place of a slot of a type.
            fn slot_address(&mut self, tp: &Self::Object, slot: Slot) -> Result<Self::Object, Self::Error> { Err(self.unsupported(slot.name())) }
            /// A pointer as a number, 0 for NULL, to tell which of two lies before the other.
            fn address(&mut self, pointer: Option<&Self::Object>) -> Result<usize, Self::Error> { Err(self.unsupported("comparison of pointers")) }
            /// Room for an array of pointers that lives as long as the world, all NULL.
            fn new_array(&mut self, elements: &'static str, count: usize) -> Result<Self::Object, Self::Error> { Err(self.unsupported(elements)) }
            /// A variable that a function keeps between its calls, NULL at first: pointers, by the function's name, a point, and the variable's.
            fn static_variable(&mut self, name: &'static str, count: usize) -> Result<Self::Object, Self::Error> { Err(self.unsupported(name)) }
            /// A member of a struct that is a pointer to a function, by the name of the method that reads it.
            fn function_at(&mut self, name: &'static str, object: &Self::Object) -> Result<Option<Self::Function>, Self::Error> { Err(self.unsupported(name)) }
            /// Sets a member of a struct that is a pointer to a function, by the name of the method that reads it.
            fn set_function_at(&mut self, name: &'static str, object: &Self::Object, function: Option<&Self::Function>) -> Result<(), Self::Error> { Err(self.unsupported(name)) }
            /// A member of a struct that is a C string, by the name of the method that reads it.
            fn text_at(&mut self, name: &'static str, object: &Self::Object) -> Result<String, Self::Error> { Err(self.unsupported(name)) }
            /// What a slot of a type holds; `None` also if the suite is not there.
            fn slot(&mut self, tp: &Self::Object, slot: Slot) -> Result<Option<Self::Function>, Self::Error> { Err(self.unsupported(slot.name())) }
            /// What the slot at an offset of a suite holds.
            fn slot_at(&mut self, tp: &Self::Object, suite: Suite, offset: i32) -> Result<Option<Self::Function>, Self::Error> {
                match usize::try_from(offset).ok().and_then(|offset| Slot::from_suite_offset(suite, offset)) { Some(slot) => self.slot(tp, slot), None => Err(self.unsupported("slot_at")) }
            }
            /// Whether a type has a suite.
            fn has_suite(&mut self, tp: &Self::Object, suite: Suite) -> Result<bool, Self::Error> { Err(self.unsupported("has_suite")) }
            /// Fills or empties a slot of a type.
            fn set_slot(&mut self, tp: &Self::Object, slot: Slot, function: Option<&Self::Function>) -> Result<(), Self::Error> { Err(self.unsupported("set_slot")) }
            /// The pointer to a C function.
            fn function(&mut self, id: FunctionId) -> Result<Self::Function, Self::Error> { Err(self.unsupported(id.name())) }
            /// Whether a slot holds a certain C function.
            fn is_function(&mut self, function: Option<&Self::Function>, id: FunctionId) -> Result<bool, Self::Error> {
                match function { Some(function) => { let other = self.function(id)?; Ok(*function == other) } None => Ok(false) }
            }
            /// Whether a pending exception matches.
            fn PyErr_ExceptionMatches(&mut self, error: &Self::Error, exc: &Self::Object) -> Result<bool, Self::Error> { Err(self.unsupported("PyErr_ExceptionMatches")) }
        }
    }
}

/// One method, on one line where it fits.
fn method(name: &str, method: &Method) -> Result<String, String> {
    let params = method.params.iter().map(|(name, kind)| format!(", {name}: {}", rust_param(kind)));
    let params: String = params.collect();
    let returns = rust_result(&method.returns);
    let unsupported = format!("self.unsupported({name:?})");
    let (returns, body) = if !method.rust.is_empty() {
        syn::parse_str::<syn::Expr>(&method.rust).map_err(|error| format!("contracts.toml: `{name}`: {error}"))?;
        (format!("Result<{returns}, Self::Error>"), format!("Ok({})", method.rust))
    } else if method.returns == "error" {
        ("Self::Error".to_owned(), unsupported)
    } else {
        let body = super::defaults::body(name, method).unwrap_or_else(|| format!("Err({unsupported})"));
        (format!("Result<{returns}, Self::Error>"), body)
    };
    let head = format!("    fn {name}(&mut self{params}) -> {returns} {{");
    if head.len() + body.len() + 3 <= 120 {
        return Ok(format!("{head} {body} }}\n"));
    }
    Ok(format!("{head}\n        {body}\n    }}\n"))
}
