// Embeds Python, and uses every function of slotrt.h: as it should be, and as it should not.
#include <Python.h>
#include <structmember.h>

#include <slotrt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define CHECK(condition)                                                                              \
    do {                                                                                              \
        if (!(condition)) {                                                                           \
            std::fprintf(stderr, "%s:%d: %s [%s]\n", __FILE__, __LINE__, #condition, slotrt_last_error()); \
            std::fflush(stderr);                                                                      \
            std::_Exit(1);                                                                            \
        }                                                                                             \
    } while (0)

#define EXPECT(wanted, call) CHECK((call) == (wanted))

namespace {

PyObject *run(const char *text, const char *name)
{
    PyObject *module = PyImport_AddModule("__main__"), *globals = PyModule_GetDict(module);
    PyObject *done = PyRun_String(text, Py_file_input, globals, globals);
    if (!done)
        PyErr_Print();
    CHECK(done);
    Py_DECREF(done);
    return name ? PyDict_GetItemString(globals, name) : nullptr;
}

long number(const char *text)
{
    PyObject *found = run((std::string("_ = ") + text).c_str(), "_");
    return PyLong_AsLong(found);
}

std::string word(const char *text)
{
    return PyUnicode_AsUTF8(run((std::string("_ = str(") + text + ")").c_str(), "_"));
}

// Decides by the name of the code object.
struct Decider {
    int asked = 0;
};

int32_t decide(void *data, PyObject *code, PyObject *function)
{
    static_cast<Decider *>(data)->asked++;
    CHECK(PyCode_Check(code) && PyFunction_Check(function));
    PyObject *name = PyObject_GetAttrString(code, "co_name");
    std::string text = PyUnicode_AsUTF8(name);
    Py_DECREF(name);
    if (text == "hot" || text == "outer")
        return SLOTRT_COMPILE;
    if (text == "cold")
        return SLOTRT_SKIP;
    if (text == "raises") {
        PyErr_SetString(PyExc_ValueError, "the host raises");
        return SLOTRT_COMPILE;
    }
    if (text == "throws")
        throw std::runtime_error("the host throws");
    if (text == "nonsense")
        return 42;
    return SLOTRT_RUN;
}

struct Seen {
    int graphs = 0, nodes = 0;
    std::string operations;
};

PyObject *backend(void *data, PyObject *graph, PyObject *inputs)
{
    auto *seen = static_cast<Seen *>(data);
    uint32_t count = 0;
    EXPECT(SLOTRT_OK, slotrt_graph_node_count(graph, &count));
    CHECK(PyList_Check(inputs) || PyTuple_Check(inputs));
    seen->graphs++;
    seen->nodes += static_cast<int>(count);
    for (uint32_t i = 0; i < count; i++) {
        slotrt_node node;
        EXPECT(SLOTRT_OK, slotrt_graph_node_at(graph, i, &node));
        CHECK(node.name && node.target && PyTuple_Check(node.args) && PyDict_Check(node.kwargs));
        if (std::strcmp(node.op, "call_function") == 0)
            seen->operations += std::string(node.name) + ":" + node.value + ":" + node.domain + " ";
    }
    slotrt_node node;
    EXPECT(SLOTRT_OUT_OF_RANGE, slotrt_graph_node_at(graph, count, &node));
    return Py_NewRef(graph);
}

PyObject *failing(void *, PyObject *, PyObject *)
{
    throw std::logic_error("no such backend");
}

PyObject *raising(void *, PyObject *, PyObject *)
{
    PyErr_SetString(PyExc_KeyError, "the backend raises");
    return nullptr;
}

PyObject *uncallable(void *, PyObject *, PyObject *)
{
    return PyLong_FromLong(7);
}

// A third array library: `Vector`, a C type of whole numbers with an operator, and a function.
struct Vector {
    PyObject_HEAD
    Py_ssize_t n;
    long items[4];
};

PyTypeObject *vector_type = nullptr;

PyObject *vector_made(Py_ssize_t n)
{
    auto *made = reinterpret_cast<Vector *>(vector_type->tp_alloc(vector_type, 0));
    if (made)
        made->n = n;
    return reinterpret_cast<PyObject *>(made);
}

Vector *vector_of(PyObject *object)
{
    return Py_TYPE(object) == vector_type ? reinterpret_cast<Vector *>(object) : nullptr;
}

PyObject *vector_new(PyTypeObject *, PyObject *args, PyObject *)
{
    const Py_ssize_t n = PyTuple_GET_SIZE(args);
    if (n > 4)
        return PyErr_Format(PyExc_ValueError, "a Vector has 4 items at most");
    PyObject *made = vector_made(n);
    for (Py_ssize_t i = 0; made && i < n; i++)
        vector_of(made)->items[i] = PyLong_AsLong(PyTuple_GET_ITEM(args, i));
    return made;
}

PyObject *vector_add(PyObject *left, PyObject *right)
{
    Vector *a = vector_of(left), *b = vector_of(right);
    if (!a || !b || a->n != b->n)
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *made = vector_made(a->n);
    for (Py_ssize_t i = 0; made && i < a->n; i++)
        vector_of(made)->items[i] = a->items[i] + b->items[i];
    return made;
}

PyObject *vector_item(PyObject *self, Py_ssize_t i)
{
    Vector *vector = vector_of(self);
    if (i < 0 || i >= vector->n)
        return PyErr_Format(PyExc_IndexError, "item %zd of %zd", i, vector->n);
    return PyLong_FromLong(vector->items[i]);
}

PyObject *vector_repr(PyObject *self)
{
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; i < vector_of(self)->n; i++) {
        PyObject *item = PyLong_FromLong(vector_of(self)->items[i]);
        PyList_Append(list, item);
        Py_DECREF(item);
    }
    PyObject *text = PyUnicode_FromFormat("Vector(%R)", list);
    Py_DECREF(list);
    return text;
}

PyObject *vector_scale(PyObject *, PyObject *args)
{
    PyObject *vector;
    long factor;
    if (!PyArg_ParseTuple(args, "O!l", vector_type, &vector, &factor))
        return nullptr;
    PyObject *made = vector_made(vector_of(vector)->n);
    for (Py_ssize_t i = 0; made && i < vector_of(vector)->n; i++)
        vector_of(made)->items[i] = vector_of(vector)->items[i] * factor;
    return made;
}

PyMemberDef VECTOR_MEMBERS[] = {{"n", T_PYSSIZET, offsetof(Vector, n), READONLY, nullptr}, {}};
PyType_Slot VECTOR_SLOTS[] = {{Py_tp_new, reinterpret_cast<void *>(vector_new)},
                              {Py_nb_add, reinterpret_cast<void *>(vector_add)},
                              {Py_sq_item, reinterpret_cast<void *>(vector_item)},
                              {Py_tp_repr, reinterpret_cast<void *>(vector_repr)},
                              {Py_tp_members, VECTOR_MEMBERS},
                              {0, nullptr}};
PyType_Spec VECTOR_SPEC = {"vectors.Vector", sizeof(Vector), 0, Py_TPFLAGS_DEFAULT, VECTOR_SLOTS};
PyMethodDef VECTOR_SCALE = {"scale", vector_scale, METH_VARARGS, nullptr};

struct Vectors {
    PyObject *vector, *add, *scale;
    int calls = 0;
};

int32_t claims(void *data, PyObject *type)
{
    return type == static_cast<Vectors *>(data)->vector;
}

int32_t claims_callable(void *data, PyObject *callable)
{
    return callable == static_cast<Vectors *>(data)->scale;
}

Py_ssize_t length(PyObject *vector)
{
    return vector_of(vector)->n;
}

int32_t operation(void *data, const slotrt_operation *operation, slotrt_answer *answer)
{
    auto *vectors = static_cast<Vectors *>(data);
    vectors->calls++;
    const bool adds = operation->kind == SLOTRT_SLOT && std::strcmp(operation->name, "nb_add") == 0;
    const bool scales = operation->kind == SLOTRT_FUNCTION && operation->callable == vectors->scale;
    if (adds && operation->count == 2) {
        if (operation->in_graph[0] != 1 || operation->in_graph[1] != 1) {
            answer->kind = SLOTRT_NOT_IMPLEMENTED;
            return 0;
        }
        answer->kind = SLOTRT_NODE;
        answer->target = Py_NewRef(vectors->add);
        answer->value = Py_NewRef(operation->args[0]);
        return 0;
    }
    if (scales && operation->count == 2 && operation->in_graph[0] == 1) {
        answer->kind = SLOTRT_NODE;
        answer->target = Py_NewRef(vectors->scale);
        answer->value = Py_NewRef(operation->args[0]);
        return 0;
    }
    if (operation->kind == SLOTRT_ATTRIBUTE && std::strcmp(operation->name, "n") == 0) {
        answer->kind = SLOTRT_CONSTANT;
        answer->value = PyLong_FromSsize_t(length(operation->args[0]));
        return 0;
    }
    answer->reason = "vectors know nothing of this";
    return 0;
}

int32_t holds(void *, PyObject *example, PyObject *object)
{
    return length(example) == length(object);
}

PyObject *describe(void *, PyObject *example)
{
    return PyUnicode_FromFormat("vector[%zd]", length(example));
}

void log_record(void *data, const char *json)
{
    static_cast<std::string *>(data)->append(json);
}

const char *PROGRAM = R"py(
import sys
told = []
sys.unraisablehook = lambda event: told.append(f"{type(event.exc_value).__name__}: {event.exc_value}")

def hot(a, b, *rest, k=3, **more):
    total = a
    for i in range(3):
        total = total + b * i
    return total, rest, k, more

def cold(a): return a + 1
def other(a): return a + 2
def raises(a): return a + 3
def throws(a): return a + 4
def nonsense(a): return a + 5
def inner(a):
    return [a, a]
def outer(a):
    print("native", end="", file=sys.stderr)
    return inner(a)
def generator(n):
    yield from range(n)

def use(x, y):
    z = x + y
    return scale(z, x.n) + z
def unknown(x):
    return x[0]
)py";

