//! Effects of small C texts.

use std::collections::BTreeSet;

use super::analyse::lower;
use super::leaves::Leaves;
use super::program::{Program, Unit};
use super::summary::Summary;
use crate::lower::{Declarations, declarations};

const HEAD: &str = "typedef struct _object PyObject;\ntypedef struct { PyObject ob_base; PyObject **ob_item; int allocated; } PyListObject;\n\
    typedef PyObject *(*binaryfunc)(PyObject *, PyObject *);\n";

fn summary(text: &str, name: &str) -> Summary {
    let text = format!("{HEAD}{text}");
    let mut known = Declarations::default();
    declarations(HEAD, &mut known);
    let slots: BTreeSet<String> = ["tp_hash", "nb_or", "nb_inplace_or", "tp_alloc"].map(str::to_owned).into();
    let mut program = Program::new(Leaves::load().unwrap(), slots, Default::default());
    let (own, functions) = lower(&text, "t.c", &known);
    program.declare(&own);
    program.add(Unit { path: "t.c".to_owned(), map: None }, functions);
    let solved = program.solve();
    solved[program.find("t.c", name).unwrap()].summary.clone()
}

#[test]
fn reading_oneself_is_pure() {
    let found = summary("int f(PyListObject *self) { return self->allocated + 1; }", "f");
    assert!(found.is_pure() && found.runs_no_python());
    assert_eq!(found.reads.words(), ["arg0"]);
}

#[test]
fn stores_are_seen_through_calls() {
    let text = "static void set(PyListObject *l, int n) { l->allocated = n; }\n\
        PyObject *f(PyObject *x, PyObject *self) { PyListObject *me = (PyListObject *)self; set(me, 3); return x; }";
    let found = summary(text, "f");
    assert_eq!(found.mutates.words(), ["arg1"]);
    assert_eq!(found.returns.words(), ["arg0"]);
    assert_eq!(found.verdict(), "changes arguments");
}

#[test]
fn what_a_function_makes_is_its_own() {
    let text = "PyObject *f(PyListObject *self) { PyListObject *np = PyList_New(1); np->ob_item[0] = Py_NewRef(self->ob_item[0]);\n\
        np->allocated = 1; return np; }";
    let found = summary(text, "f");
    assert!(found.is_pure(), "{found:?}");
    assert_eq!(found.returns.words(), ["fresh"]);
    assert_eq!(found.holds.words(), ["inside arg0"]);
}

#[test]
fn slots_of_elements_are_inside() {
    let text = "long f(PyListObject *self) { PyObject *o = self->ob_item[0]; return Py_TYPE(o)->tp_hash(o); }\n\
        long g(PyObject *o) { return Py_TYPE(o)->tp_hash(o); }";
    let inside = summary(text, "f");
    assert!(inside.looks_inside() && !inside.is_pure() && inside.pure_by_slots());
    assert!(!summary(text, "g").looks_inside());
}

#[test]
fn slots_that_change_their_object_are_changes() {
    let text = "PyObject *f(PyObject *v) { return Py_TYPE(v)->tp_as_number->nb_inplace_or(v, v); }\n\
        PyObject *g(PyObject *v) { return Py_TYPE(v)->tp_as_number->nb_or(v, v); }";
    assert!(summary(text, "g").mutates_nothing());
    let changing = summary(text, "f");
    assert!(!changing.mutates_nothing() && !changing.mutates.is_none());
}

#[test]
fn slots_by_offset_get_their_name_from_the_caller() {
    let text = "static PyObject *op(PyObject *v, int slot) { binaryfunc f = *(binaryfunc*)(&((char*)Py_TYPE(v)->tp_as_number)[slot]); return f(v, v); }\n\
        PyObject *f(PyObject *v) { return op(v, __builtin_offsetof(sizeof(PyNumberMethods), nb_or)); }";
    let found = summary(text, "f");
    assert_eq!(found.slots.keys().collect::<Vec<_>>(), ["nb_or"]);
    assert!(!summary(text, "op").is_known());
}

#[test]
fn what_is_not_known_is_unknown() {
    for body in ["return mystery(x);", "return x->handler(x);", "asm(\"nop\"); int (*p)(void) = q; return p();"] {
        let found = summary(&format!("PyObject *f(PyObject *x) {{ {body} }}"), "f");
        assert!(!found.is_known() && !found.is_pure(), "{body}");
    }
}

#[test]
fn globals_that_change_are_state() {
    let text = "static int count;\nint tick(void) { return ++count; }\nint look(void) { return count; }\nint none(void) { return 3; }";
    assert_eq!(summary(text, "tick").flags.words(), ["reads global", "writes global"]);
    assert_eq!(summary(text, "look").flags.words(), ["reads global"]);
    assert!(summary(text, "none").is_pure());
}

#[test]
fn variables_of_one_name_in_blocks_beside_each_other_are_apart() {
    let text = "void f(PyListObject *x) { if (x->allocated) { long z = 1; g(z); } PyListObject *z = x; z->allocated = 0; }\n\
        void g(long n) { }";
    assert_eq!(summary(text, "f").mutates.words(), ["arg0"]);
    assert!(!summary(text, "f").flags.words().contains(&"writes global"));
}

#[test]
fn removed_elements_may_die() {
    let text = "void f(PyListObject *self, PyObject *v) { Py_SETREF(self->ob_item[0], v); }\n\
        void g(PyListObject *self) { PyObject *o = self->ob_item[0]; Py_INCREF(o); Py_DECREF(o); }";
    assert!(summary(text, "f").may_release());
    assert!(!summary(text, "g").may_release() && summary(text, "g").is_pure());
}

#[test]
fn callbacks_are_followed() {
    let text = "static int each(PyObject *o, int (*visit)(PyObject *)) { return visit(o); }\n\
        static int touch(PyListObject *o) { o->allocated = 0; return 0; }\n\
        int f(PyObject *o) { return each(o, touch); }";
    assert_eq!(summary(text, "f").mutates.words(), ["arg0", "inside arg0"]);
    assert!(summary(text, "f").is_known() && !summary(text, "each").is_known());
}

#[test]
fn recursion_ends() {
    let text =
        "int even(int n) { return n == 0 ? 1 : odd(n - 1); }\nint odd(int n) { return n == 0 ? 0 : even(n - 1); }";
    assert!(summary(text, "even").is_pure());
}

#[test]
fn a_buffer_is_memory_of_the_object_it_was_got_from() {
    let text = "typedef struct { void *buf; PyObject *obj; long len; } Py_buffer;\n\
        static long fill(Py_buffer *b) { memcpy(b->buf, \"x\", 1); return b->len; }\n\
        static long look(Py_buffer *b) { return b->len; }\n\
        long f(PyObject *self, PyObject *x) { Py_buffer b; PyObject_GetBuffer(x, &b, 0); return fill(&b); }\n\
        long g(PyObject *self, PyObject *x) { Py_buffer b; PyObject_GetBuffer(x, &b, 0); return look(&b); }";
    assert!(summary(text, "f").mutates.meets(super::Origin::parameter(1)));
    assert!(summary(text, "g").mutates.is_none());
}

#[test]
fn addresses_are_state() {
    let text = "PyObject *f(PyObject *x) { return PyUnicode_FromFormat(\"<%s at %p>\", \"x\", x); }\n\
        PyObject *g(PyObject *x) { return PyUnicode_FromFormat(\"<%s>\", \"x\"); }";
    assert!(!summary(text, "f").is_pure() && summary(text, "g").is_pure());
}
