"""Names that stand for themselves: parameters as bytes, devices, targets, tensors, tests of gradients."""

import numpy
import tvm
import tvm.testing
from tvm.script import tir as T


def refused(work, error=tvm.error.TVMError) -> str:
    try:
        work()
    except error as reason:
        return str(reason)
    raise AssertionError("nothing is refused")


# parameters as bytes
params = {
    "weight": tvm.nd.array(numpy.arange(6, dtype="float32").reshape(2, 3)),
    "mask": tvm.nd.array(numpy.array([True, False])),
    "scale": tvm.nd.array(numpy.array(3, "int64")),
}
data = tvm.runtime.save_param_dict(params)
back = tvm.runtime.load_param_dict(data)
assert list(back) == list(params)
for name, value in params.items():
    assert back[name].dtype == value.dtype
    numpy.testing.assert_array_equal(back[name].numpy(), value.numpy())
with tvm.contrib.utils.tempdir() as folder:
    tvm.runtime.save_param_dict_to_file(params, folder.relpath("p.params"))
    assert list(tvm.runtime.load_param_dict_from_file(folder.relpath("p.params"))) == list(params)
assert (
    refused(lambda: tvm.runtime.load_param_dict(b"x" * 40))
    == "load_param_dict: the bytes are none that save_param_dict gives"
)
assert (
    refused(lambda: tvm.runtime.load_param_dict(data[:-1]))
    == f"load_param_dict: the bytes end at {len(data) - 1}, within a value"
)
assert (
    refused(lambda: tvm.runtime.load_param_dict(data[:24] + (9).to_bytes(8, "little") + data[32:]))
).startswith("load_param_dict: the bytes end at ")
one = tvm.runtime.save_param_dict({"w": numpy.zeros(3, "int8")})
place = len(one) - 3 - 16  # its extent, its size and its 3 bytes are last
assert (
    refused(lambda: tvm.runtime.load_param_dict(one[:place] + (4).to_bytes(8, "little") + one[place + 8 :]))
    == "load_param_dict: a tensor of shape [4] and int8 has 3 bytes"
)
assert (
    refused(lambda: tvm.runtime.load_param_dict(one[:33] + (2).to_bytes(8, "little") + one[41:]))
    == "load_param_dict: there are 1 names for 2 tensors"
)
assert (
    refused(lambda: tvm.runtime.load_param_dict(one[:41] + b"\0" + one[42:]))
    == "load_param_dict: the bytes hold no tensor where one begins"
)
assert (
    refused(lambda: tvm.runtime.save_param_dict({"w": numpy.zeros(1, "complex64")}))
    == "save_param_dict: tensors of dtype complex64 have no form in the file"
)
for wrong in (None, 3, [1], "abc", {1: numpy.zeros(2)}):
    assert (
        refused(lambda given=wrong: tvm.runtime.save_param_dict(given))
        == "save_param_dict: params is no dict of tensors by name"
    )
for wrong, kind in ((None, "NoneType"), (10**12, "int"), ("abc", "str"), ([300], "list")):
    assert (
        refused(lambda given=wrong: tvm.runtime.load_param_dict(given))
        == f"load_param_dict: param_bytes is a Python {kind}, expected bytes"
    )
assert list(tvm.runtime.load_param_dict(bytearray(data))) == list(params)
assert (
    refused(lambda: tvm.runtime.load_param_dict_from_file("/nowhere/p"))
    == "load_param_dict_from_file: /nowhere/p cannot be read: No such file or directory"
)
assert (
    refused(lambda: tvm.runtime.save_param_dict_to_file(params, "/nowhere/p"))
    == "save_param_dict_to_file: /nowhere/p cannot be written: No such file or directory"
)
assert refused(lambda: tvm.runtime.load_param_dict_from_file(3)) == (
    "load_param_dict_from_file: cannot take (path = 3): expected str, bytes or os.PathLike object, not int\n"
    "help: load_param_dict_from_file(path): {name: tensor} of a file.  Raises UserError where it cannot be read."
)

# tensors, devices, targets
tensor = params["weight"]
assert tensor.numel() == tensor.size == 6
assert tensor.copyto(tvm.cpu()).numpy().tolist() == tensor.numpy().tolist()
target = tvm.nd.empty((2, 3), "float32")
assert tensor.copyto(target) is not None and target.numpy()[1, 2] == 5
assert str(tvm.device_from_target("llvm -num-cores 2")) == str(tvm.cpu(0))
assert tvm.target.Target.list_kinds() == ["c", "llvm"]
assert str(tvm.target.Target("c").with_host("llvm").host.kind) == "llvm"
with tvm.target.Target("llvm"):
    assert tvm.target.Target.target_or_current(None).kind == "llvm"
assert tvm.target.Target.target_or_current("c").kind == "c"


# errors, tests of gradients, texts that say yes
@tvm.error.register_error
class Sad(tvm.error.TVMError):
    pass


@tvm.error.register_error("Sadder")
class Sadder(Sad):
    pass


assert issubclass(tvm.error.register_error("Saddest", Sadder), Sad)
at = [numpy.array([1.0, 2.0]), numpy.array(3.0)]
tvm.testing.check_numerical_grads(lambda x, y: (x * x).sum() * y, at, [6 * at[0], numpy.array(5.0)])
tvm.testing.check_numerical_grads(lambda x: x.sum(), {"x": at[0]}, {"x": numpy.ones(2)})
assert "Not equal to tolerance" in refused(
    lambda: tvm.testing.check_numerical_grads(lambda x: x.sum(), at[:1], [numpy.zeros(2)]), AssertionError
)
assert tvm.testing.strtobool("On") and not tvm.testing.strtobool("0")
assert refused(lambda: tvm.testing.strtobool("maybe"), ValueError) == "'maybe' says neither yes nor no"
assert tvm.contrib.utils.is_source_path("a/b.cu") and not tvm.contrib.utils.is_source_path("b.o")
assert tvm.contrib.utils.which("sh") and tvm.contrib.utils.which("no-such-program") is None


@T.prim_func
def plain(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)


assert int(plain.with_attrs({"one": 1, "two": 2}).attrs["two"]) == 2
sch = tvm.tir.Schedule(plain)
reads, writes = tvm.tir.analysis.get_sblock_read_write_region(sch.get(sch.get_block("A")), {})
assert not reads and [region.buffer.name for region in writes] == ["A"]
tvm._ffi.register_func("small_names.twice", lambda x: 2 * x)
assert tvm._ffi.base.TVMError is tvm.error.TVMError and tvm.ffi.get_global_func("small_names.twice")(1) == 2
assert tvm.ir.EnvFunc.get("small_names.twice")(21) == 42

print("ok")