void before_python()
{
    slotrt_runtime runtime = 0;
    uint32_t count;
    EXPECT(SLOTRT_NO_INTERPRETER, slotrt_open(SLOTRT_API_VERSION, &runtime));
    CHECK(std::strlen(slotrt_last_error()) > 0);
    EXPECT(SLOTRT_NO_INTERPRETER, slotrt_close(1));
    EXPECT(SLOTRT_NO_INTERPRETER, slotrt_graph_node_count(nullptr, &count));
}

void wrong_ways_to_open()
{
    slotrt_runtime runtime = 0;
    EXPECT(SLOTRT_WRONG_VERSION, slotrt_open(SLOTRT_API_VERSION + 0x10000, &runtime));
    EXPECT(SLOTRT_WRONG_VERSION, slotrt_open(SLOTRT_API_VERSION + 1, &runtime));
    EXPECT(SLOTRT_WRONG_VERSION, slotrt_open(0, &runtime));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_open(SLOTRT_API_VERSION, nullptr));
    CHECK(runtime == 0 && slotrt_api_version() == SLOTRT_API_VERSION);
}

void hook(slotrt_runtime runtime)
{
    Decider decider;
    Seen seen;
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_hook_install(runtime, nullptr, nullptr, nullptr));
    EXPECT(SLOTRT_NOT_FOUND, slotrt_hook_install(runtime, decide, &decider, "no such backend"));
    EXPECT(SLOTRT_NOT_FOUND, slotrt_hook_remove(runtime));
    EXPECT(SLOTRT_OK, slotrt_hook_install(runtime, decide, &decider, nullptr));
    EXPECT(SLOTRT_OCCUPIED, slotrt_hook_install(runtime, decide, &decider, nullptr));
    slotrt_runtime another = 0;
    EXPECT(SLOTRT_OK, slotrt_open(SLOTRT_API_VERSION, &another));
    EXPECT(SLOTRT_OCCUPIED, slotrt_hook_install(another, decide, &decider, nullptr));
    EXPECT(SLOTRT_OCCUPIED, slotrt_log(runtime, log_record, nullptr));
    EXPECT(SLOTRT_OK, slotrt_close(another));
    CHECK(word("hot(1, 2, 9, k=4, z=5)") == "(7, (9,), 4, {'z': 5})");
    CHECK(word("hot(1, 2, 9, k=4, z=5)") == "(7, (9,), 4, {'z': 5})");
    CHECK(word("hot(b=1.5, a=2)") == "(6.5, (), 3, {})");
    uint64_t compiled = 0, hits = 0;
    EXPECT(SLOTRT_OK, slotrt_counter(runtime, "frames_compiled", &compiled));
    EXPECT(SLOTRT_OK, slotrt_counter(runtime, "cache_hits", &hits));
    CHECK(compiled >= 2 && hits >= 1);
    EXPECT(SLOTRT_NOT_FOUND, slotrt_counter(runtime, "no such counter", &hits));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_counter(runtime, nullptr, &hits));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_counter(runtime, "graphs", nullptr));
    int asked = decider.asked;
    CHECK(number("cold(1) + cold(2)") == 5 && decider.asked == asked + 1);
    CHECK(number("other(1) + other(2)") == 7 && decider.asked == asked + 3);
    CHECK(number("sum(generator(4))") == 6);
    CHECK(number("raises(1)") == 4 && std::string(slotrt_last_error()) == "ValueError: the host raises");
    CHECK(number("throws(1)") == 5 && std::strstr(slotrt_last_error(), "runtime_error"));
    CHECK(std::uncaught_exceptions() == 0);
    CHECK(number("nonsense(1)") == 6 && std::strstr(slotrt_last_error(), "42"));
    CHECK(number("len(told)") == 3);
    CHECK(word("outer(3)") == "[3, 3]" && word("outer(3)") == "[3, 3]");
    EXPECT(SLOTRT_OK, slotrt_hook_remove(runtime));
    asked = decider.asked;
    CHECK(word("hot(1, 2)") == "(7, (), 3, {})" && decider.asked == asked);
    EXPECT(SLOTRT_NOT_FOUND, slotrt_hook_remove(runtime));
    EXPECT(SLOTRT_OK, slotrt_hook_install(runtime, decide, &decider, nullptr));
    CHECK(word("hot(1, 2)") == "(7, (), 3, {})");
    EXPECT(SLOTRT_OK, slotrt_hook_remove(runtime));
}

