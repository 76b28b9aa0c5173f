"""A compiled graph as a C program that calls its kernels one after the other, for machines without a runtime library."""

from pathlib import Path

import numpy as np

import tilewright as tw


class NetworkProgram:
    """The C text of one call of a graph of call_tir and reshapes of float32, whose input a file holds.

    function  the graph function `main` of Executable.legalized
    size      what its open extents are
    folder    for files with weights, which the text embeds
    """

    def __init__(self, function, size: int, folder: Path):
        self._size, self._folder = size, folder
        self._lines: list[str] = []  # of the function start
        self._globals: list[str] = []
        self._kernels: set[str] = set()
        self._known: dict[
            str, tuple[str, int]
        ] = {}  # variable of the graph: its array in C, number of dimensions
        self._num_constants = 0
        for block in function.body.blocks:
            for binding in block.bindings:
                self._bind(binding, function)
        self._result = self._known[function.body.body.name_hint][0]

    def text(self) -> str:
        """All of it, with the function start()."""
        declared = [
            f"int32_t __tvm_ffi_{name}(void*, const TilewrightAny*, int32_t, TilewrightAny*);"
            for name in sorted(self._kernels)
        ]
        start = [
            "static void start(void) {",
            "  const DLDataType dtype = {2, 32, 1};",
            "  DLTensor t[9];",
            "  TilewrightAny args[9], none = {0, 0, {0}};",
            *self._lines,
            f"  put({self._result}, sizeof {self._result});",
            "}",
        ]
        return "\n".join(declared + self._globals + start)

    def _bind(self, binding, function) -> None:
        call, name = binding.value, binding.var.name_hint
        if isinstance(call, tw.relax.Var):
            self._known[name] = self._known[call.name_hint]
        elif call.op.name == "relax.reshape":
            self._known[name] = self._view(name, binding.var, self._argument(call.args[0])[0])
        else:
            assert call.op.name == "relax.call_tir", call
            args = [self._argument(arg) for arg in call.args[1].elements]
            self._known[name] = self._array(name, self._extents(binding.var.type.shape))
            self._call(call.args[0].name_hint, [*args, self._known[name]])

    def _extents(self, shape) -> list[int]:
        return [value.value if isinstance(value, tw.tir.IntImm) else self._size for value in shape.values]

    def _argument(self, arg) -> tuple[str, int]:
        if isinstance(arg, tw.relax.Constant):
            value = arg.data.numpy()
            self._num_constants += 1
            return self._array(f"weights{self._num_constants}", value.shape, value)
        if arg.name_hint not in self._known:  # a parameter
            extents = self._extents(arg.type.shape)
            value = np.random.default_rng(0).random(extents, "float32")
            self._known[arg.name_hint] = self._array(arg.name_hint, extents, value)
        return self._known[arg.name_hint]

    def _array(self, name: str, extents, value=None) -> tuple[str, int]:
        content = ""
        if value is not None:
            file = self._folder / f"{name}.bin"
            value.tofile(file)
            content = f' = {{\n#embed "{file}"\n}}'
        num_bytes = 4 * int(np.prod(extents))
        self._globals.append(f"static _Alignas(64) unsigned char {name}[{num_bytes}]{content};")
        return self._shape(name, extents)

    def _view(self, name: str, var, of: str) -> tuple[str, int]:
        self._globals.append(f"#define {name} {of}")
        return self._shape(name, self._extents(var.type.shape))

    def _shape(self, name: str, extents) -> tuple[str, int]:
        self._globals.append(f"static int64_t {name}_shape[] = {{{', '.join(map(str, extents))}}};")
        return name, len(extents)

    def _call(self, kernel: str, args) -> None:
        self._kernels.add(kernel)
        for n, (name, ndim) in enumerate(args):
            self._lines.append(f"  set_tensor(&args[{n}], &t[{n}], {name}, {name}_shape, {ndim}, dtype);")
        self._lines.append(f"  if (__tvm_ffi_{kernel}(0, args, {len(args)}, &none) != 0) leave(1);")
