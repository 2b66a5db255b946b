//! Small C functions and the Rust that they become.

use super::Elsewhere;
use crate::translate::driver::of_text;
use crate::translate::render::rendered;

/// What the headers say in these tests.
const HEADERS: &str = "
typedef struct { long ob_refcnt; } PyObject;
typedef struct { PyObject ob_base; PyObject *value; double weight; } boxobject;
typedef struct _PyArg_Parser { const char *format; const char * const *keywords; const char *fname; } _PyArg_Parser;
typedef PyObject *(*binaryfunc)(PyObject *, PyObject *);
typedef PyObject *(*PyCFunctionFast)(PyObject *, PyObject *const *, Py_ssize_t);
typedef void (*funcptr)(void);
typedef struct { PyCFunctionFast ml_meth; } PyMethodDef;
typedef struct { PyObject ob_base; PyMethodDef *method; } methodobject;
PyObject *PyFloat_FromDouble(double x);
PyObject *PyObject_GetIter(PyObject *o);
PyObject *Py_BuildValue(const char *format, ...);
PyObject *_PyEval_GetBuiltin(PyObject *name);
PyObject *PyUnicode_Decode(const char *s, Py_ssize_t size, const char *encoding);
PyObject *PyUnicode_FromString(const char *s);
PyObject *const *_PyArg_UnpackKeywords(PyObject *const *args, Py_ssize_t nargs, PyObject *kwargs, PyObject *kwnames,
                                       struct _PyArg_Parser *parser, int minpos, int maxpos, int minkw, PyObject **buf);
int lookup(PyObject *name);
typedef struct { int first; } pair;
int fill(pair *p, PyObject *o);
PyObject *_PyType_Lookup(PyObject *type, PyObject *name);
PyObject *_PyType_LookupRef(PyObject *type, PyObject *name);
PyObject *PyUnicode_Concat(PyObject *a, PyObject *b);
";

/// The Rust of all functions of a text, or why they are left out.
fn rust(c: &str) -> String {
    let translation = match of_text(HEADERS, c, Elsewhere::default()) {
        Ok(translation) => translation,
        Err(error) => return error,
    };
    let mut out = match rendered(&translation) {
        Ok((rendered, _)) => {
            let functions: Vec<_> = rendered.units.iter().flat_map(|unit| &unit.functions).collect();
            let bodies = functions.iter().map(|one| one.text.as_str());
            let rows = functions.iter().map(|one| one.row.as_str());
            let arms = functions.iter().filter_map(|one| one.arm.as_deref());
            bodies.chain(["// Rows:\n"]).chain(rows).chain(["\n// Arms:\n"]).chain(arms).collect()
        }
        Err(error) => error,
    };
    for left in &translation.left {
        out.push_str(&format!("// {} is not translated: {}\n", left.name, left.construct));
    }
    out
}

fn check(name: &str, c: &str) {
    insta::with_settings!({ description => c.trim(), omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, rust(c));
    });
}

#[test]
fn a_comparison_of_numbers_is_a_match_over_the_operator() {
    check("richcompare", "static PyObject *compare(double a, double b, int op) { Py_RETURN_RICHCOMPARE(a, b, op); }");
}

#[test]
fn doubles_behind_pointers_are_mutable_references() {
    check(
        "double_by_pointer",
        "static int weight(boxobject *v, double *out) { if (v->weight < 0.0) { *out = fabs(v->weight); return 1; } \
         *out = 0.0; return 0; }
         static PyObject *get(boxobject *v) { double a; weight(v, &a); return PyFloat_FromDouble(a); }",
    );
}