PyObject *call(PyObject *callable, PyObject *args)
{
    PyObject *result = PyObject_Call(callable, args, nullptr);
    if (!result)
        PyErr_Print();
    CHECK(result);
    Py_DECREF(args);
    return result;
}

void compile(slotrt_runtime runtime)
{
    PyObject *compiled = nullptr, *hot = run("pass", "hot"), *report = nullptr;
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_compile(runtime, nullptr, nullptr, 0, &compiled));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_compile(runtime, hot, nullptr, 0, nullptr));
    EXPECT(SLOTRT_NOT_FOUND, slotrt_compile(runtime, hot, "nobody", 0, &compiled));
    EXPECT(SLOTRT_PYTHON_ERROR, slotrt_compile(runtime, Py_None, nullptr, 0, &compiled));
    CHECK(std::strstr(slotrt_last_error(), "TypeError") && !PyErr_Occurred() && !compiled);
    EXPECT(SLOTRT_OK, slotrt_compile(runtime, hot, nullptr, 0, &compiled));
    PyObject *result = call(compiled, Py_BuildValue("(ii)", 1, 2));
    CHECK(PyTuple_Check(result));
    Py_DECREF(result);
    Py_DECREF(compiled);
    // An exception that the caller handles stays set.
    PyErr_SetString(PyExc_OSError, "pending");
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_compile(runtime, nullptr, nullptr, 0, &compiled));
    CHECK(PyErr_ExceptionMatches(PyExc_OSError));
    PyErr_Clear();
    PyObject *outer = run("pass", "outer"), *args = Py_BuildValue("(i)", 3);
    EXPECT(SLOTRT_BAD_ARGUMENT, slotrt_explain(runtime, outer, outer, nullptr, nullptr, &report));
    EXPECT(SLOTRT_OK, slotrt_explain(runtime, outer, args, nullptr, nullptr, &report));
    uint32_t frames = 0, guards = 0, breaks = 0;
    EXPECT(SLOTRT_OK, slotrt_report_frame_count(report, &frames));
    for (uint32_t i = 0; i < frames; i++) {
        slotrt_frame_report frame;
        EXPECT(SLOTRT_OK, slotrt_report_frame_at(report, i, &frame));
        CHECK(frame.name && frame.file && frame.line > 0);
        breaks += frame.break_kind != nullptr && frame.break_context && frame.break_explanation && frame.break_line > 0;
        for (uint32_t j = 0; j < frame.guards; j++, guards++) {
            slotrt_guard guard;
            EXPECT(SLOTRT_OK, slotrt_report_guard_at(report, i, j, &guard));
            CHECK(guard.source && guard.check && guard.reason);
        }
        slotrt_guard guard;
        EXPECT(SLOTRT_OUT_OF_RANGE, slotrt_report_guard_at(report, i, frame.guards, &guard));
    }
    CHECK(frames >= 2 && guards >= 2 && breaks == 1);
    slotrt_frame_report frame;
    uint32_t count;
    EXPECT(SLOTRT_OUT_OF_RANGE, slotrt_report_frame_at(report, frames, &frame));
    EXPECT(SLOTRT_BAD_ARGUMENT, slotrt_report_frame_count(outer, &count));
    EXPECT(SLOTRT_BAD_ARGUMENT, slotrt_graph_node_count(outer, &count));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_graph_node_count(nullptr, &count));
    Py_DECREF(args);
    Py_DECREF(report);
}

