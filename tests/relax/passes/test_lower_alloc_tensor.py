"""lower_alloc_tensor: a tensor of its own lies in a storage of its own."""

from graph_testing import check, random
from memory_testing import (
    DOUBLE,
    module,
)

from tilewright.relax import transform


def test_a_tensor_of_its_own_lies_in_a_storage_of_its_own():
    params = 'x: R.Tensor(("n", 7), "float32")'
    check(
        [transform.lower_alloc_tensor()],
        module(
            'y = R.builtin.alloc_tensor(R.shape([n, 7]), dtype="float32", runtime_device_index=0)\n'
            "cls.double(x, y)\nreturn y",
            DOUBLE,
            params=params,
            dims="n",
        ),
        module(
            """
storage = R.memory.alloc_storage(R.shape([n * 28]), R.prim_value(0), R.str("global"), R.dtype("float32"))
y = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([n, 7]), R.dtype("float32"))
cls.double(x, y)
return y
""",
            DOUBLE,
            params=params,
            dims="n",
        ),
        random(5, 7),
    )
