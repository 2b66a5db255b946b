//! The binary front end on small object files made here, whole, truncated and damaged.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use object::write::{Object, Relocation, StandardSection, Symbol, SymbolId, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, RelocationFlags, SymbolFlags, SymbolKind, SymbolScope, elf};
use proptest::prelude::*;
use slotgen::binary::{BinaryError, Reader};
use slotgen::facts::TypeKind;
use slotgen::preprocess::Configuration;
use slotgen::source::Tree;
use std::sync::LazyLock;

const PATCHLEVEL: &str = "#define PY_MAJOR_VERSION 3\n#define PY_MINOR_VERSION 13\n#define PY_MICRO_VERSION 5\n\
    #define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_FINAL\n#define PY_RELEASE_SERIAL 0\n";

/// A small object model: the structs have the names that the reader asks for, and few fields.
const HEADER: &str = "
typedef struct _object { long ob_refcnt; struct _typeobject *ob_type; } PyObject;
typedef PyObject *(*binaryfunc)(PyObject *, PyObject *);
typedef PyObject *(*reprfunc)(PyObject *);
typedef struct { reprfunc am_await; } PyAsyncMethods;
typedef struct { binaryfunc nb_add; binaryfunc nb_or; } PyNumberMethods;
typedef struct { binaryfunc mp_subscript; } PyMappingMethods;
typedef struct { binaryfunc sq_concat; } PySequenceMethods;
typedef struct { binaryfunc bf_getbuffer; } PyBufferProcs;
typedef struct { const char *ml_name; binaryfunc ml_meth; int ml_flags; const char *ml_doc; } PyMethodDef;
typedef struct { const char *name; reprfunc get; binaryfunc set; const char *doc; void *closure; } PyGetSetDef;
typedef struct { const char *name; int type; long offset; int flags; const char *doc; } PyMemberDef;
typedef struct _typeobject {
    PyObject ob_base; const char *tp_name; long tp_basicsize; long tp_itemsize; reprfunc tp_repr; PyNumberMethods *tp_as_number;
    unsigned long tp_flags; PyMethodDef *tp_methods; PyMemberDef *tp_members; PyGetSetDef *tp_getset; struct _typeobject *tp_base;
} PyTypeObject;
typedef struct { PyTypeObject ht_type; PyNumberMethods as_number; } PyHeapTypeObject;
struct wrapperbase { const char *name; int offset; void *function; void *wrapper; const char *doc; int flags; };
typedef struct { int slot; void *pfunc; } PyType_Slot;
typedef struct { const char *name; int basicsize; int itemsize; unsigned int flags; PyType_Slot *slots; } PyType_Spec;
typedef struct { const char *name; const char *doc; void *fields; int n_in_sequence; } PyStructSequence_Desc;
typedef struct { const char *name; const char *doc; } PyStructSequence_Field;
#define Py_nb_or 31
#define Py_tp_repr 66
#define Py_TPFLAGS_BASETYPE (1UL << 10)
#define METH_O 0x0008
";

static READER: LazyLock<Reader> = LazyLock::new(|| {
    let files = [
        ("Include/patchlevel.h", PATCHLEVEL),
        ("Include/Python.h", "#include \"object.h\"\n"),
        ("Include/object.h", HEADER),
    ];
    let tree = Tree::from_files(files.map(|(path, text)| (path.to_owned(), text.to_owned()))).unwrap();
    let configuration = Configuration::named("release", tree.release()).unwrap();
    Reader::new(&tree, &configuration).unwrap()
});

/// Builds an object file: functions, strings, and data whose words are numbers or pointers.
struct Builder {
    object: Object<'static>,
}

enum Word {
    Number(u64),
    To(SymbolId),
}

impl Builder {
    fn new() -> Builder {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        object.add_file_symbol(b"gadget.c".to_vec());
        Builder { object }
    }

    fn symbol(&mut self, name: &str, kind: SymbolKind, local: bool) -> SymbolId {
        let scope = if local { SymbolScope::Compilation } else { SymbolScope::Dynamic };
        let (name, section) = (name.as_bytes().to_vec(), SymbolSection::Undefined);
        self.object.add_symbol(Symbol {
            name,
            value: 0,
            size: 0,
            kind,
            scope,
            weak: false,
            section,
            flags: SymbolFlags::None,
        })
    }

    fn function(&mut self, name: &str) -> Word {
        let id = self.symbol(name, SymbolKind::Text, true);
        let text = self.object.section_id(StandardSection::Text);
        self.object.add_symbol_data(id, text, &[0xc3], 16);
        Word::To(id)
    }

    fn text(&mut self, text: &str) -> Word {
        let id = self.symbol(&format!("text_{text}"), SymbolKind::Data, true);
        let section = self.object.section_id(StandardSection::ReadOnlyData);
        self.object.add_symbol_data(id, section, format!("{text}\0").as_bytes(), 1);
        Word::To(id)
    }

    fn data(&mut self, name: &str, local: bool, words: &[Word]) -> SymbolId {
        let id = self.symbol(name, SymbolKind::Data, local);
        let section = self.object.section_id(StandardSection::Data);
        let bytes: Vec<u8> =
            words.iter().flat_map(|word| if let Word::Number(n) = word { *n } else { 0 }.to_le_bytes()).collect();
        let at = self.object.add_symbol_data(id, section, &bytes, 32);
        for (i, word) in words.iter().enumerate() {
            if let Word::To(symbol) = word {
                let flags = RelocationFlags::Elf { r_type: elf::R_X86_64_64 };
                let relocation = Relocation { offset: at + 8 * i as u64, symbol: *symbol, addend: 0, flags };
                self.object.add_relocation(section, relocation).unwrap();
            }
        }
        id
    }
}