void library(slotrt_runtime runtime)
{
    static Vectors vectors;
    PyObject *main = PyImport_AddModule("__main__");
    vector_type = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&VECTOR_SPEC));
    vectors.vector = reinterpret_cast<PyObject *>(vector_type);
    vectors.scale = PyCFunction_New(&VECTOR_SCALE, nullptr);
    CHECK(vectors.vector && vectors.scale);
    PyObject_SetAttrString(main, "Vector", vectors.vector);
    PyObject_SetAttrString(main, "scale", vectors.scale);
    vectors.add = PyObject_GetAttrString(PyImport_ImportModule("operator"), "add");
    slotrt_array_library library = {};
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_array_library_register(runtime, nullptr));
    EXPECT(SLOTRT_WRONG_VERSION, slotrt_array_library_register(runtime, &library));
    library.size = sizeof library;
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_array_library_register(runtime, &library));
    library.name = "vectors";
    library.data = &vectors;
    library.claims = claims;
    library.claims_callable = claims_callable;
    library.call = operation;
    library.holds = holds;
    EXPECT(SLOTRT_OK, slotrt_array_library_register(runtime, &library));
    library.describe = describe;
    EXPECT(SLOTRT_OK, slotrt_array_library_register(runtime, &library));
    Seen seen;
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_backend_register(runtime, nullptr, backend, &seen));
    EXPECT(SLOTRT_NULL_ARGUMENT, slotrt_backend_register(runtime, "mine", nullptr, &seen));
    EXPECT(SLOTRT_BAD_ARGUMENT, slotrt_backend_register(runtime, "eager", backend, &seen));
    EXPECT(SLOTRT_OK, slotrt_backend_register(runtime, "mine", backend, &seen));
    PyObject *compiled = nullptr;
    EXPECT(SLOTRT_OK, slotrt_compile(runtime, run("pass", "use"), "mine", 1, &compiled));
    PyObject_SetAttrString(PyImport_AddModule("__main__"), "fast", compiled);
    CHECK(word("fast(Vector(1, 2), Vector(3, 4))") == word("use(Vector(1, 2), Vector(3, 4))"));
    CHECK(seen.graphs == 1 && vectors.calls >= 4);
    CHECK(seen.operations == "add:vector[2]:vectors scale:vector[2]:vectors add_1:vector[2]:vectors ");
    CHECK(word("fast(Vector(5, 6), Vector(7, 8))") == "Vector([36, 42])" && seen.graphs == 1);
    CHECK(word("fast(Vector(1), Vector(2))") == "Vector([6])" && seen.graphs == 2);
    Py_DECREF(compiled);
    EXPECT(SLOTRT_OK, slotrt_compile(runtime, run("pass", "unknown"), nullptr, 0, &compiled));
    PyObject_SetAttrString(PyImport_AddModule("__main__"), "slow", compiled);
    CHECK(number("slow(Vector(9))") == 9);
    Py_DECREF(compiled);
    // Backends that fail: the graph runs as it is.
    const slotrt_backend_callback backends[] = {failing, raising, uncallable};
    const char *texts[] = {"logic_error", "KeyError", "no callable"};
    for (int i = 0; i < 3; i++) {
        EXPECT(SLOTRT_OK, slotrt_backend_register(runtime, "bad", backends[i], nullptr));
        EXPECT(SLOTRT_OK, slotrt_compile(runtime, run("pass", "use"), "bad", 0, &compiled));
        PyObject_SetAttrString(PyImport_AddModule("__main__"), "bad", compiled);
        CHECK(word("bad(Vector(1, 2), Vector(3, 4))") == "Vector([12, 18])");
        CHECK(std::strstr(slotrt_last_error(), texts[i]));
        Py_DECREF(compiled);
    }
}

