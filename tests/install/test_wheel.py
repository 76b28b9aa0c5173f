"""The wheel installs into a clean environment, works there, and brings and shows nothing that is not ours."""

import importlib.util
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),  # it compiles everything where the release build was not made before
    pytest.mark.skipif(
        importlib.util.find_spec("build") is None, reason="the package build is not installed"
    ),
]


def run(*words, **options):
    words = [str(word) for word in words]
    done = subprocess.run(
        words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **options
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel():
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    run(ROOT / "tools/build_wheel.sh", "only", env=os.environ | {"PATH": path})
    (found,) = (ROOT / "dist").glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A new environment with the wheel, and with this one's numpy so that nothing is downloaded."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder / "venv", with_pip=True)
    run(folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
    (packages,) = (folder / "venv/lib").glob("python*/site-packages")
    numpy = Path(importlib.util.find_spec("numpy").origin).parent
    for name in (numpy, numpy.with_name("numpy.libs")):
        if name.exists():
            (packages / name.name).symlink_to(name)
    return folder, packages / "tilewright"


def test_it_works_in_a_clean_environment(environment):
    folder, _ = environment
    env = {"PATH": f"{folder}/venv/bin:/usr/bin:/bin", "HOME": str(folder)}
    printed = run(folder / "venv/bin/python", ROOT / "tests/install/smoke.py", cwd=folder, env=env)
    assert "the wheel works" in printed


def test_what_readme_prints_runs_anywhere(environment):
    text = (ROOT / "README.md").read_text()
    folder, _ = environment
    snippet = folder / "snippet.py"
    _, write_a_kernel = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = write_a_kernel.splitlines()
    snippet.write_text("\n".join(lines[:-1]))  # the last one is refused
    command = f". {folder}/venv/bin/activate && python {snippet} && tilewright --version"
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    for place in (folder, ROOT):  # also where a folder of sources is called tilewright
        printed = run("bash", "-c", command, cwd=place, env=env)
        assert printed.splitlines()[0].startswith("total: 3 samples; ")
        assert printed.splitlines()[1].startswith("tilewright 0.1.0")


def test_it_needs_only_the_system(environment):
    allowed = "libc.so|libm.so|libgcc_s|libstdc|libz.so|libzstd|ld-linux|libtilewright"
    for file in [*environment[1].glob("*.so"), environment[1] / "tilewright"]:
        names = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", file))
        assert [name for name in names if not re.match(allowed, name)] == []


def test_only_our_symbols_are_exported(environment):
    for name in ("libtilewright.so", "libtilewright_runtime.so"):
        lines = run("nm", "-D", "--defined-only", environment[1] / name).splitlines()
        assert [line for line in lines if "tilewright" not in line.split()[-1]] == []


def test_it_is_below_30_megabytes(wheel):
    assert wheel.stat().st_size < 30 << 20


def test_editors_find_types_in_it(environment):
    package = environment[1]
    assert (package / "py.typed").exists()
    stub = package.with_name("tilewright-stubs") / "schedule/__init__.pyi"
    assert "    def split(self, loop: LoopRV, factors: Sequence[int | ExprRV | None]" in stub.read_text()
