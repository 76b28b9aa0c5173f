"""relay.build: relax.build, whose result can be unpacked as graph, lib and params."""

import json

from tilewright import ir, runtime
from tilewright.build import build_graph
from tilewright.errors import UserError
from tilewright.ir._nodes import classes
from tilewright.target import Target

from ..target import target_or_current
from .executors import machine_for
from .expressions import as_module

_Constant, _Tuple = classes["relax.Constant"], classes["relax.Tuple"]


class BuiltGraph:
    """A compiled graph: `graph, lib, params = built`, or built["default"](device) for a GraphModule.

    graph is JSON text: inputs and constants, then the calls of kernels in order, each with the numbers of its inputs; params has the
    constants; lib has the kernels.
    """

    def __init__(self, executable, mod_name: str, target):
        self.executable, self.libmod_name, self.target = executable, mod_name, target
        self._graph = self._constants = None

    def _read(self) -> None:
        self._graph, self._constants = _graph_of(self.executable.legalized)

    @property
    def graph_json(self) -> str:
        """The graph as JSON text."""
        if self._graph is None:
            self._read()
        return self._graph

    @property
    def params(self) -> dict:
        """{name: tensor} of the constants."""
        if self._constants is None:
            self._read()
        return self._constants

    @property
    def lib(self):
        """The module of kernels."""
        return self.executable.kernels

    module = property(lambda self: self)
    ir_mod = property(lambda self: self.executable.legalized)

    def get_graph_json(self) -> str:
        """The graph as JSON text."""
        return self.graph_json

    get_executor_config = get_graph_json

    def get_params(self) -> dict:
        """{name: tensor} of the constants."""
        return self.params

    def get_lib(self):
        """The module of kernels."""
        return self.lib

    def get_source(self, fmt: str = "") -> str:
        """The code of the kernels as text."""
        return self.lib.get_source(fmt)

    @property
    def imported_modules(self) -> list:
        """Modules of kernels for devices."""
        return self.lib.imports

    def export_library(self, file_name, fcompile=None, addons=None, workspace_dir=None, **named) -> None:
        """Writes the graph with its kernels to a file, by its ending; tvm.runtime.load_module reads shared libraries."""
        if fcompile is not None:
            self.lib.export_library(file_name, fcompile, addons, workspace_dir, **named)
            return
        self.executable.export_library(str(file_name))

    def __iter__(self):
        return iter((self.graph_json, self, self.params))

    def __getitem__(self, name: str):
        if name not in ("default", self.libmod_name):
            raise UserError(f'there is no graph "{name}"\nhelp: it is called "{self.libmod_name}"')
        return lambda device=None: machine_for(self.executable, device, self.params)


def _graph_of(mod) -> tuple[str, dict]:
    """(JSON, constants) of a module of calls of loop programs."""
    main = mod["main"]
    nodes, constants, numbers = [], {}, {}

    def add(name: str, op: str, inputs: list, **attrs) -> int:
        nodes.append({"op": op, "name": name, "inputs": [[n, 0, 0] for n in inputs], **attrs})
        return len(nodes) - 1

    def number_of(value) -> list:
        if isinstance(value, _Constant):
            name = f"p{len(constants)}"
            constants[name] = value.data
            return [add(name, "null", [])]
        if isinstance(value, _Tuple):
            return [n for each in value.elements for n in number_of(each)]
        return numbers.get(getattr(value, "name_hint", None), [])

    for param in main.params:
        numbers[param.name_hint] = [add(param.name_hint, "null", [])]
    for block in main.body.blocks:
        for binding in block.bindings:
            value, args = binding.value, list(getattr(binding.value, "args", ()))
            op = getattr(getattr(value, "op", None), "name", None)
            if op == "relax.call_tir":
                attrs = {"func_name": args[0].name_hint, "num_outputs": "1", "flatten_data": "0"}
                inputs = [n for arg in args[1:] for n in number_of(arg)]
                numbers[binding.var.name_hint] = [
                    add(args[0].name_hint, "tvm_op", inputs, attrs={**attrs, "num_inputs": str(len(inputs))})
                ]
            elif op is None:  # another name
                numbers[binding.var.name_hint] = number_of(value)
            else:  # what the machine does itself
                inputs = [n for arg in args for n in number_of(arg)]
                numbers[binding.var.name_hint] = [add(op, "tvm_op", inputs, attrs={"func_name": op})]
    graph = {
        "nodes": nodes,
        "arg_nodes": [n for n, node in enumerate(nodes) if node["op"] == "null"],
        "heads": [[n, 0, 0] for n in number_of(main.body.body)],
        "node_row_ptr": list(range(len(nodes) + 1)),
    }
    return json.dumps(graph, indent=2), constants


def build(
    ir_mod,
    target=None,
    target_host=None,
    executor=None,
    runtime=None,
    workspace_memory_pools=None,
    constant_memory_pools=None,
    params=None,
    mod_name: str = "default",
) -> BuiltGraph:
    """The graph of a module or function, compiled.

    target       "llvm", "c", ..., a Target, or {device: target} with one entry; default the current one, else "llvm"
    target_host  of functions that launch kernels of devices
    params       {parameter: tensor} that become constants
    mod_name     built[mod_name] gives it on a device, as built["default"] does
    """
    if isinstance(target, dict) and "kind" not in target:
        if len(target) != 1:
            raise UserError(f"relay.build: there are targets for {len(target)} devices, expected one")
        (target,) = target.values()
    target = target_or_current(target) or "llvm"
    if target_host is not None:
        target = Target(target, target_host)
    mod = as_module(ir_mod)
    names = {param.name_hint for param in mod["main"].params}
    given = {name: value for name, value in (params or {}).items() if name in names}
    return BuiltGraph(build_graph(mod, target, given), mod_name, target)


def optimize(mod, target=None, params=None):
    """(the module after the passes of compiling, params)"""
    return build(mod, target, params=params).executable.legalized, params or {}


class _Executor:
    """What create_executor gives."""

    def __init__(self, mod, device, target, params):
        self._mod, self._device, self._target, self._params = as_module(mod), device, target, params

    def evaluate(self, expr=None):
        """A function that runs "main", or `expr`, on arguments by position and by name."""
        mod = self._mod if expr is None else as_module(expr)
        built = build(mod, self._target, params=self._params)
        return runtime.VirtualMachine(built.executable, self._device)["main"]


def create_executor(kind: str = "graph", mod=None, device=None, target="llvm", params=None) -> _Executor:
    """create_executor(kind, mod).evaluate() is a function that runs the module; all kinds run the same machine."""
    return _Executor(mod if mod is not None else ir.IRModule({}), device, target, params)


NAMES = {"build": build, "optimize": optimize, "create_executor": create_executor}
