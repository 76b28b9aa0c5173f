"""Tensor intrinsics of CPUs and GPUs, registered when their module is imported: x86, arm_cpu, cuda."""
