//! Slots, slot definitions, and the types that fill them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The structs whose fields are slots, in the order of `PyHeapTypeObject`, and what their offsets need.
pub const SLOT_STRUCTS: [&str; 7] = [
    "PyTypeObject",
    "PyAsyncMethods",
    "PyNumberMethods",
    "PyMappingMethods",
    "PySequenceMethods",
    "PyBufferProcs",
    "PyHeapTypeObject",
];

/// `PyStructSequence_UnnamedField`: what a field of a struct sequence is called that only has a place.
pub const UNNAMED_FIELD: &str = "unnamed field";

/// The text signature at the start of a doc string, as `inspect` finds it.
pub fn text_signature(name: &str, doc: &str) -> Option<String> {
    let name = name.rsplit('.').next().unwrap_or(name);
    let rest = doc.strip_prefix(name).filter(|rest| rest.starts_with('('))?;
    rest.find(")\n--\n\n").and_then(|end| rest.get(..=end)).map(str::to_owned)
}

/// A field of a struct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its C type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Bytes from the start of the struct, linux x86-64.
    pub offset: u32,
    /// Its size in bytes.
    pub size: u32,
}

/// The layout of a struct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Struct {
    /// `PyNumberMethods`, `_PyInterpreterFrame`, …
    pub name: String,
    /// The header that defines it.
    pub file: String,
    /// The line of its name.
    pub line: u32,
    /// Its size in bytes, linux x86-64.
    pub size: u32,
    /// Its alignment in bytes.
    pub align: u32,
    /// Its fields in order; those of unnamed members stand in their place.
    pub fields: Vec<Field>,
}

/// A row of `slotdefs[]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slotdef {
    /// The special method, such as `__or__`.
    pub name: String,
    /// The slot, such as `nb_or`.
    pub slot: String,
    /// `offsetof(PyHeapTypeObject, …)`.
    pub offset: u32,
    /// The function that calls the method, such as `slot_nb_or`.
    pub function: Option<String>,
    /// The function that calls the slot, such as `wrap_binaryfunc_l`.
    pub wrapper: Option<String>,
    /// `PyWrapperFlag_KEYWORDS` is 1.
    pub flags: u32,
    /// The method's doc string, signature included.
    pub doc: String,
}

/// How a type comes into being.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TypeKind {
    /// A `PyTypeObject` with an initialiser.
    Static,
    /// A `PyType_Spec`.
    Spec,
    /// A `PyStructSequence_Desc`.
    StructSequence,
}

/// Whether a slot is filled by the type itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlotOrigin {
    /// The initialiser or slot array names the function.
    Own,
    /// `PyType_Ready` takes it from a base.
    Inherited,
    /// `PyType_Ready` or its callers put it there: the type's own, though its initialiser does not name it.
    Ready,
}

/// What a slot of a type holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenSlot", into = "WrittenSlot")]
pub struct SlotValue {
    /// The C function.
    pub function: String,
    /// Where it comes from.
    pub origin: SlotOrigin,
    /// The base whose own slot it is.
    pub from: Option<String>,
}

/// A slot in the JSON, where a type's own slots are of one kind.
#[derive(Clone, Serialize, Deserialize)]
struct WrittenSlot {
    function: String,
    origin: WrittenOrigin,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    from: Option<String>,
    /// Not in the initialiser: `PyType_Ready` put it there.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    ready: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WrittenOrigin {
    Own,
    Inherited,
}

impl From<SlotValue> for WrittenSlot {
    fn from(SlotValue { function, origin, from }: SlotValue) -> WrittenSlot {
        let inherited = origin == SlotOrigin::Inherited;
        let written = if inherited { WrittenOrigin::Inherited } else { WrittenOrigin::Own };
        WrittenSlot { function, origin: written, from, ready: origin == SlotOrigin::Ready }
    }
}

impl From<WrittenSlot> for SlotValue {
    fn from(WrittenSlot { function, origin, from, ready }: WrittenSlot) -> SlotValue {
        let origin = match (origin, ready) {
            (WrittenOrigin::Inherited, _) => SlotOrigin::Inherited,
            (WrittenOrigin::Own, true) => SlotOrigin::Ready,
            (WrittenOrigin::Own, false) => SlotOrigin::Own,
        };
        SlotValue { function, origin, from }
    }
}

/// A row of a `PyMethodDef` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// The Python name.
    pub name: String,
    /// The C function.
    pub function: String,
    /// `METH_…` names.
    pub flags: Vec<String>,
    /// The text signature, as in the doc string's first line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signature: Option<String>,
}

/// A row of a `PyGetSetDef` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetSet {
    /// The Python name.
    pub name: String,
    /// The C getter.
    pub get: Option<String>,
    /// The C setter.
    pub set: Option<String>,
    /// The closure, as C text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub closure: Option<String>,
}

