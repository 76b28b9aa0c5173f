"""An installed tilewright serves another CMake project; its libraries bring and show nothing that is not ours."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (BUILD / "lib" / "libtilewright.so").exists(), reason="build/lib/libtilewright.so is not built"
    ),
]


def run(*words, cwd=None):
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", folder)
    return folder


@pytest.fixture(scope="module")
def consumer(prefix, tmp_path_factory):
    build = tmp_path_factory.mktemp("consumer")
    compilers = ["-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19"]
    run(
        "cmake",
        "-G",
        "Ninja",
        "-S",
        ROOT / "tests/install/consumer",
        "-B",
        build,
        f"-DCMAKE_PREFIX_PATH={prefix}",
        *compilers,
    )
    run("cmake", "--build", build)
    return build


def needed(library):
    return re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library))


def test_compiler_is_used_from_cpp(consumer):
    assert run(consumer / "use_compiler") == "llvm -mcpu=core-avx2\nthe target is empty\n"


def test_runtime_is_used_from_c(consumer):
    version, message = run(consumer / "use_runtime").splitlines()[:2]
    assert version == "version 0.1.0"
    assert "missing.so" in message


def test_runtime_needs_only_the_system(prefix):
    allowed = ("libc.so", "libm.so", "libgcc_s.so", "libstdc++.so", "ld-linux", "libdl.so", "libpthread.so")
    names = needed(prefix / "lib/libtilewright_runtime.so")
    assert [name for name in names if not name.startswith(allowed)] == []


def test_runtime_is_below_one_megabyte(prefix, tmp_path):
    stripped = tmp_path / "runtime.so"
    run("strip", "-o", stripped, prefix / "lib/libtilewright_runtime.so")
    assert stripped.stat().st_size < 1 << 20


def test_compiler_library_needs_no_llvm_library(prefix):
    assert [
        name
        for name in needed(prefix / "lib/libtilewright.so")
        if re.search("LLVM|clang|python|protobuf", name)
    ] == []


def test_only_our_symbols_are_exported(prefix):
    lines = run("nm", "-D", "--defined-only", prefix / "lib/libtilewright.so").splitlines()
    names = [line.split()[-1] for line in lines]
    assert [name for name in names if "tilewright" not in name] == []
