"""C functions of the interpreter, called through their addresses."""

import ctypes

import rows
from slotrt import protocol

NULL = protocol.NULL
INCREF = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("Py_IncRef", ctypes.pythonapi))


class Native:
    """A C function of the interpreter, called through its address."""

    TYPES = {"i32": ctypes.c_int, "isize": ctypes.c_ssize_t, "usize": ctypes.c_size_t, "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "u32": ctypes.c_uint32,
             "f64": ctypes.c_double, "str": ctypes.c_char_p, "object": ctypes.c_void_p}

    def __init__(self, function, address, kinds, returns):
        self.kinds, self.returns, self.name = kinds, returns, function
        self.outs = [index for index, kind in enumerate(kinds) if kind.startswith("out ")]
        give = None if returns == "nothing" else self.TYPES[returns]
        self.steals = rows.STEALS.get(function, ())
        self.call = ctypes.PYFUNCTYPE(give, *(self.take(kind) for kind in kinds))(address)

    def take(self, kind):
        if kind.startswith("out "):
            return ctypes.c_void_p
        return ctypes.c_void_p if kind == "nothing" else self.TYPES[kind.rstrip("?")]

    def __call__(self, *args):
        given, cells = [], []
        for kind, arg in zip(self.kinds, args):
            if kind.startswith("out ") and arg is None:
                cells.append(None)  # a NULL pointer, where C may be given one
                given.append(None)
            elif kind.startswith("out "):
                cells.append(ctypes.c_void_p() if kind.startswith("out object") else self.TYPES[kind[4:].rstrip("?")](arg))
                given.append(ctypes.addressof(cells[-1]))
            elif arg is NULL:
                given.append(None)
            elif kind.startswith("object"):
                given.append(id(arg))  # an address, as ctypes.py_object asks the object for its class
            else:
                given.append(arg.encode("utf-8") if type(arg) is str and kind.startswith("str") else arg)
        for index in self.steals:
            INCREF(id(args[index]))
        result = self.call(*given)
        if self.returns == "object":
            result = loaded(result)
        elif self.returns == "str":
            result = NULL if result is None else result.decode()
        if cells:
            return (result, *(None if cell is None else (loaded(cell.value) if kind.startswith("out object") else cell.value) for kind, cell in zip((self.kinds[at] for at in self.outs), cells)))
        return result


def loaded(address):
    """The object at an address. Its reference is kept, since no prototype says whether it is new or borrowed."""
    return NULL if not address else ctypes.cast(address, ctypes.py_object).value


def kinds_of(function):
    """The kinds and structs of a prototype's parameters, and its result."""
    inner, _, returns = function.prototype.partition("(")[2].rpartition(") -> ")
    words = [word.partition(":") for word in inner.split(", ") if word]
    return [word[0] for word in words], [word[2] for word in words], returns