void log(slotrt_runtime runtime)
{
    static std::string text;
    PyObject *compiled = nullptr;
    EXPECT(SLOTRT_OK, slotrt_log(runtime, log_record, &text));
    EXPECT(SLOTRT_OK, slotrt_compile(runtime, run("pass", "hot"), nullptr, 0, &compiled));
    Py_DECREF(call(compiled, Py_BuildValue("(ii)", 1, 2)));
    Py_DECREF(compiled);
    CHECK(text.find("\"name\": \"hot\"") != std::string::npos);
    EXPECT(SLOTRT_OK, slotrt_log(runtime, nullptr, nullptr));
    uint64_t compiled_frames = 1;
    EXPECT(SLOTRT_OK, slotrt_reset(runtime));
    EXPECT(SLOTRT_OK, slotrt_counter(runtime, "frames_compiled", &compiled_frames));
    CHECK(compiled_frames == 0);
}

void without_the_gil(slotrt_runtime runtime)
{
    PyThreadState *state = PyEval_SaveThread();
    slotrt_runtime other = 0;
    EXPECT(SLOTRT_NO_GIL, slotrt_open(SLOTRT_API_VERSION, &other));
    EXPECT(SLOTRT_NO_GIL, slotrt_close(runtime));
    EXPECT(SLOTRT_NO_GIL, slotrt_hook_install(runtime, decide, nullptr, nullptr));
    EXPECT(SLOTRT_NO_GIL, slotrt_reset(runtime));
    std::thread([&] { EXPECT(SLOTRT_NO_GIL, slotrt_reset(runtime)); }).join();
    std::thread([&] {
        PyGILState_STATE held = PyGILState_Ensure();
        EXPECT(SLOTRT_OK, slotrt_reset(runtime));
        PyGILState_Release(held);
        EXPECT(SLOTRT_NO_GIL, slotrt_reset(runtime));
    }).join();
    PyEval_RestoreThread(state);
}

