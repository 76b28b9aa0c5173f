"""ms.builder, ms.runner and ms.arg_info: how candidates are built and measured."""

import shutil
import statistics
import tempfile
import threading
from functools import cache
from pathlib import Path

from tilewright import _core, tir, tune
from tilewright.errors import Unsupported, UserError
from tilewright.ir.module import unwrapped
from tilewright.tune.measure import measure_candidate

from .spaces import no_target, require_default

# ---------------------------------------------------------------- parameters


class ArgInfo:
    """The base class of descriptions of parameters; TensorInfo is the only kind."""

    @staticmethod
    def from_json(json_obj) -> "TensorInfo":
        """That of ["TENSOR", dtype, shape]."""
        kind, dtype, shape = json_obj
        if kind != "TENSOR":
            raise Unsupported(f"ArgInfo.from_json: there is no kind {kind!r}")
        return TensorInfo(dtype, shape)

    @staticmethod
    def from_prim_func(func) -> list["TensorInfo"]:
        """The TensorInfo of each parameter of a loop program."""
        return arguments_of_func(func)

    @staticmethod
    def from_entry_func(mod, remove_preproc: bool = True) -> list["TensorInfo"]:
        """The TensorInfo of each parameter of the only function of a module, or of its "main"."""
        funcs = [func for _, func in mod.functions_items() if isinstance(func, tir.PrimFunc)]
        return arguments_of_func(funcs[0] if len(funcs) == 1 else mod["main"])


class TensorInfo(ArgInfo):
    """A tensor.

    dtype  as text
    shape  its extents
    """

    def __init__(self, dtype, shape):
        self.dtype, self.shape = str(dtype), tuple(int(extent) for extent in shape)

    def as_json(self) -> list:
        """["TENSOR", dtype, shape]."""
        return ["TENSOR", self.dtype, list(self.shape)]

    def __eq__(self, other) -> bool:
        return isinstance(other, TensorInfo) and self.as_json() == other.as_json()

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __repr__(self) -> str:
        return f'TensorInfo("{self.dtype}", {list(self.shape)})'


def arguments_of_func(func) -> list[TensorInfo]:
    """The TensorInfo of each parameter of a loop program with known extents."""
    return [TensorInfo(buffer.dtype, buffer.shape) for buffer in func.buffers if buffer is not None]


ARGUMENTS = {"ArgInfo": ArgInfo, "TensorInfo": TensorInfo}

# ---------------------------------------------------------------- builders


class BuilderInput:
    """A scheduled module to build, for a target."""

    def __init__(self, mod, target, params=None):
        self.mod, self.target, self.params = mod, target, params


class BuilderResult:
    """The path of a library, or the reason why there is none."""

    def __init__(self, artifact_path: str | None, error_msg: str | None):
        self.artifact_path, self.error_msg = artifact_path, error_msg


_folder_lock = threading.Lock()


@cache
def _made_folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory()


def _folder() -> Path:
    """The folder of libraries that LocalBuilder makes; it is removed when the process ends."""
    with _folder_lock:
        return Path(_made_folder().name)


class Builder:
    """The base class of builders written in Python: build(list of BuilderInput) gives a BuilderResult for each."""

    def build(self, build_inputs: list) -> list:
        """A BuilderResult for each input."""
        raise Unsupported(f"{type(self).__name__} has no method build(build_inputs)")

    @staticmethod
    def create(kind: str = "local", *args, **named):
        """The builder of a name."""
        return create_builder(kind, *args, **named)


class LocalBuilder(Builder):
    """Builds on this machine.

    max_workers  threads that build; default: as many as parallel loops have
    f_build      function of (module, target, params) that makes the library; default: tilewright's
    f_export     function of a library that gives its path; default: a file in a temporary folder
    Raises       Unsupported for a time limit other than 30 s, and for an initializer, which would have no effect
    """

    def __init__(
        self, *, max_workers=None, timeout_sec: float = 30.0, f_build=None, f_export=None, initializer=None
    ):
        require_default("LocalBuilder", timeout_sec=(timeout_sec, 30.0), initializer=(initializer, None))
        for name, given in (("f_build", f_build), ("f_export", f_export)):
            if isinstance(given, str):
                raise Unsupported(
                    f'LocalBuilder: {name} is the text "{given}"\nhelp: give the function itself'
                )
        self.max_workers, self.f_build, self.f_export = max_workers, f_build, f_export

    def build(self, build_inputs: list) -> list:
        return [self._result(each) for each in build_inputs]

    def _result(self, given: BuilderInput) -> BuilderResult:
        try:
            if self.f_build:
                library = self.f_build(given.mod, given.target, given.params)
            else:
                library = _core.build(unwrapped(given.mod), given.target, False, False, None)
            if self.f_export:
                return BuilderResult(str(self.f_export(library)), None)
            path = Path(tempfile.mkdtemp(dir=_folder())) / "candidate.so"
            library.export_library(str(path))
            return BuilderResult(str(path), None)
        except Exception as error:
            return BuilderResult(None, str(error))