fn zeros(count: usize) -> Vec<Word> {
    (0..count).map(|_| Word::Number(0)).collect()
}

/// A library with one slot definition, one static type and one spec.
fn library() -> Vec<u8> {
    let mut b = Builder::new();
    let outside = Word::To(b.symbol("PyType_Type", SymbolKind::Data, false));
    let row = [
        b.text("__or__"),
        Word::Number(0x68),
        b.function("slot_nb_or"),
        b.function("wrap_or"),
        b.text("doc"),
        Word::Number(0),
    ];
    b.data("slotdefs", true, &row.into_iter().chain(zeros(6)).collect::<Vec<_>>());
    let suite = [Word::Number(0), b.function("gadget_or.lto_priv.7")];
    let suite = Word::To(b.data("gadget_as_number", true, &suite));
    let method =
        [b.text("turn"), b.function("gadget_turn"), Word::Number(8), b.text("turn($self, by, /)\n--\n\nTurn it.")];
    let methods = Word::To(b.data("gadget_methods", true, &method.into_iter().chain(zeros(4)).collect::<Vec<_>>()));
    let (name, repr) = (b.text("gadget"), b.function("gadget_repr"));
    let head = [
        Word::Number(1),
        outside,
        name,
        Word::Number(48),
        Word::Number(0),
        repr,
        suite,
        Word::Number(1 << 10 | 1 << 40),
        methods,
    ];
    b.data("PyGadget_Type", false, &head.into_iter().chain(zeros(3)).collect::<Vec<_>>());
    let slots = [
        Word::Number(31),
        b.function("widget_or"),
        Word::Number(66),
        b.function("widget_repr"),
        Word::Number(0),
        Word::Number(0),
    ];
    let slots = Word::To(b.data("widget_slots", true, &slots));
    let spec = [b.text("shop.Widget"), Word::Number(24), Word::Number(1 << 10), slots];
    b.data("widget_spec", true, &spec);
    b.object.write().unwrap()
}

#[test]
fn tables_are_read_through_relocations() {
    let read = READER.library(&library(), None).unwrap();
    let [row] = read.slotdefs.as_slice() else { panic!("{:?}", read.slotdefs) };
    assert_eq!(
        (row.name.as_str(), row.slot.as_str(), row.function.as_deref()),
        ("__or__", "nb_or", Some("slot_nb_or"))
    );
    assert_eq!(read.types.len(), 2);
    let gadget = read.types.iter().find(|ty| ty.c_name == "PyGadget_Type").unwrap();
    assert_eq!((gadget.tp_name.as_str(), gadget.basicsize.as_str(), gadget.kind), ("gadget", "48", TypeKind::Static));
    assert_eq!(gadget.flags, ["Py_TPFLAGS_BASETYPE", "0x10000000000"]);
    let slots: Vec<_> = gadget.slots.iter().map(|(slot, held)| (slot.as_str(), held.function.as_str())).collect();
    assert_eq!(slots, [("nb_or", "gadget_or"), ("tp_repr", "gadget_repr")]);
    assert_eq!(gadget.methods[0].function, "gadget_turn");
    assert_eq!(gadget.methods[0].flags, ["METH_O"]);
    assert_eq!(gadget.methods[0].signature.as_deref(), Some("($self, by, /)"));
    let widget = read.types.iter().find(|ty| ty.kind == TypeKind::Spec).unwrap();
    assert_eq!((widget.tp_name.as_str(), widget.file.as_str()), ("shop.Widget", "gadget.c"));
    assert_eq!(widget.slots["nb_or"].function, "widget_or");
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let refused = |bytes: &[u8]| READER.library(bytes, None).map(|read| read.types.len()).unwrap_err();
    assert!(matches!(refused(b""), BinaryError::Malformed(_)));
    assert!(matches!(refused(b"#!/bin/sh\n"), BinaryError::Malformed(_)));
    assert!(matches!(refused(b"!<arch>\nnonsense"), BinaryError::Malformed(_)));
    let mut arm = library();
    arm[18] = 183;
    assert!(matches!(refused(&arm), BinaryError::Foreign { .. }));
    let windows = b"MZ\x90\0".repeat(64);
    assert!(matches!(refused(&windows), BinaryError::Foreign { .. } | BinaryError::Malformed(_)));
    let no_names = Builder::new().object.write().unwrap();
    assert!(matches!(refused(&no_names), BinaryError::Stripped));
    let mut other = Builder::new();
    other.data("table", true, &zeros(2));
    assert!(matches!(refused(&other.object.write().unwrap()), BinaryError::NoSlotdefs));
}

#[test]
fn truncated_anywhere_is_no_panic() {
    let whole = library();
    for length in 0..whole.len() {
        let _ = READER.module(&whole[..length], None);
        let _ = READER.module(&whole, Some(&whole[..length]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_anywhere_is_no_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20), shared: bool) {
        let mut bytes = library();
        if shared {
            bytes[16] = 3;
        }
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = READER.module(&bytes, None);
    }
}
