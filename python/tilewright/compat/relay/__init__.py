"""tvm.relay, the graphs before relax: its entry points and the small programs of old tutorials, over relax."""

from .. import names_of_2018, param_files
from . import (
    building,
    executors,
    expressions,
    functors,
    importing,
    layers,
    operators,
    retired,
    transforms,
    workloads,
)

__all__ = ["MODULES", "add"]

add = expressions.add

MODULES = {
    "tvm.relay": lambda: {
        **param_files.NAMES,
        "build_config": names_of_2018.build_config,
        **expressions.NAMES,
        **operators.NAMES,
        **building.NAMES,
        **functors.NAMES,
    },
    "tvm.relay.op": lambda: operators.NAMES,
    "tvm.relay.nn": lambda: layers.NN,
    "tvm.relay.op.nn": lambda: layers.NN,
    "tvm.relay.expr": lambda: expressions.NAMES,
    "tvm.relay.function": lambda: {"Function": expressions.NAMES["Function"]},
    "tvm.relay.ty": lambda: expressions.NAMES,
    "tvm.relay.expr_functor": lambda: functors.NAMES,
    "tvm.relay.analysis": lambda: {**expressions.ANALYSIS, **functors.ANALYSIS},
    "tvm.relay.build_module": lambda: building.NAMES,
    "tvm.relay.frontend": lambda: importing.NAMES,
    "tvm.relay.frontend.onnx": lambda: importing.ONNX_NAMES,
    "tvm.relay.transform": lambda: transforms.MODULE,
    "tvm.contrib.graph_executor": lambda: executors.NAMES,
    "tvm.contrib.graph_runtime": lambda: executors.NAMES,
    **workloads.MODULES,
    **retired.MODULES,
}
