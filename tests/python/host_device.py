"""A device named `host` that a C++ extension registers with PyTorch, for tests of what runs elsewhere than on the CPU."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import types
import unittest

import torch
from torch.utils import cpp_extension

NAME = "host"
SOURCE = pathlib.Path(__file__).parent / "domain" / "torch" / "host_device.cpp"


def register():
    """Builds and registers it; raises `SkipTest` where there is no compiler."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        raise unittest.SkipTest("no C++ compiler was found that could build the device")
    torch.utils.rename_privateuse1_backend(NAME)
    torch._register_device_module(NAME, _module())
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=False)
    folder = tempfile.mkdtemp(prefix="slotrt-device-")
    library = os.path.join(folder, "libhost.so")
    paths = cpp_extension.library_paths()
    command = [compiler, "-std=c++20", "-O0", "-w", "-fPIC", "-shared", str(SOURCE), "-o", library]
    command += [f"-I{path}" for path in cpp_extension.include_paths()]
    command += [f"-L{path}" for path in paths] + [f"-Wl,-rpath,{path}" for path in paths]
    command += [f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}", "-lc10", "-ltorch_cpu"]
    try:
        subprocess.run(command, check=True)
        torch.ops.load_library(library)
    finally:
        shutil.rmtree(folder)


def _module():
    module = types.ModuleType(f"torch.{NAME}")
    module.device_count = lambda: 1
    module.current_device = lambda: 0
    module.is_available = module.is_initialized = lambda: True
    module._is_in_bad_fork = lambda: False
    module.manual_seed_all = lambda seed: None
    module.get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]
    return module