class _NativeBuilder(tune.Builder):
    """A builder of TVM's form; the library is the path that it gives, or the bytes of that file."""

    def __init__(self, builder: Builder):
        self.builder = builder

    def build(self, module, target):
        (result,) = self.builder.build([BuilderInput(module, target)])
        if result.error_msg or not result.artifact_path:
            raise UserError(str(result.error_msg or "the builder gave no path").splitlines()[0])
        path = Path(str(result.artifact_path))
        if path.suffix != ".so" or not path.is_file():
            return str(path)
        code = path.read_bytes()
        if path.parent.parent == _folder():  # of LocalBuilder
            shutil.rmtree(path.parent)
        return code


def create_builder(kind="local", *args, **named):
    """The builder of a name; a Builder is returned as it is."""
    if isinstance(kind, Builder):
        return kind
    if kind != "local":
        raise UserError(f'builder is {kind!r}, expected "local" or a Builder')
    return LocalBuilder(*args, **named)


def native_builder(builder) -> tune.Builder | None:
    """The builder in the form of tilewright.tune; None: its own."""
    builder = create_builder(builder)
    is_own = type(builder) is LocalBuilder and builder.f_build is None and builder.f_export is None
    return None if is_own else _NativeBuilder(builder)


BUILDERS = {
    "Builder": Builder,
    "PyBuilder": Builder,
    "LocalBuilder": LocalBuilder,
    "BuilderInput": BuilderInput,
    "BuilderResult": BuilderResult,
    "create": create_builder,
}

# ---------------------------------------------------------------- runners


class EvaluatorConfig:
    """The number and length of the measurements of a candidate.

    number  calls of one measurement at least; here as many as min_repeat_ms takes
    """

    def __init__(
        self, number: int = 3, repeat: int = 1, min_repeat_ms: int = 100, enable_cpu_cache_flush: bool = False
    ):
        self.number, self.repeat, self.min_repeat_ms = number, repeat, min_repeat_ms
        self.enable_cpu_cache_flush = enable_cpu_cache_flush


class RunnerInput:
    """A library to measure, on a kind of device, with parameters."""

    def __init__(self, artifact_path: str, device_type: str, args_info: list):
        self.artifact_path, self.device_type, self.args_info = artifact_path, device_type, args_info


class RunnerResult:
    """Times in seconds, or the reason why there are none."""

    def __init__(self, run_secs: list | None, error_msg: str | None):
        self.run_secs = None if run_secs is None else [float(each) for each in run_secs]
        self.error_msg = error_msg

    @property
    def median(self) -> float:
        """The median time; infinity: it failed."""
        return statistics.median(self.run_secs) if self.run_secs else float("inf")


class RunnerFuture:
    """A RunnerResult that may come later.

    f_done, f_result  functions; a subclass may have methods done() and result() instead
    """

    def __init__(self, f_done=None, f_result=None):
        self._done, self._result = f_done, f_result

    def done(self) -> bool:
        """True if the result is there."""
        return self._done() if self._done else True

    def result(self) -> RunnerResult:
        """The result."""
        return self._result()


class LocalRunnerFuture(RunnerFuture):
    """A result that is there."""

    def __init__(self, res: list | None = None, error_message: str | None = None):
        super().__init__(None, lambda: RunnerResult(res, error_message))


class Runner:
    """The base class of runners written in Python: run(list of RunnerInput) gives a RunnerFuture for each."""

    def run(self, runner_inputs: list) -> list:
        """A RunnerFuture for each input."""
        raise Unsupported(f"{type(self).__name__} has no method run(runner_inputs)")

    @staticmethod
    def create(kind: str = "local", *args, **named):
        """The runner of a name."""
        return create_runner(kind, *args, **named)


