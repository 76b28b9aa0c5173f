"""tvm.autotvm and tvm.auto_scheduler: their names say what to use instead."""

from tilewright.errors import Unsupported


def _answers(module: str, what: str):
    def answer(name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unsupported(
            f"{module}.{name}: {what}\nhelp: tvm.meta_schedule.tune_tir(program, target) searches schedules of a loop program, and "
            "tune_relax those of a graph (docs/tuning.md)"
        )

    return lambda: {"__getattr__": answer}


def _modules(package: str, parts: str, what: str) -> dict:
    names = [package, *(f"{package}.{part}" for part in parts.split())]
    return {f"tvm.{name}": _answers(name, what) for name in names}


MODULES = {
    **_modules(
        "autotvm",
        "task tuner measure record env feature graph_tuner tophub utils",
        "schedules are no longer searched by templates",
    ),
    **_modules(
        "auto_scheduler",
        "search_task search_policy measure measure_record compute_dag cost_model relay_integration utils",
        "schedules are searched by meta_schedule instead",
    ),
}