void another_interpreter(slotrt_runtime runtime)
{
    PyThreadState *main = PyThreadState_Get(), *sub = Py_NewInterpreter();
    CHECK(sub);
    slotrt_runtime other = 0;
    EXPECT(SLOTRT_OTHER_INTERPRETER, slotrt_close(runtime));
    EXPECT(SLOTRT_OTHER_INTERPRETER, slotrt_reset(runtime));
    CHECK(slotrt_open(SLOTRT_API_VERSION, &other) != SLOTRT_OK && other == 0);
    CHECK(std::strlen(slotrt_last_error()) > 0);
    Py_EndInterpreter(sub);
    PyThreadState_Swap(main);
    // The GIL is not held, and the interpreter's own check is off now.
    PyThreadState *state = PyEval_SaveThread();
    EXPECT(SLOTRT_NO_GIL, slotrt_reset(runtime));
    PyEval_RestoreThread(state);
}

}  // namespace

int main()
{
    before_python();
    Py_Initialize();
    wrong_ways_to_open();
    slotrt_runtime runtime = 0, second = 0;
    EXPECT(SLOTRT_OK, slotrt_open(SLOTRT_API_VERSION, &runtime));
    EXPECT(SLOTRT_OK, slotrt_open(SLOTRT_API_VERSION, &second));
    CHECK(runtime && second && runtime != second);
    EXPECT(SLOTRT_OK, slotrt_close(second));
    EXPECT(SLOTRT_CLOSED, slotrt_close(second));
    EXPECT(SLOTRT_CLOSED, slotrt_reset(987654));
    EXPECT(SLOTRT_CLOSED, slotrt_reset(0));
    run(PROGRAM, nullptr);
    CHECK(word("__import__('slotrt').compile(cold)(4)") == "5");
    hook(runtime);
    compile(runtime);
    library(runtime);
    log(runtime);
    without_the_gil(runtime);
    another_interpreter(runtime);
    // A hook that is in when the interpreter ends goes with it.
    static Decider decider;
    EXPECT(SLOTRT_OK, slotrt_hook_install(runtime, decide, &decider, nullptr));
    CHECK(word("hot(1, 2)") == "(7, (), 3, {})");
    run("import atexit; atexit.register(lambda: hot(1, 2))", nullptr);
    CHECK(Py_FinalizeEx() == 0);
    EXPECT(SLOTRT_NO_INTERPRETER, slotrt_close(runtime));
    EXPECT(SLOTRT_NO_INTERPRETER, slotrt_open(SLOTRT_API_VERSION, &second));
    // A second life of the interpreter is refused.
    Py_Initialize();
    EXPECT(SLOTRT_CLOSED, slotrt_close(runtime));
    EXPECT(SLOTRT_NO_INTERPRETER, slotrt_open(SLOTRT_API_VERSION, &second));
    Py_FinalizeEx();
    std::puts("embedded Python: passed");
    return 0;
}
