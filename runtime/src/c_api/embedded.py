"""Finds the Python half of `slotrt` in the library itself."""

import sys
from importlib.machinery import ModuleSpec


class Finder:
    """Finds and loads the modules of the package, whose texts the library holds."""

    def __init__(self, native, texts):
        self.native = native
        self.texts = texts

    def find_spec(self, name, path=None, target=None):
        if name != "slotrt._slotrt" and name not in self.texts:
            return None
        spec = ModuleSpec(name, self, origin=self.file(name), is_package=name == "slotrt")
        spec.has_location = name in self.texts
        return spec

    def file(self, name):
        return f"<libslotrt>/{name.replace('.', '/')}{'/__init__' * (name == 'slotrt')}.py"

    def create_module(self, spec):
        return self.native() if spec.name == "slotrt._slotrt" else None

    def exec_module(self, module):
        name = module.__spec__.name
        if name in self.texts:
            exec(compile(self.texts[name], self.file(name), "exec"), module.__dict__)

    def get_source(self, name):
        return self.texts.get(name)


def install(native, texts):
    """Has `import slotrt` find the package from now on; `native` makes the native module."""
    sys.meta_path.insert(0, Finder(native, texts))
