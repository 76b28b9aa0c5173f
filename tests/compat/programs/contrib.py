"""tvm.contrib: folders, compilers, workers; tvm_ffi."""

import ctypes
import os
import time
from pathlib import Path

import tvm
import tvm_ffi
from tvm.contrib import cc, nvcc, utils
from tvm.contrib.popen_pool import PopenPoolExecutor, PopenWorker, StatusKind
from tvm_ffi.access_path import AccessPath

folder = utils.tempdir()
source = folder.relpath("one.cc")
Path(source).write_text('extern "C" int one(void) { return 1; }\n')
cc.create_shared(folder.relpath("one.so"), source, options=["-O1"])
assert ctypes.CDLL(folder.relpath("one.so")).one() == 1
assert sorted(folder.listdir()) == ["one.cc", "one.so"]
kept = folder.temp_dir
folder.remove()
assert not Path(kept).exists()
assert nvcc.have_tensorcore("8.0") and not nvcc.have_int8("5.0")

pool = PopenPoolExecutor(max_workers=2, timeout=2)
assert [r.value for r in pool.map_with_error_catching(abs, [-1, 2])] == [1, 2]
(late,) = pool.map_with_error_catching(time.sleep, [20])
assert late.status == StatusKind.TIMEOUT
(failed,) = pool.map_with_error_catching(len, [3])
assert failed.status == StatusKind.EXCEPTION and isinstance(failed.value, TypeError)
worker = PopenWorker()
worker.send(os._exit, (1,))
try:
    worker.recv()
    raise AssertionError
except ChildProcessError:
    pass


@tvm_ffi.register_global_func("tests.add_two", override=True)
def add_two(x):
    return x + 2


assert tvm.get_global_func("tests.add_two")(3) == 5
path = AccessPath.root().attr("body").array_item(1)
assert str(path) == "<root>.body[1]"
print("ok")
