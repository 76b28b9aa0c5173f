"""tvm.contrib: folders, compilers and worker processes that programs written for TVM use."""
