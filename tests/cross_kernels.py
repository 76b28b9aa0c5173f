"""Kernels of vector_kernels.py as a C program for other machines, which writes what they compute."""

from pathlib import Path

import cross_testing
import numpy as np
from vector_kernels import Kernel

import tilewright as tw


class Program:
    """C that calls kernels one after the other and writes what each computes."""

    #: elements begin where no vector does
    PAD = 8

    def __init__(self, kernels: dict[str, Kernel], folder: Path):
        self._globals: list[str] = []
        self._lines: list[str] = []
        for name, kernel in kernels.items():
            self._add(name, kernel, folder)

    def text(self) -> str:
        return "\n".join([*self._globals, "static void start(void) {", *self._lines, "}"])

    def _add(self, name: str, kernel: Kernel, folder: Path) -> None:
        self._globals.append(
            f"int32_t __tvm_ffi_{name}(void*, const TilewrightAny*, int32_t, TilewrightAny*);"
        )
        self._lines.append("  {\n    DLTensor t[3];\n    TilewrightAny args[3], none = {0, 0, {0}};")
        arrays = [*kernel.inputs, kernel.expected]
        for n, array in enumerate(arrays):
            place, is_input = f"{name}_{n}", n + 1 < len(arrays)
            array.tofile(folder / f"{place}.bin")
            content = f' = {{\n{"0," * self.PAD}\n#embed "{folder}/{place}.bin"\n}}' if is_input else ""
            extents = ", ".join(map(str, array.shape))
            self._globals += [
                f"static _Alignas(64) unsigned char {place}[{self.PAD + array.nbytes}]{content};",
                f"static int64_t {place}_shape[] = {{{extents}}};",
            ]
            code = {"i": 0, "u": 1, "f": 2}[array.dtype.kind]
            self._lines += [
                f"    const DLDataType dtype_{n} = {{{code}, {8 * array.dtype.itemsize}, 1}};",
                f"    set_tensor(&args[{n}], &t[{n}], {place} + {self.PAD}, {place}_shape, {array.ndim}, dtype_{n});",
            ]
        self._lines += [
            f"    if (__tvm_ffi_{name}(0, args, {len(arrays)}, &none) != 0) leave(1);",
            f"    put({place} + {self.PAD}, sizeof {place} - {self.PAD});\n  }}",
        ]


def outputs(
    machine, kernels: dict[str, Kernel], folder: Path, schedule: bool = True
) -> dict[str, np.ndarray]:
    """Results of the kernels on the machine."""
    cross_testing.require(machine.emulator)
    functions = {name: kernel.func.with_attr("global_symbol", name) for name, kernel in kernels.items()}
    lib = tw.build(tw.IRModule(functions), f"llvm {machine.target}", schedule=schedule)
    lib.export_library(folder / "kernels.o")
    data = cross_testing.output_of(machine, Program(kernels, folder).text(), folder / "kernels.o")
    found, at = {}, 0
    for name, kernel in kernels.items():
        count = kernel.expected.size
        found[name] = np.frombuffer(data, kernel.expected.dtype, count, at).reshape(kernel.expected.shape)
        at += kernel.expected.nbytes
    assert at == len(data)
    return found
