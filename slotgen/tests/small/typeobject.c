#include "Python.h"
static PyObject *object_repr(PyObject *self) { return self; }
static Py_ssize_t object_hash(PyObject *self) { return 0; }
static PyObject *object_new(PyTypeObject *t, PyObject *a, PyObject *k) { return 0; }
static PyObject *object_richcompare(PyObject *a, PyObject *b, int op) { return a; }
void PyObject_Free(void *p) { }
PyTypeObject PyBaseObject_Type = {
    {{1, &PyType_Type}, 0}, "object", sizeof(PyObject), 0, 0, object_repr, 0, (hashfunc)object_hash,
    Py_TPFLAGS_DEFAULT, object_richcompare, .tp_new = object_new, .tp_free = PyObject_Del,
};
static int inherit_slots(PyTypeObject *type, PyTypeObject *base) {
#define COPYSLOT(SLOT) if (!type->SLOT && base->SLOT) type->SLOT = base->SLOT
    COPYSLOT(tp_as_number->nb_add);
    COPYSLOT(tp_as_number->nb_or);
    COPYSLOT(tp_repr);
    COPYSLOT(tp_free);
    return 0;
}
static PyObject *lookup(PyObject *o, const char *name) { return o; }
#define SLOT1(NAME, FUNC) static PyObject *slot_##NAME(PyObject *a, PyObject *b) { return lookup(a, FUNC); }
SLOT1(nb_add, "__add__")
static PyObject *slot_nb_or(PyObject *a, PyObject *b) { /* BODY */ return lookup(a, "__or__"); }
static PyObject *wrap_binaryfunc(PyObject *self, PyObject *args, void *wrapped) { return self; }
static struct wrapperbase slotdefs[] = {
    {"__add__", offsetof(PyHeapTypeObject, as_number.nb_add), (void *)(slot_nb_add), wrap_binaryfunc, "Add.", .name_strobj = 0},
    {"__or__", offsetof(PyHeapTypeObject, as_number.nb_or), slot_nb_or, (wrapperfunc)(void(*)(void))wrap_binaryfunc, "Or.", 1},
    {NULL}
};