/// A row of a `PyMemberDef` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The Python name.
    pub name: String,
    /// `Py_T_…` or `T_…`, as written.
    #[serde(rename = "type")]
    pub ty: String,
    /// The C field, `struct.field`.
    pub field: String,
    /// Flags, as written.
    pub flags: Vec<String>,
}

/// A C type of Python objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Type {
    /// The C variable: the `PyTypeObject`, `PyType_Spec` or description.
    pub c_name: String,
    /// `tp_name`.
    pub tp_name: String,
    /// What kind of initialiser it has.
    pub kind: TypeKind,
    /// The file of the initialiser.
    pub file: String,
    /// The line of the variable's name.
    pub line: u32,
    /// The compiled file, where it is another than `file`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unit: Option<String>,
    /// The C variable of `tp_base`, or the spec it is made from; none if nothing names it (then it is `object`).
    pub base: Option<String>,
    /// The other bases in order, for the few types that have several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub more_bases: Vec<String>,
    /// The C variable of the metatype, where it is not `type`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metatype: Option<String>,
    /// `tp_flags`, as written.
    pub flags: Vec<String>,
    /// Whether `tp_basicsize` and `tp_itemsize` are those of the base is for the model; this is what is written.
    pub basicsize: String,
    /// `tp_itemsize`, as written.
    pub itemsize: String,
    /// Suites that the type has itself, such as `tp_as_number`; a heap type has them all.
    pub suites: Vec<String>,
    /// Filled slots by name.
    pub slots: BTreeMap<String, SlotValue>,
    /// Slots that code clears after the type was readied.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub cleared: Vec<String>,
    /// Slots that code fills, not the initialiser.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub assigned: Vec<String>,
    /// `tp_methods`.
    pub methods: Vec<Method>,
    /// `tp_getset`.
    pub getset: Vec<GetSet>,
    /// `tp_members`.
    pub members: Vec<Member>,
}

impl Type {
    /// A type of which nothing is known but its variable and kind.
    pub fn new(c_name: impl Into<String>, kind: TypeKind) -> Self {
        Self {
            c_name: c_name.into(),
            tp_name: String::new(),
            kind,
            file: String::new(),
            line: 0,
            unit: None,
            base: None,
            more_bases: Vec::new(),
            metatype: None,
            flags: Vec::new(),
            basicsize: String::new(),
            itemsize: String::new(),
            suites: Vec::new(),
            slots: BTreeMap::new(),
            cleared: Vec::new(),
            assigned: Vec::new(),
            methods: Vec::new(),
            getset: Vec::new(),
            members: Vec::new(),
        }
    }

    /// The compiled file that the type belongs to.
    pub fn unit(&self) -> &str {
        self.unit.as_deref().unwrap_or(&self.file)
    }
}

/// A field that holds a slot function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot<'f> {
    /// Its name, such as `nb_or`.
    pub name: &'f str,
    /// The pointer in `PyTypeObject` that leads to its struct, such as `tp_as_number`; none if it stands there itself.
    pub suite: Option<&'f str>,
    /// Bytes from the start of its struct.
    pub offset: u32,
    /// Bytes from the start of `PyHeapTypeObject`.
    pub heap_offset: u32,
    /// The typedef of its function pointer, such as `binaryfunc`.
    pub signature: &'f str,
}

/// Every slot, in the order of `PyTypeObject` and then of the suites of `PyHeapTypeObject`.
///
/// A slot is a field whose type `is_function` calls a function pointer.
pub fn slots<'f>(structs: &'f [Struct], is_function: &dyn Fn(&str) -> bool) -> Vec<Slot<'f>> {
    let find = |name: &str| structs.iter().find(|layout| layout.name == name);
    let (Some(ty), Some(heap)) = (find("PyTypeObject"), find("PyHeapTypeObject")) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |layout: &'f Struct, suite: Option<&'f str>, start: u32| {
        for field in layout.fields.iter().filter(|field| is_function(&field.ty)) {
            let (name, signature) = (field.name.as_str(), field.ty.as_str());
            let (offset, heap_offset) = (field.offset, start + field.offset);
            found.push(Slot { name, suite, offset, heap_offset, signature });
        }
    };
    add(ty, None, 0);
    for field in &heap.fields {
        let pointer = ty.fields.iter().find(|candidate| candidate.ty.strip_suffix(" *") == Some(&field.ty));
        if let (Some(pointer), Some(layout)) = (pointer, find(&field.ty).filter(|layout| layout.name != "PyTypeObject"))
        {
            add(layout, Some(&pointer.name), field.offset);
        }
    }
    found
}
