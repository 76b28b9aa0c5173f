"""A tour of topi as books of 2018 to 2022 give it: sums, broadcasting operators of tensors, layers, and their schedules by stages."""

import numpy as np
import tvm
from tvm import te, topi
from tvm.topi import tag
from tvm.topi.utils import get_const_tuple, traverse_inline

# a row sum by hand and by name: the same numbers
rows, columns = te.var("rows"), te.var("columns")
A = te.placeholder((rows, columns), name="A")
k = te.reduce_axis((0, columns), "k")
by_hand = te.compute((rows,), lambda i: te.sum(A[i, k], axis=k), name="by_hand")
by_name = topi.sum(A, axis=1)
a = np.random.rand(5, 127).astype("float32")
for sums in (by_hand, by_name):
    schedule = te.create_schedule(sums.op)
    assert "for" in str(tvm.lower(schedule, [A], simple_mode=True))  # without the result among the arguments
    result = tvm.nd.array(np.zeros(5, "float32"))
    tvm.build(schedule, [A, sums], "llvm")(tvm.nd.array(a), result)
    tvm.testing.assert_allclose(result.numpy(), a.sum(1), rtol=1e-5)

# operators of tensors broadcast; what is one formula of each element is computed where it is read
x, y = te.placeholder((7, 5, 3), name="x"), te.placeholder((5, 1), name="y")
total = topi.sum(topi.elemwise_sum([x + y, x * y]) / 2.0)
schedule = te.create_schedule(total.op)
traverse_inline(schedule, total.op, lambda op: None)
assert str(tvm.lower(schedule, [x, y, total])).count("T.grid(") == 1  # all in the loops of the sum
numbers = [np.random.rand(*get_const_tuple(each.shape)).astype(each.dtype) for each in (x, y)]
result = tvm.nd.array(np.zeros((), "float32"))
tvm.build(schedule, [x, y, total], "llvm")(*map(tvm.nd.array, numbers), result)
tvm.testing.assert_allclose(
    result.numpy(), ((numbers[0] + numbers[1]) + numbers[0] * numbers[1]).sum() / 2, rtol=1e-5
)

# the argument orders of the time: indices of gather_nd along the first dimension
data, at = te.placeholder((5, 7), name="data"), te.placeholder((2, 3), "int32", name="at")
picked = [topi.gather_nd(data, at), topi.take(data, at, 1, "wrap")]
func = tvm.build(te.create_prim_func([data, at, *picked]), "llvm")
d, i = np.random.rand(5, 7).astype("float32"), np.array([[0, 4, 2], [6, 1, 3]], "int32")
first, second = tvm.nd.array(np.zeros(3, "float32")), tvm.nd.array(np.zeros((5, 2, 3), "float32"))
func(tvm.nd.array(d), tvm.nd.array(i), first, second)
np.testing.assert_array_equal(first.numpy(), d[i[0], i[1]])
np.testing.assert_array_equal(second.numpy(), np.take(d, i, 1, mode="wrap"))

# the best three of each row, of those that count
valid = te.placeholder((5,), "int32", name="valid")
order = topi.argsort(data, valid, axis=1, is_ascend=False, dtype="int32")
best = topi.strided_slice(order, [0, 0], [5, 3])
func = tvm.build(te.create_prim_func([data, valid, best]), "llvm")
result = tvm.nd.array(np.zeros((5, 3), "int32"))
func(tvm.nd.array(d), tvm.nd.array(np.full(5, 7, "int32")), result)
np.testing.assert_array_equal(result.numpy(), np.argsort(-d, 1, kind="stable")[:, :3])

# a formula of one's own has a tag, as those of topi had
doubled = te.compute(data.shape, lambda *i: data(*i) * 2, tag=tag.ELEMWISE, name="doubled")
assert tag.is_injective(doubled.op.tag)
assert topi.add(te.var("n"), 1).dtype == "int32" and int(topi.maximum(3, 4)) == 4
print("ok")
