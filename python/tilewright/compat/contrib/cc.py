"""tvm.contrib.cc and clang: the compilers that are installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import tilewright as tw


def get_cc():
    """The path of a C++ compiler: of the environment variables TVM_CXX or CXX, else g++ or clang++; None if none."""
    for name in (os.environ.get("TVM_CXX"), os.environ.get("CXX"), "g++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    return None


def _run(command: list, cwd=None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise tw.UserError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr).strip()}")


def _list(value) -> list:
    return [value] if isinstance(value, (str, os.PathLike)) else list(value or [])


def _link(output, objects, flags: list, options, cc, cwd) -> None:
    compiler = cc or get_cc()
    if compiler is None:
        raise tw.UserError("there is no C++ compiler\nhelp: install g++ or clang++, or set CXX")
    inputs = [str(path) for path in _list(objects)]
    _run([compiler, *flags, "-o", str(output), *inputs, *_list(options)], cwd)


def create_shared(output, objects, options=None, cc=None, cwd=None, ccache_env=None) -> None:
    """Links objects or C++ sources into a shared library.

    options  further arguments of the compiler; default none
    cc       the compiler; default get_cc()
    """
    shared = "-dynamiclib" if sys.platform == "darwin" else "-shared"
    _link(output, objects, [shared, "-fPIC"], options, cc, cwd)


create_shared.output_format = "so"
create_shared.get_target_triple = lambda: None


def create_executable(output, objects, options=None, cc=None, cwd=None, ccache_env=None) -> None:
    """Links objects or C++ sources into a program."""
    _link(output, objects, [], options, cc, cwd)


def create_staticlib(output, inputs, ar=None) -> None:
    """Puts objects into an archive."""
    _run([ar or "ar", "rcs", str(output), *(str(path) for path in _list(inputs))])


def cross_compiler(compile_func, options=None, output_format="so", get_target_triple=None, add_files=None):
    """create_shared of another compiler: a path, or a function as create_shared."""

    def link(output, objects, more=None, **named):
        everything = [*_list(objects), *_list(add_files)]
        chosen = [*_list(options), *_list(more)]
        if callable(compile_func):
            return compile_func(output, everything, options=chosen, **named)
        return create_shared(output, everything, chosen, cc=compile_func)

    link.output_format = output_format
    link.get_target_triple = get_target_triple or (lambda: None)
    return link


def find_clang(required: bool = True) -> list:
    """[path] of clang, newest first; raises RuntimeError if there is none and it is required."""
    for name in ("clang", *(f"clang-{version}" for version in range(24, 10, -1))):
        if found := shutil.which(name):
            return [found]
    if required:
        raise RuntimeError("clang is not found")
    return []


def create_llvm(inputs, output=None, options=None, cc=None) -> str:
    """The LLVM IR, as text, of C or C++ code.

    inputs   a text of C, or paths of files
    output   where to write it too; default nowhere
    """
    from .utils import tempdir

    folder = tempdir()
    files = []
    for n, entry in enumerate(_list(inputs)):
        if "\n" in str(entry) or not Path(str(entry)).is_file():
            path = folder.path / f"input{n}.cc"
            path.write_text(str(entry))
            entry = path
        files.append(str(entry))
    result = str(output) if output else folder.relpath("output.ll")
    _run([cc or find_clang()[0], *files, "-O3", "-S", "-emit-llvm", *_list(options), "-o", result])
    return Path(result).read_text()


CC_NAMES = {
    "get_cc": get_cc,
    "create_shared": create_shared,
    "create_executable": create_executable,
    "create_staticlib": create_staticlib,
    "cross_compiler": cross_compiler,
}
CLANG_NAMES = {"find_clang": find_clang, "create_llvm": create_llvm}
