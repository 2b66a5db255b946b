"""Facts that prototypes lack: the operators that reach a C function, and conditions on its arguments beyond its prototype."""

import sys

from slotrt import protocol


def in_place(text):
    scope = {}
    exec(f"def run(a, b):\n    a {text} b\n    return a", scope)
    return scope["run"]


def set_item(container, key, value):
    container[key] = value
    return 0


def delete_item(container, key):
    del container[key]
    return 0


def set_attribute(of, name, value):
    setattr(of, name, value)
    return 0


def call_starred(function, args, kwargs):
    return function(*args, **kwargs)


# C function: the operator or builtin that is compiled into it. The others are called through their own symbol.
OPERATORS = {
    "PyNumber_Add": lambda a, b: a + b, "PyNumber_Subtract": lambda a, b: a - b, "PyNumber_Multiply": lambda a, b: a * b,
    "PyNumber_MatrixMultiply": lambda a, b: a @ b, "PyNumber_TrueDivide": lambda a, b: a / b, "PyNumber_FloorDivide": lambda a, b: a // b,
    "PyNumber_Remainder": lambda a, b: a % b, "PyNumber_Divmod": divmod, "PyNumber_Lshift": lambda a, b: a << b, "PyNumber_Rshift": lambda a, b: a >> b,
    "PyNumber_And": lambda a, b: a & b, "PyNumber_Xor": lambda a, b: a ^ b, "PyNumber_Or": lambda a, b: a | b,
    "PyNumber_InPlaceAdd": in_place("+="), "PyNumber_InPlaceSubtract": in_place("-="), "PyNumber_InPlaceMultiply": in_place("*="),
    "PyNumber_InPlaceMatrixMultiply": in_place("@="), "PyNumber_InPlaceTrueDivide": in_place("/="), "PyNumber_InPlaceFloorDivide": in_place("//="),
    "PyNumber_InPlaceRemainder": in_place("%="), "PyNumber_InPlaceLshift": in_place("<<="), "PyNumber_InPlaceRshift": in_place(">>="),
    "PyNumber_InPlaceAnd": in_place("&="), "PyNumber_InPlaceXor": in_place("^="), "PyNumber_InPlaceOr": in_place("|="), "PyNumber_Power": pow,
    "PyNumber_Negative": lambda a: -a, "PyNumber_Positive": lambda a: +a, "PyNumber_Invert": lambda a: ~a, "PyNumber_Absolute": abs,
    "PyObject_GetItem": lambda a, b: a[b], "PyObject_SetItem": set_item, "PyObject_DelItem": delete_item, "PyObject_Size": len, "PyObject_Hash": hash,
    "PyObject_Repr": repr, "PyObject_ASCII": ascii, "PyObject_GetIter": iter, "PyObject_GetAttr": getattr, "PyObject_SetAttr": set_attribute,
    "PyObject_Type": type,
}
# Translations that are known to be wrong, with the reason. `prove semantics` shows their differences like any other; tests require that no others differ.
WRONG = {}
# Arguments whose reference the function takes over.
STEALS = {"PyList_SetItem": (2,), "PyTuple_SetItem": (2,), "PyBytes_ConcatAndDel": (1,), "PyUnicode_AppendAndDel": (1,), "PyModule_AddObject": (2,)}
# Functions that are not called with arbitrary arguments, with the reason.
LEFT_OUT = {
    "PyObject_GenericSetDict": "replaces the dict of a class, too, which nothing undoes",
    "PyObject_ClearWeakRefs": "is for objects that die", "PyObject_CallFinalizer": "is for objects that die",
    "PyObject_CallFinalizerFromDealloc": "is for objects that die", "PyObject_Free": "frees",
    "PyObject_ClearManagedDict": "is for objects that die", "PyObject_VisitManagedDict": "is for the collector", "PyObject_GC_Track": "is for the collector",
    "PyObject_GC_UnTrack": "is for the collector", "PyObject_GC_Del": "frees", "PyUnicode_InternImmortal": "is for ever", "PyUnicode_Resize": "takes what nobody else holds",
    "PyUnicode_InternInPlace": "takes the reference over", "PyBytes_ConcatAndDel": "takes the reference over",
    "PyList_ClearFreeList": "is for the collector", "PyModule_AddFunctions": "takes a table of C",
    "PyFunction_NewWithQualName": "takes code and globals unchecked", "PyFunction_New": "takes code and globals unchecked",
    "Py_DecRef": "counts references", "Py_IncRef": "counts references", "PyObject_Init": "is for objects that are being made", "PyObject_InitVar": "is for objects that are being made",
    "PyObject_GET_WEAKREFS_LISTPTR": "gives an address", "PyTuple_New": "gives what is not filled yet", "PyList_New": "gives what is not filled yet",
    "PyType_GenericAlloc": "gives what is not filled yet", "PyType_GenericNew": "gives what is not filled yet", "PyUnicode_New": "gives what is not filled yet",
    "PyUnicode_AsWideChar": "writes to memory", "PyUnicode_DecodeUTF32": "reads memory", "PyModule_NewObject": "takes any name unchecked",
    "PyUnicode_FromUnicode": "reads memory",
    "PyType_GetTypeDataSize": "takes classes of Python code alone, unchecked",
    "Py_ReprEnter": "leaves a mark", "Py_ReprLeave": "takes a mark away",
    "PyType_Modified": "gives nothing", "PyType_Ready": "is for types that are being made",
    "PyStructSequence_GetItem": "takes struct sequences alone, unchecked", "PyStructSequence_SetItem": "takes struct sequences alone, unchecked",
    "PyStructSequence_New": "takes types of struct sequences alone, unchecked",
}
# A debug build ends the process where arguments are not as C expects them, and release builds go on.
DEBUG = hasattr(sys, "gettotalrefcount")
if DEBUG:
    LEFT_OUT |= {
        "PySlice_AdjustIndices": "takes no step of 0, unchecked", "PyUnstable_Long_CompactValue": "takes small integers alone, unchecked",
        "PyUnstable_Object_ClearWeakRefsNoCallbacks": "is for objects that die", "PyWrapper_New": "takes objects of the descriptor's class alone, unchecked",
    }
