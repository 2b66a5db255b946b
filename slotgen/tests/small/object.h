typedef long Py_ssize_t;
typedef struct _object PyObject;
typedef struct _typeobject PyTypeObject;
typedef PyObject *(*binaryfunc)(PyObject *, PyObject *);
typedef PyObject *(*reprfunc)(PyObject *);
typedef Py_ssize_t (*hashfunc)(PyObject *);
typedef PyObject *(*richcmpfunc)(PyObject *, PyObject *, int);
typedef void (*freefunc)(void *);
typedef PyObject *(*newfunc)(PyTypeObject *, PyObject *, PyObject *);
typedef int (*visitproc)(PyObject *, void *);
typedef PyObject *(*wrapperfunc)(PyObject *self, PyObject *args, void *wrapped);
typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
struct _object { Py_ssize_t ob_refcnt; PyTypeObject *ob_type; };
typedef struct { PyObject ob_base; Py_ssize_t ob_size; } PyVarObject;
typedef struct { void *am_await; } PyAsyncMethods;
typedef struct { binaryfunc nb_add; binaryfunc nb_or; void *nb_reserved; } PyNumberMethods;
typedef struct { void *mp_unused; } PyMappingMethods;
typedef struct { void *sq_unused; } PySequenceMethods;
typedef struct { void *bf_unused; } PyBufferProcs;
typedef struct PyMethodDef { const char *ml_name; PyCFunction ml_meth; int ml_flags; const char *ml_doc; } PyMethodDef;
typedef struct { int slot; void *pfunc; } PyType_Slot;
typedef struct { const char *name; int basicsize; int itemsize; unsigned int flags; PyType_Slot *slots; } PyType_Spec;
struct _typeobject {
    PyVarObject ob_base;
    const char *tp_name;
    Py_ssize_t tp_basicsize, tp_itemsize;
    PyAsyncMethods *tp_as_async;
    reprfunc tp_repr;
    PyNumberMethods *tp_as_number;
    hashfunc tp_hash;
    unsigned long tp_flags;
    richcmpfunc tp_richcompare;
    PyMethodDef *tp_methods;
    PyTypeObject *tp_base;
    newfunc tp_new;
    freefunc tp_free;
    unsigned char tp_watched;
};
typedef struct {
    PyTypeObject ht_type;
    PyAsyncMethods as_async;
    PyNumberMethods as_number;
} PyHeapTypeObject;
struct wrapperbase { const char *name; int offset; void *function; wrapperfunc wrapper; const char *doc; int flags; PyObject *name_strobj; };
typedef struct _frame { PyObject ob_base; int f_lineno; unsigned int a:3; unsigned int b:30; char c; PyObject *slots[2]; } PyFrameObject;
typedef struct { PyObject ob_base; } PyCodeObject;
typedef struct { PyObject ob_base; } PyFunctionObject;
typedef struct _ts { struct { unsigned int one:1; unsigned int :31; } status; union { char c; double d; } u; } PyThreadState;
typedef struct _PyInterpreterFrame { PyObject *f_executable; char owner; PyObject *localsplus[1]; } _PyInterpreterFrame;
#define Py_TPFLAGS_DEFAULT 1
#define Py_TPFLAGS_HAVE_GC 2
#define PyObject_Del PyObject_Free
