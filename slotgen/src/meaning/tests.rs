//! What leaves no trace in the normal form, and what does.

use super::Meanings;
use crate::translate::{Elsewhere, of_text};

const HEADERS: &str = "
typedef struct { long ob_refcnt; } PyObject;
PyObject *PyObject_GetIter(PyObject *o);
PyObject *PyNumber_Index(PyObject *o);
int PyObject_IsTrue(PyObject *o);
int PyCallable_Check(PyObject *o);
extern PyObject *PyExc_TypeError;
extern PyObject *PyExc_ValueError;
PyObject *PyErr_Format(PyObject *type, const char *format, ...);
void PyErr_SetString(PyObject *type, const char *text);
";

fn meanings(c: &str) -> Meanings {
    Meanings::of(&of_text(HEADERS, c, Elsewhere::default()).unwrap(), "3.0.0")
}

/// Whether a function means the same in two texts, each beside the other.
fn same(one: &str, other: &str) -> bool {
    let (one, other) = (meanings(one), meanings(other));
    let key = ("Objects/small.c".to_owned(), "f".to_owned());
    let pair = one.pair(&other, &key);
    assert!(pair.is_some(), "{:?} {:?}", one.left, other.left);
    pair.is_some_and(|(left, right)| left == right)
}

const PLAIN: &str = "PyObject *f(PyObject *v) {
    PyObject *it = PyObject_GetIter(v);
    if (it == NULL) { return NULL; }
    return PyNumber_Index(it);
}";

#[test]
fn names_temporaries_and_references_leave_no_trace() {
    assert!(same(
        PLAIN,
        "PyObject *f(PyObject *object) {
            PyObject *found, *result;
            found = PyObject_GetIter(object);
            if (!found) { return NULL; }
            Py_INCREF(object);
            result = PyNumber_Index(found);
            Py_DECREF(found);
            Py_DECREF(object);
            return result;
        }"
    ));
}

#[test]
fn helpers_that_one_has_inlined_leave_no_trace() {
    assert!(same(
        PLAIN,
        "static PyObject *helper(PyObject *x) {
            PyObject *it = PyObject_GetIter(x);
            if (it == NULL) { return NULL; }
            return PyNumber_Index(it);
        }
        PyObject *f(PyObject *v) { return helper(v); }"
    ));
}

#[test]
fn a_helper_leaves_no_trace_where_the_other_does_itself_what_it_does() {
    let helper = |body: &str| {
        format!(
            "static PyObject *helper(PyObject *x) {{
                if (PyCallable_Check(x)) {{ return PyNumber_Index(x); }}
                return PyObject_GetIter(x);
            }}
            PyObject *f(PyObject *v) {{ {body} }}"
        )
    };
    let (alone, inside) = (
        helper("return helper(v);"),
        helper("if (PyCallable_Check(v)) { return PyNumber_Index(v); } return PyObject_GetIter(v);"),
    );
    assert!(same(&alone, &inside));
    assert!(!same(&alone, &helper("return PyObject_GetIter(v);")));
}

#[test]
fn a_function_and_the_one_that_works_under_its_lock_are_one() {
    assert!(same(
        PLAIN,
        "static PyObject *f_lock_held(PyObject *v) {
            PyObject *it = PyObject_GetIter(v);
            if (it == NULL) { return NULL; }
            return PyNumber_Index(it);
        }
        PyObject *f(PyObject *v) { return f_lock_held(v); }"
    ));
}

#[test]
fn a_negated_test_with_its_ways_turned_is_the_same_test() {
    assert!(same(
        "PyObject *f(PyObject *v) { if (!PyCallable_Check(v)) { return PyNumber_Index(v); } return PyObject_GetIter(v); }",
        "PyObject *f(PyObject *v) { if (PyCallable_Check(v)) { return PyObject_GetIter(v); } else { return PyNumber_Index(v); } }"
    ));
}

#[test]
fn what_is_done_otherwise_does() {
    let changes = [
        // A call more.
        "PyObject *f(PyObject *v) {
            if (PyObject_IsTrue(v) < 0) { return NULL; }
            PyObject *it = PyObject_GetIter(v);
            if (it == NULL) { return NULL; }
            return PyNumber_Index(it);
        }",
        // Another order.
        "PyObject *f(PyObject *v) {
            PyObject *it = PyNumber_Index(v);
            if (it == NULL) { return NULL; }
            return PyObject_GetIter(it);
        }",
        // Another argument.
        "PyObject *f(PyObject *v) {
            PyObject *it = PyObject_GetIter(v);
            if (it == NULL) { return NULL; }
            return PyNumber_Index(v);
        }",
        // A check more.
        "PyObject *f(PyObject *v) {
            if (!PyCallable_Check(v)) { PyErr_SetString(PyExc_TypeError, \"no\"); return NULL; }
            PyObject *it = PyObject_GetIter(v);
            if (it == NULL) { return NULL; }
            return PyNumber_Index(it);
        }",
    ];
    for change in changes {
        assert!(!same(PLAIN, change), "{change}");
    }
}

#[test]
fn messages_and_exceptions_count() {
    let raising = |exception: &str, text: &str| {
        format!("PyObject *f(PyObject *v) {{ PyErr_SetString({exception}, \"{text}\"); return NULL; }}")
    };
    let plain = raising("PyExc_TypeError", "no");
    assert!(same(&plain, &plain));
    assert!(!same(&plain, &raising("PyExc_TypeError", "never")));
    assert!(!same(&plain, &raising("PyExc_ValueError", "no")));
}

#[test]
fn a_function_that_only_raises_raises() {
    let raising = "PyObject *f(PyObject *v) { PyErr_SetString(PyExc_TypeError, \"no\"); return NULL; }";
    let found = meanings(raising);
    let key = ("Objects/small.c".to_owned(), "f".to_owned());
    let (steps, _) = found.pair(&found, &key).unwrap();
    let raises =
        |step: &super::Step| matches!(step, super::Step::Raise { exception, .. } if exception == "PyExc_TypeError");
    assert!(steps.steps.iter().any(raises), "{steps:?}");
}

#[test]
fn a_whole_digest_counts_what_is_called() {
    let of = |call: &str| {
        meanings(&format!(
            "static PyObject *helper(PyObject *x) {{ return {call}(x); }} PyObject *f(PyObject *v) {{ return helper(v); }}"
        ))
    };
    let (one, other) = (of("PyObject_GetIter"), of("PyNumber_Index"));
    assert_eq!(one.digest("f"), other.digest("f"));
    assert_ne!(one.whole_digest("f"), other.whole_digest("f"));
    assert_eq!(one.digest("nowhere"), None);
}
