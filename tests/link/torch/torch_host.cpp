// A host inside PyTorch: its own frame callback, its own backend in C++, and metadata of tensors as C++ sees them.
#include <torch/csrc/autograd/python_variable.h>
#include <torch/torch.h>

#include <Python.h>

#include <slotrt.h>

#include <sstream>
#include <string>

namespace {

slotrt_runtime runtime = 0;
std::string wanted;
std::string seen;
int graphs = 0;

// A status as a Python exception.
bool done(slotrt_status status)
{
    if (status == SLOTRT_OK)
        return true;
    PyErr_Format(PyExc_RuntimeError, "%s: %s", slotrt_status_text(status), slotrt_last_error());
    return false;
}

int32_t decide(void *, PyObject *code, PyObject *)
{
    PyObject *name = PyObject_GetAttrString(code, "co_name");
    if (!name)
        return -1;
    const bool compiles = wanted == PyUnicode_AsUTF8(name);
    Py_DECREF(name);
    return compiles ? SLOTRT_COMPILE : SLOTRT_RUN;
}

// Notes the operations of the graph, and dtype and sizes of each input tensor.
PyObject *backend(void *, PyObject *graph, PyObject *inputs)
{
    std::ostringstream text;
    uint32_t count = 0;
    if (!done(slotrt_graph_node_count(graph, &count)))
        return nullptr;
    for (uint32_t i = 0; i < count; i++) {
        slotrt_node node;
        if (!done(slotrt_graph_node_at(graph, i, &node)))
            return nullptr;
        if (std::string(node.op) == "call_function")
            text << node.name << " ";
    }
    PyObject *items = PySequence_Fast(inputs, "inputs");
    if (!items)
        return nullptr;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(items, i);
        if (THPVariable_Check(item)) {
            const at::Tensor &tensor = THPVariable_Unpack(item);
            text << tensor.scalar_type() << tensor.sizes() << " ";
        }
    }
    Py_DECREF(items);
    graphs++;
    seen = text.str();
    return Py_NewRef(graph);
}

PyObject *start(PyObject *, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    if (!text)
        return nullptr;
    wanted = text;
    if (!runtime && !(done(slotrt_open(SLOTRT_API_VERSION, &runtime)) &&
                      done(slotrt_backend_register(runtime, "host", backend, nullptr))))
        return nullptr;
    if (!done(slotrt_hook_install(runtime, decide, nullptr, "host")))
        return nullptr;
    Py_RETURN_NONE;
}

PyObject *stop(PyObject *, PyObject *)
{
    if (!done(slotrt_hook_remove(runtime)))
        return nullptr;
    return Py_BuildValue("(is)", graphs, seen.c_str());
}

// PyTorch's own masks of a type are those of the drop-in.
PyObject *masks(PyObject *, PyObject *type)
{
    static PyObject *plain = PyObject_CallFunction(reinterpret_cast<PyObject *>(&PyType_Type), "s(){}", "plain");
    slotrt_slot_masks masks;
    if (!done(slotrt_get_type_slots(PY_VERSION_HEX >> 16, type, plain, &masks)))
        return nullptr;
    return Py_BuildValue("(KKKK)", static_cast<unsigned long long>(masks.sequence),
                         static_cast<unsigned long long>(masks.mapping), static_cast<unsigned long long>(masks.number),
                         static_cast<unsigned long long>(masks.type_));
}

PyObject *code_of(PyObject *, PyObject *)
{
    // The frame of the caller, through the layouts.
    PyFrameObject *frame = PyEval_GetFrame();
    void *code = nullptr;
    uint64_t inner = 0;
    uint32_t variables = 0;
    const uint32_t release = PY_VERSION_HEX >> 16;
    if (!done(slotrt_field_get(release, "PyFrameObject", "f_frame", frame, &inner)) ||
        !done(slotrt_frame_get(release, reinterpret_cast<void *>(inner), SLOTRT_FRAME_CODE, &code)) ||
        !done(slotrt_frame_variable_count(release, reinterpret_cast<void *>(inner), &variables)))
        return nullptr;
    return Py_BuildValue("(OI)", static_cast<PyObject *>(code), variables);
}

PyMethodDef METHODS[] = {{"start", start, METH_O, nullptr},
                         {"stop", stop, METH_NOARGS, nullptr},
                         {"masks", masks, METH_O, nullptr},
                         {"code_of", code_of, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "torch_host", nullptr, -1, METHODS, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_torch_host()
{
    return PyModule_Create(&MODULE);
}
