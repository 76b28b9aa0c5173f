"""Targets of GPUs as users write them: hosts, tags, architectures, figures."""

import pytest

import tilewright as tw
from tilewright.script import tir as T


@T.prim_func
def add(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
    for i in range(1024):
        with T.block("B"):
            vi = T.axis.spatial(1024, i)
            B[vi] = A[vi] + T.float32(1)


def refused(call):
    with pytest.raises(tw.UserError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("nvidia/geforce-rtx-3090", "cuda", "__global__"),
        ("nvidia/tesla-p100", "cuda", "__global__"),
        ("nvidia/nvidia-h100", "cuda", "__global__"),
        ("nvidia/nvidia-h100 -max_threads_per_block=128", "cuda", "__global__"),
        ("apple/m1-gpu", "metal", "kernel void"),
        ("opencl -max_threads_per_block=64", "opencl", "__kernel"),
    ],
)
def test_code_for_machines_by_their_names(name, kind, words):
    target = tw.Target(name)
    assert target.kind == kind
    module = tw.build(tw.schedule.by_rules(add, target).mod, target)
    assert words in module.get_source() and "// add: 8 blocks of 32 threads" in module.get_source()


def test_a_machine_by_a_part_of_its_name():
    assert refused(lambda: tw.Target("nvidia/h100")) == (
        'error: unknown target tag "nvidia/h100"\nhelp: did you mean nvidia/nvidia-h100?'
    )
    assert refused(lambda: tw.Target("nvidia/rtx3090")) == (
        'error: unknown target tag "nvidia/rtx3090"\n'
        "help: did you mean nvidia/geforce-rtx-3090 or nvidia/geforce-rtx-3090-ti?"
    )


@pytest.mark.parametrize("arch", ["90", "sm90", "sm_x"])
def test_a_wrong_architecture_is_refused_at_once(arch):
    assert refused(lambda: tw.Target(f"cuda -arch={arch}")) == (
        f'error: target cuda: -arch is "{arch}", expected the name of an architecture\n'
        "help: write for example -arch=sm_80"
    )


def test_several_architectures_have_the_limits_of_all():
    def figures(arch):
        features = tw.target.features(f"cuda -arch={arch}")
        names = ("num_sms", "most_shared_bytes_per_block", "max_threads_per_sm", "float64")
        return [features[name].value for name in names]

    assert figures("sm_80") == [108, 163 << 10, 2048, True]
    assert figures("sm_86") == [82, 99 << 10, 1536, False]
    assert figures("sm_86,sm_80") == figures("sm_80,sm_86") == [108, 99 << 10, 1536, False]


def test_figures_of_a_gpu_have_sources():
    feature = tw.target.features("nvidia/nvidia-h100")["num_sms"]
    assert (feature.value, feature.source) == (132, "NVIDIA's whitepaper of H100")


def test_the_host():
    assert tw.Target("cuda").host is None
    assert str(tw.Target("cuda", host="llvm -mcpu=skylake").host) == "llvm -mcpu=skylake"
    target = tw.Target({"kind": "cuda", "arch": "sm_80", "host": {"kind": "c"}})
    assert (str(target), str(target.host)) == ("cuda -arch=sm_80", "c")
    module = tw.build(tw.schedule.by_rules(add, target).mod, target)
    assert "#include <math.h>" in module.get_source("c") and "__global__" in module.get_source()
    assert refused(lambda: tw.Target("cuda -arch=sm_80", host="opencl")) == (
        'Target: the host of cuda -arch=sm_80 is opencl, a GPU\nhelp: name what launches kernels, e.g. host="llvm"'
    )