# The first object of a function with such a name is of this type: C does not check it everywhere.
FAMILIES = {
    "PyByteArray_": bytearray, "PyBytes_": bytes, "PyUnicode_": str, "PyDict_": dict, "PySet_": (set, frozenset), "PyFrozenSet_": (set, frozenset),
    "PySlice_": slice, "PyTuple_": tuple, "PyList_": list, "PyMethod_": type({}.get), "PyFunction_": type(in_place), "PyCFunction_": type(len), "PyModule_": type(__import__("sys")),
    "PyMember_": type(type(in_place).__globals__), "PyCell_": type((lambda a: lambda: a)(1).__closure__[0]), "PyStaticMethod_": staticmethod, "PyInstanceMethod_": type(None),
    "PyVectorcall_": object, "PyWrapper_": object, "PyDescr_": type(int.__add__), "PyType_": type, "PyCode_": type(in_place.__code__), "PyGen_": type(None), "PyWeakref_": __import__("weakref").ref,
}
# Ends of the names of functions that convert any object to one of the family.
MAKERS = ("From", "New", "Check", "Concat", "Encode", "Decode")
# Integers that are tried, by C type; sizes are bounded so that nothing grows without end.
INTEGERS = {"i32": (0, 1, 2, -1, 3, 4, 5), "isize": (0, 1, 2, -1, -4, 7), "usize": (0, 1, 3), "i64": (0, 1, -1, 2**40), "u64": (0, 1, 2**40), "u32": (0, 97)}
# The operators of comparisons.
COMPARISONS = {"PyObject_RichCompare": 2, "PyObject_RichCompareBool": 2}
TEXTS = ("attribute", "data", "a", "append", "nowhere", "é")
DOUBLES = (0.0, -1.5, 1e300, float("nan"), float("inf"))
# A power, shift or repetition by more than this makes numbers and sequences that take minutes.
BOUND = 4096
GROWING = ("Power", "Lshift", "Multiply", "Repeat", "power", "pow", "lshift", "repeat", "mul", "PyLong_FromString")
# Words in the names of functions that may run an iterable to its end.
CONSUMING = ("Sequence", "Mapping", "Iter", "List", "Tuple", "Dict", "Set", "Bytes", "ByteArray", "Unicode", "Call", "call", "init", "new", "extend", "update", "contains", "concat", "views", "set_", "InPlaceAdd", "inplace", "Remainder", "Hash", "And", "Xor", "Or", "Subtract", "ass_sub")
# What a value is not tried with, by words of the function's name: what would not end, or take gigabytes, and what crashes CPython 3.13.0 itself (a power whose
# modulus alone is a Decimal; substitution of type variables by what raises, and by a list that holds itself). A super() without arguments reads the frame that calls it, which is another one
# on each side.
UNTRIED = {"count": CONSUMING, "super": ("Call", "call"), "range huge": CONSUMING, "recursive": ("GetItem", "getitem", "Subscript", "GenericAlias", "Substitute", "Call", "call"), "Decimal": ("Power", "power"), "Decimal nan": ("Power", "power"), "AttributeRaises": ("ga_",), "alias var": ("GetItem", "ga_getitem"), "digit bound": ("ByteArray", "Bytes", "bytearray", "bytes")}
# Parameters that may be NULL for some arguments alone.
NEVER_NULL = ("PyNumber_Power", "PyNumber_InPlacePower", "PyObject_Dir", "PyDict_MergeFromSeq2")