#[test]
fn arguments_by_name_are_unpacked_by_the_world() {
    check(
        "keywords",
        "static PyObject *make(PyObject *args, PyObject *const *items, Py_ssize_t nargs, PyObject *kwargs) {
            static struct { int unused; } _kwtuple = { 0 };
            static const char * const _keywords[] = {\"iterable\", \"start\", NULL};
            static _PyArg_Parser _parser = { .keywords = _keywords, .fname = \"make\", };
            PyObject *argsbuf[2];
            PyObject *const *fastargs;
            fastargs = _PyArg_UnpackKeywords(items, nargs, kwargs, NULL, &_parser, 1, 2, 0, argsbuf);
            if (!fastargs) { return NULL; }
            if (fastargs[1]) { return PyObject_GetIter(fastargs[1]); }
            return PyObject_GetIter(fastargs[0]);
        }",
    );
}

#[test]
fn null_among_the_arguments_of_a_maker_hands_the_exception_on() {
    check(
        "through",
        "static PyObject *reduce(boxobject *v) \
         { return Py_BuildValue(\"N(O)\", _PyEval_GetBuiltin(&_Py_ID(iter)), v->value); }",
    );
}

#[test]
fn strings_that_may_be_null_are_options() {
    check(
        "string_or_null",
        "static PyObject *decode(const char *encoding) {
            if (encoding == NULL) { return PyUnicode_FromString(\"utf-8\"); }
            return PyUnicode_FromString(encoding);
        }
        static PyObject *plain(void) { return decode(NULL); }",
    );
}

#[test]
fn a_variable_that_a_caller_need_not_give_is_an_option() {
    check(
        "missing_variable",
        "static int find(PyObject *v, int *missing) {
            if (missing != NULL) { *missing = lookup(v); }
            return lookup(v);
        }
        static int plain(PyObject *v) { return find(v, NULL); }
        static int told(PyObject *v) { int missing = 0; if (find(v, &missing) < 0) { return -1; } return missing; }
        static int on(PyObject *v, int *missing) { return find(v, missing); }",
    );
}

#[test]
fn what_sets_no_exception_is_not_asked_for_one() {
    check(
        "silent",
        "static PyObject *find(PyObject *type, PyObject *name) {
            PyObject *found = _PyType_Lookup(type, name);
            if (found == NULL) {
                boxobject *box = (boxobject *)type;
                if (box->value == NULL) { box->value = PyUnicode_Concat(name, name); }
                return box->value;
            }
            return PyObject_GetIter(found);
        }",
    );
}

#[test]
fn a_struct_is_made_where_it_is_used() {
    check(
        "struct_where_used",
        "static int pick(PyObject *v, int deep) {
            pair p;
            if (!deep) { return lookup(v); }
            if (fill(&p, v) < 0) { return -1; }
            return p.first;
        }",
    );
}

#[test]
fn a_cast_by_a_function_type_is_no_call() {
    check(
        "function_cast",
        "static funcptr enter(PyObject *func) { return (funcptr)((methodobject *)func)->method->ml_meth; }
         static PyObject *call(PyObject *func, PyObject *const *args, Py_ssize_t nargs) {
            PyCFunctionFast meth = (PyCFunctionFast)enter(func);
            if (meth == NULL) { return NULL; }
            return meth(func, args, nargs);
         }",
    );
}

#[test]
fn zero_stands_for_failure_where_minus_one_does_not() {
    check(
        "zero_fails",
        "static int is_fine(PyObject *name) {
            int found = lookup(name);
            if (found < 0) { return 0; }
            return 1;
        }",
    );
}

#[test]
fn an_unknown_construct_leaves_the_function_out_and_its_callers_ask_the_world() {
    check(
        "unknown_construct",
        "static PyObject *odd(PyObject *v) { static int count; count = count + 1; return v; }
         static PyObject *caller(PyObject *v) { return odd(v); }",
    );
}

#[test]
fn references_to_the_evaluation_stack_are_references_to_objects() {
    let calls = rust(
        "static int find(PyObject *self, PyObject *name, _PyStackRef *out) {
            _PyType_LookupStackRefAndVersion(self, name, out);
            if (PyStackRef_IsNull(*out)) { return -1; }
            return PyStackRef_AsPyObjectBorrow(*out) == name;
        }
        static PyObject *add(PyObject *self, PyObject *name) {
            PyThreadState *tstate = _PyThreadState_GET();
            _PyCStackRef cref;
            _PyThreadState_PushCStackRef(tstate, &cref);
            PyObject *res = NULL;
            int found = find(self, name, &cref.ref);
            if (found >= 0) {
                PyObject *func = PyStackRef_AsPyObjectBorrow(cref.ref);
                res = PyUnicode_Concat(func, self);
            }
            _PyThreadState_PopCStackRef(tstate, &cref);
            return res;
        }",
    );
    assert!(calls.contains("c._PyType_LookupRef("), "{calls}");
    assert!(calls.contains("pub fn add<C: CApi>"), "{calls}");
    assert!(!calls.contains("StackRef") && !calls.contains("is not translated"), "{calls}");
}

#[test]
fn a_function_that_only_casts_is_a_cast() {
    let cast = rust(
        "static inline boxobject *box_CAST(PyObject *self) { static int asserted; asserted = 1; return (boxobject *)self; }
         static PyObject *value(PyObject *self) { boxobject *it = box_CAST(self); return it->value; }",
    );
    assert!(cast.contains("pub fn value<C: CApi>") && !cast.contains("c.box_CAST"), "{cast}");
}
