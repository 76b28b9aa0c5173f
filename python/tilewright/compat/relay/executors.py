"""tvm.contrib.graph_executor: a graph that keeps its inputs and outputs between calls."""

import numpy

import tilewright as tw
from tilewright import runtime
from tilewright.errors import UserError


class GraphModule:
    """Runs the function "main" of a graph: set_input, run, get_output.

    module  what lib["default"](device) gave, lib being what relay.build gave or a module loaded from a file
    """

    def __init__(self, module):
        if not isinstance(module, GraphModule | _Machine):
            raise UserError(
                f"GraphModule: a Python {type(module).__name__} is no graph on a device\nhelp: pass what lib[name](device) gives"
            )
        self.module = getattr(module, "module", module)

    def set_input(self, key=None, value=None, **params) -> None:
        """Keeps a copy of an input, given by its name or number; or of several by their names."""
        for name, given in (({key: value} if key is not None else {}) | params).items():
            self.module.set_input(name, given)

    def load_params(self, params_bytes) -> None:
        """Sets the inputs that save_param_dict wrote."""
        from ..param_files import NAMES

        self.set_input(**NAMES["load_param_dict"](params_bytes))

    def run(self, **input_dict) -> None:
        """Computes the outputs; inputs may be given here."""
        self.set_input(**input_dict)
        self.module.run()

    def get_output(self, index: int, out=None):
        """An output of the last run; copied to `out` if that is given."""
        found = self.module.output(index)
        if out is None:
            return found
        return found.copyto(out)

    def get_input(self, index, out=None):
        """An input, by its name or number."""
        found = self.module.input(index)
        return found if out is None else found.copyto(out)

    def get_num_outputs(self) -> int:
        """How many outputs there are."""
        return len(self.module.vm.outputs)

    def get_num_inputs(self) -> int:
        """How many inputs there are."""
        return len(self.module.vm.inputs)

    def get_input_index(self, name: str) -> int:
        """The number of an input; -1 if there is none of this name."""
        names = [info.name for info in self.module.vm.inputs]
        return names.index(name) if name in names else -1

    def get_input_info(self) -> tuple[dict, dict]:
        """({input: its shape}, {input: its dtype})"""
        inputs = self.module.vm.inputs
        return {info.name: info.shape for info in inputs}, {info.name: info.dtype for info in inputs}

    def benchmark(
        self,
        device=None,
        func_name: str = "run",
        repeat: int = 5,
        number: int = 5,
        min_repeat_ms: int = 0,
        limit_zero_time_iterations: int = 100,
        end_to_end: bool = False,
        cooldown_interval_ms: int = 0,
        repeats_to_cooldown: int = 1,
        **inputs,
    ):
        """The times of runs in seconds: mean, median, min, max, std, results."""
        self.set_input(**inputs)
        evaluator = self.module.time_evaluator(
            func_name, device, number=number, repeat=repeat, min_repeat_ms=min_repeat_ms or 0
        )
        return evaluator()

    def __getitem__(self, key: str):
        return getattr(self, key)


class _Machine:
    """What lib["default"](device) gives: a machine and the inputs that were set."""

    def __init__(self, executable, device, fixed: dict):
        self.vm = runtime.VirtualMachine(executable, device)
        self._device, self._fixed = device, fixed
        self._inputs: dict = {}
        self._outputs = None

    @property
    def _names(self) -> list:
        return [info.name for info in self.vm.inputs]

    def _name_of(self, key) -> str:
        names = self._names
        if isinstance(key, int) and 0 <= key < len(names):
            return names[key]
        if key not in names:
            raise UserError(f"GraphModule: there is no input {key}\nhelp: the inputs are {', '.join(names)}")
        return key

    def set_input(self, key, value) -> None:
        if key in self._fixed and key not in self._names:
            if not numpy.array_equal(_array(value), self._fixed[key].numpy()):
                raise UserError(
                    f"GraphModule: parameter {key} became a constant when the graph was compiled\n"
                    "help: compile it without params to give them when it runs"
                )
            return
        name = self._name_of(key)
        info = next(each for each in self.vm.inputs if each.name == name)
        self._inputs[name] = tw.tensor(_array(value).astype(info.dtype), self._device or tw.cpu())
        self._outputs = None

    def input(self, key):
        name = self._name_of(key)
        if name not in self._inputs:
            raise UserError(
                f'GraphModule: input {name} is not set\nhelp: set_input("{name}", value) comes first'
            )
        return self._inputs[name]

    def _arguments(self) -> list:
        return [self.input(name) for name in self._names]

    def run(self) -> None:
        found = self.vm["main"](*self._arguments())
        self._outputs = list(found) if isinstance(found, list | tuple) else [found]

    def output(self, index: int):
        if self._outputs is None:
            raise UserError("GraphModule: there are no outputs yet\nhelp: run() comes before get_output")
        if not 0 <= index < len(self._outputs):
            raise UserError(f"GraphModule: there is no output {index} of {len(self._outputs)}")
        return self._outputs[index]

    def time_evaluator(
        self, func_name: str, dev=None, number: int = 10, repeat: int = 1, min_repeat_ms: int = 0
    ):
        """A callable that measures runs on the inputs that are set."""
        if func_name != "run":
            raise UserError(f'GraphModule: "{func_name}" cannot be measured\nhelp: "run" can')
        measure = self.vm.time_evaluator(
            "main", None, number=number, repeat=repeat, min_repeat_ms=min_repeat_ms
        )
        return lambda: measure(*self._arguments())


def _array(value):
    return value.numpy() if isinstance(value, runtime.Tensor) else numpy.asarray(value)


def machine_for(executable, device, fixed: dict) -> _Machine:
    """The graph on a device; `fixed`: {name: tensor} of parameters that are constants in it."""
    return _Machine(executable, device, fixed)


def create(graph_json_str, libmod, device):
    """The graph on a device, from what relay.build gave: create(graph, lib, tvm.cpu())."""
    return GraphModule(libmod["default"](device))


NAMES = {"GraphModule": GraphModule, "create": create}
