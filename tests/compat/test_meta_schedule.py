"""tvm.meta_schedule: chapter 4 of the course, in the spellings of 2022 to 2026."""

import subprocess
import sys
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"

PROGRAM = """
import numpy as np
import tvm
from tvm.script import tir as T
{imports}

@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def main(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
        T.func_attr({{"global_symbol": "main", "tir.noalias": True}})
        for i, j, k in T.grid(32, 32, 32):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

def space(sch):
    block = sch.get_block("C", "main")
    i, j, k = sch.get_loops(block=block)
    j_0, j_1 = sch.split(loop=j, factors=sch.sample_perfect_tile(loop=j, n=2))
    sch.reorder(i, j_0, k, j_1)
    sch.decompose_reduction(block, k)
    return sch

database = ms.tune_tir(
    mod=MyModule, target="llvm --num-cores=1", max_trials_global=8, num_trials_per_iter=8, work_dir="tune_tmp",
    {arguments}
)
sch = ms.tir_integration.compile_tir(database, MyModule, "llvm --num-cores=1")
sch.trace.show()
print(type(sch.mod["main"]).__name__, len(database) >= 5)
again = ms.database.JSONDatabase(work_dir="tune_tmp")
print(len(again) == len(database))
"""


def run(text, folder):
    file = folder / "program.py"
    file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "tilewright.compat", str(file)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


SPELLINGS = [
    ("from tvm import meta_schedule as ms", "space=ms.space_generator.ScheduleFn(space)"),
    ("from tvm.s_tir import meta_schedule as ms", "space=ms.space_generator.ScheduleFn(space), seed=1"),
    ("import tvm.meta_schedule as ms", 'space=ms.ScheduleFn(space), task_name="main"'),
]


@pytest.mark.parametrize(("imports", "arguments"), SPELLINGS)
def test_an_own_space(imports, arguments, tmp_path):
    out, err = run(PROGRAM.format(imports=imports, arguments=arguments), tmp_path)
    assert "sample_perfect_tile" in out and out.endswith("PrimFunc True\nTrue\n")
    assert "Latency (us)" in err and "Total trials: 5" in err
    assert (tmp_path / "tune_tmp/tune.db").exists()


def refused(call, tmp_path):
    text = f"import tvm\nfrom tvm import meta_schedule as ms\ntry:\n    {call}\nexcept tvm.TVMError as error:\n    print(error)"
    return run(text, tmp_path)[0].strip()


def test_wrong_arguments(tmp_path):
    assert refused('ms.tune_tir(None, "llvm", "x", 1, space=3)', tmp_path) == (
        'space is 3, expected "post-order-apply", a function or a SpaceGenerator'
    )
    call = 'ms.tune_tir(tvm.IRModule({}), "llvm", "x", 1, runner=3)'
    assert refused(call, tmp_path) == 'runner is a Python int, expected "local" or a Runner'
    assert refused("ms.database.JSONDatabase()", tmp_path) == (
        "JSONDatabase: neither work_dir nor path_tuning_record is given"
    )


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is absent")
def test_chapter_4(tmp_path):
    pytest.importorskip("torch")
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "tilewright.compat",
                SHARED / "seeds/run_doc.py",
                SHARED / "seeds/000_mlc_book",
            ),
            *("--only", "094-142"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ran 46 passed 46" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", sorted(file.name for file in (Path(__file__).parent / "tuning_programs").iterdir())
)
def test_programs_with_parts_of_their_own(name):
    done = subprocess.run(
        [sys.executable, "-m", "tilewright.compat", Path(__file__).parent / "tuning_programs" / name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("ok\n"), done.stdout + done.stderr


LEAVES = """
import os, tempfile
import tvm
from tvm import te, meta_schedule as ms

a = te.placeholder((8, 8), name="A")
func = te.create_prim_func([a, te.compute((8, 8), lambda i, j: a[i, j] + 1.0, name="B")])
builder = ms.builder.LocalBuilder(f_build=lambda mod, target, params: tvm.build(mod, target=target))
config = ms.runner.EvaluatorConfig(number=1, repeat=1, min_repeat_ms=0)
database = ms.tune_tir(
    tvm.IRModule({"main": func}), "llvm -num-cores=1", "work", 3, builder=builder,
    runner=ms.runner.LocalRunner(evaluator_config=config),
)
print(len(database.get_all_tuning_records()) > 0)
print(sum(len(files) for _, _, files in os.walk(tempfile.gettempdir())))
(result,) = builder.build([ms.builder.BuilderInput(tvm.IRModule({"main": func}), tvm.target.Target("llvm"))])
print(result.error_msg, os.path.basename(result.artifact_path))
"""


def test_libraries_of_a_builder_are_removed(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    assert run(LEAVES, tmp_path)[0] == "True\n0\nNone candidate.so\n"
    assert list((tmp_path / "tmp").iterdir()) == []


REFUSED = """
from tvm import te, meta_schedule as ms

a = te.placeholder((8, 8), name="A")
func = te.create_prim_func([a, te.compute((8, 8), lambda i, j: a[i, j] + 1.0, name="B")])
for options in ({"space": [1]}, {"trials": 3}):
    try:
        ms.tune_tir(func, "llvm", "work", 2, **options)
    except ValueError as error:
        print(error)
"""


def test_wrong_options(tmp_path):
    assert run(REFUSED, tmp_path)[0] == (
        'space is [1], expected "post-order-apply", a function or a SpaceGenerator\n'
        'tuning has no option "trials"\nhelp: the options are builder, cost_model, database, '
        "max_trials_per_task, measure_callbacks, module_equality, num_trials_per_iter, post_optimization, runner, seed, "
        "space, strategy, task_scheduler\n"
    )
