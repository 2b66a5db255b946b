#include "Python.h"
static PyObject *a_or(PyObject *a, PyObject *b) { return a; }
static PyObject *a_eq(PyObject *a, PyObject *b, int op) { return a; }
static PyObject *a_copy(PyObject *a, PyObject *unused) { return a; }
static void PyObject_GC_Del(void *p) { }
static PyNumberMethods a_as_number = { .nb_or = a_or };
static PyMethodDef a_methods[] = {
    {"copy", (PyCFunction)a_copy, METH_NOARGS | METH_COEXIST, "copy($self, /)\n--\n\nCopy it."},
    {NULL}
};
PyTypeObject A_Type = {
    {{1, &PyType_Type}, 0}, .tp_name = "a", .tp_as_number = &a_as_number, .tp_richcompare = (richcmpfunc)&a_eq,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_methods = a_methods,
};
#define DERIVED(NAME, BASE) PyTypeObject NAME##_Type = { {{1, 0}, 0}, #NAME, .tp_base = &BASE##_Type }
DERIVED(B, A);
static PyTypeObject C_Type = { {{1, 0}, 0}, "C" };
static PyType_Slot d_slots[] = { {Py_tp_repr, a_copy}, {Py_nb_add, a_or}, {0, 0} };
static PyType_Spec d_spec = { .name = "mod.D", .flags = Py_TPFLAGS_DEFAULT, .slots = d_slots };
int init(PyObject *module, struct state *state) {
    PyTypeObject *type = &C_Type;
    type->tp_base = &B_Type;
    state->D = PyType_FromModuleAndSpec(module, &d_spec, (PyObject *)&A_Type);
    return 0;
}