# Types that a function requires without a check: parameter and types.
ITERATORS = (type(iter([])), type(iter("")), type(iter(range(2**70))), type(x for x in ""), enumerate, zip, map, filter, reversed, type(iter(int, 1)))
DEMANDS = {
    "PyIter_Next": {0: ITERATORS}, "PyIter_Send": {0: ITERATORS}, "PyCFunction_Call": {1: tuple, 2: dict}, "PyObject_Call": {1: tuple, 2: dict}, "PyVectorcall_Call": {1: tuple, 2: dict},
    "PyWrapper_New": {0: type(int.__add__)}, "PyObject_CallObject": {1: tuple}, "PyEval_CallObjectWithKeywords": {1: tuple, 2: dict},
}
# Types whose instances a function must not get in a debug build: parameter and types.
REFUSED = {"PyObject_GenericSetAttr": {0: type}} if DEBUG else {}

# Special methods whose assignment to a class changes slots: one slot, several, two suites, and those that are treated apart.
SPECIAL = ("__add__", "__radd__", "__mul__", "__len__", "__getitem__", "__setitem__", "__delitem__", "__hash__", "__eq__", "__lt__", "__call__", "__iter__", "__next__", "__new__", "__init__", "__repr__", "__bool__", "__get__", "__set__", "__getattr__", "__getattribute__", "__setattr__", "__await__", "__contains__", "__index__", "attribute")

# Functions that C defines to be the same.
SAME = (("PySequence_Size", "PySequence_Length"), ("PyMapping_Size", "PyMapping_Length"))
# Every operation of Python, by the C functions that its instructions and builtins come to; each must be compared.
OPERATIONS = {
    "binary": ("PyNumber_Add", "PyNumber_Subtract", "PyNumber_Multiply", "PyNumber_MatrixMultiply", "PyNumber_TrueDivide", "PyNumber_FloorDivide", "PyNumber_Remainder", "PyNumber_Divmod", "PyNumber_Power", "PyNumber_Lshift", "PyNumber_Rshift", "PyNumber_And", "PyNumber_Xor", "PyNumber_Or"),
    "in place": ("PyNumber_InPlaceAdd", "PyNumber_InPlaceSubtract", "PyNumber_InPlaceMultiply", "PyNumber_InPlaceMatrixMultiply", "PyNumber_InPlaceTrueDivide", "PyNumber_InPlaceFloorDivide", "PyNumber_InPlaceRemainder", "PyNumber_InPlacePower", "PyNumber_InPlaceLshift", "PyNumber_InPlaceRshift", "PyNumber_InPlaceAnd", "PyNumber_InPlaceXor", "PyNumber_InPlaceOr"),
    "unary": ("PyNumber_Negative", "PyNumber_Positive", "PyNumber_Invert", "PyNumber_Absolute", "PyObject_Not", "PyObject_IsTrue"),
    "comparison": ("PyObject_RichCompare", "PyObject_RichCompareBool", "PySequence_Contains", "PyObject_IsInstance", "PyObject_IsSubclass"),
    "item": ("PyObject_GetItem", "PyObject_SetItem", "PyObject_DelItem", "PySequence_GetItem", "PySequence_SetItem", "PySequence_DelItem", "PySequence_GetSlice", "PyObject_Size", "PyObject_LengthHint"),
    "attribute": ("PyObject_GetAttr", "PyObject_SetAttr", "PyObject_GenericGetAttr", "PyObject_GenericSetAttr", "PyObject_HasAttr", "PyObject_Dir"),
    "iteration": ("PyObject_GetIter", "PyObject_SelfIter", "PyIter_Next", "PySequence_List", "PySequence_Tuple", "PySequence_Fast", "PySequence_Count", "PySequence_Index"),
    "conversion": ("PyNumber_Index", "PyNumber_Long", "PyNumber_Float", "PyObject_Str", "PyObject_Repr", "PyObject_ASCII", "PyObject_Bytes", "PyObject_Format", "PyObject_Hash", "PyNumber_AsSsize_t", "PyNumber_ToBase"),
    "call": ("PyObject_Call", "PyObject_CallNoArgs", "PyObject_CallOneArg", "PyObject_CallObject", "slot_tp_call", "method_vectorcall", "wrapper_call"),
    "construction": ("type_call", "slot_tp_new", "slot_tp_init", "object_new", "object_init", "type_new", "type_init"),
}
# Those that no translation comes to the end of yet: at what it stops, or why there is none.
IDLE = {
    "method_vectorcall": "is not translated",
}
# Whether nothing says where members of this release's structs lie: translations that read them stop.
if sys.version_info[:2] not in {(3, 11), (3, 13)}:  # somebody else's tree says which there are
    exist = {function.__name__ for function in protocol.functions()}
    IDLE |= {name: "is not translated" for names in OPERATIONS.values() for name in names if name not in exist}
NO_MEMBERS = "notimplemented_bool" in protocol.no_stand_in()
if NO_MEMBERS:
    IDLE["wrapper_call"] = "reads members"
    if "PyObject_Format" in protocol.no_stand_in():
        IDLE["PyObject_Format"] = "does not stand in where it raises, as it does in a small sample"
