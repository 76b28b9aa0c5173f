"""lower_runtime_builtin: memory as the virtual machine is told."""

from graph_testing import check
from memory_testing import (
    CHAIN,
    EXP,
    STORAGE,
    X,
    module,
    placed,
)

from tilewright.relax import transform


def test_memory_as_the_machine_is_told():
    check(
        [transform.lower_runtime_builtin()],
        module(
            f"""
storage = {STORAGE.format(192)}
a = {placed("storage", 0)}
cls.exp(x, a)
R.memory.kill_tensor(a)
R.memory.kill_storage(storage)
return x
""",
            EXP,
        ),
        module(
            """
storage = R.vm.alloc_storage(R.shape([192]), R.prim_value(0), R.dtype("uint8"), R.str("global"))
a = R.vm.alloc_tensor(storage, R.prim_value(0), R.shape([5, 7]), R.dtype("float32"))
cls.exp(x, a)
R.vm.kill_object(a)
R.vm.kill_object(storage)
return x
""",
            EXP,
        ),
        X,
    )


def test_graphs_without_memory_are_left_alone():
    for step in (transform.lower_alloc_tensor(), transform.lower_runtime_builtin()):
        assert step(CHAIN) is CHAIN