class LocalRunner(Runner):
    """Measures on this machine, in processes of their own, in turns with the default schedule.

    Raises Unsupported for arguments that would have no effect
    """

    def __init__(
        self,
        timeout_sec: float = 30,
        evaluator_config: EvaluatorConfig | None = None,
        cooldown_sec: float = 0.0,
        alloc_repeat: int = 1,
        f_alloc_argument=None,
        f_run_evaluator=None,
        f_cleanup=None,
        initializer=None,
        maximum_process_uses=None,
    ):
        require_default(
            "LocalRunner",
            cooldown_sec=(cooldown_sec, 0.0),
            alloc_repeat=(alloc_repeat, 1),
            f_alloc_argument=(f_alloc_argument, None),
            f_run_evaluator=(f_run_evaluator, None),
            f_cleanup=(f_cleanup, None),
            initializer=(initializer, None),
            maximum_process_uses=(maximum_process_uses, None),
        )
        config = evaluator_config or EvaluatorConfig()
        self.options = tune.MeasureOptions(
            min_repeat_ms=max(1, config.min_repeat_ms),
            rounds=max(1, config.repeat),
            timeout=timeout_sec,
            cache_flush_bytes=64 << 20 if config.enable_cpu_cache_flush else 0,
        )

    def run(self, runner_inputs: list) -> list:
        return [self._future(each) for each in runner_inputs]

    def _future(self, given: RunnerInput) -> LocalRunnerFuture:
        shapes = [(each.shape, each.dtype) for each in given.args_info]
        try:
            code = Path(given.artifact_path).read_bytes()
            return LocalRunnerFuture(measure_candidate(code, None, shapes, self.options)["seconds"])
        except Exception as error:
            return LocalRunnerFuture(None, str(error))


class _NativeRunner(tune.Runner):
    """A runner of TVM's form, which measures the library of the default schedule as well."""

    def __init__(self, runner: Runner):
        self.runner = runner

    def run(self, library, baseline, shapes: list, options) -> dict:
        found = {"seconds": self._seconds(library, shapes)}
        if baseline is not None and isinstance(library, bytes):
            found["baseline"] = self._seconds(baseline[1], shapes)
            once = tune.MeasureOptions(min_repeat_ms=1, rounds=1, timeout=options.timeout)
            found["has_same_bits"] = measure_candidate(library, baseline, shapes, once)["has_same_bits"]
        return found

    def _seconds(self, library, shapes: list) -> list[float]:
        infos = [TensorInfo(dtype, shape) for shape, dtype in shapes]
        with tempfile.TemporaryDirectory() as folder:
            path = library
            if isinstance(library, bytes):
                path = str(Path(folder) / "candidate.so")
                Path(path).write_bytes(library)
            (future,) = self.runner.run([RunnerInput(path, "cpu", infos)])
            result = future.result()
        if result.error_msg or not result.run_secs:
            raise UserError(str(result.error_msg or "the runner gave no times").splitlines()[0])
        return [float(each) for each in result.run_secs]


def create_runner(kind="local", *args, **named):
    """The runner of a name; a Runner is returned as it is."""
    if isinstance(kind, Runner):
        return kind
    if kind == "rpc":
        RPCRunner()
    if kind != "local" and kind is not None:
        raise UserError(f'runner is a Python {type(kind).__name__}, expected "local" or a Runner')
    return LocalRunner(*args, **named)


def native_runner(runner) -> tuple:
    """(a runner in the form of tilewright.tune or None: its own, MeasureOptions)."""
    if runner in (None, "local"):
        return None, tune.MeasureOptions()
    runner = create_runner(runner)
    if type(runner) is LocalRunner:
        return None, runner.options
    return _NativeRunner(runner), tune.MeasureOptions()


def RPCRunner(*args, **named):
    """Measuring on another machine: refused.

    Raises Unsupported
    """
    raise Unsupported(
        "RPCRunner: there is no remote protocol\n"
        "help: tilewright.tune.tune(..., measure_executor=) takes any concurrent.futures.Executor, e.g. of Dask or Ray"
    )


RUNNERS = {
    "Runner": Runner,
    "PyRunner": Runner,
    "LocalRunner": LocalRunner,
    "LocalRunnerFuture": LocalRunnerFuture,
    "RPCRunner": RPCRunner,
    "RPCConfig": no_target("RPCConfig", "remote machines"),
    "RunnerInput": RunnerInput,
    "RunnerResult": RunnerResult,
    "RunnerFuture": RunnerFuture,
    "PyRunnerFuture": RunnerFuture,
    "EvaluatorConfig": EvaluatorConfig,
    "create": create_runner,
}
