"""Instruments: they watch passes and calls of the virtual machine."""

import numpy as np
import pytest
from graph_testing import random

import tilewright
from tilewright import instrument, tir
from tilewright.relax import transform
from tilewright.runtime import VMInstrumentReturnKind
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.transform import PassContext, Sequential, module_pass


@I.ir_module
class Small:
    @R.function
    def main(x: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
        with R.dataflow():
            lv = R.exp(x)
            gv = R.add(lv, x)
            R.output(gv)
        return gv


class Watch:
    def __init__(self, refused=()):
        self.seen, self.refused = [], refused

    def enter_pass_ctx(self):
        self.seen.append("enter")

    def exit_pass_ctx(self):
        self.seen.append("exit")

    def should_run(self, mod, info):
        return info.name not in self.refused

    def run_before_pass(self, mod, info):
        assert isinstance(mod, tilewright.IRModule)
        self.seen.append(f"before {info.name}")

    def run_after_pass(self, mod, info):
        self.seen.append(f"after {info.name}")


def test_passes_of_the_pipeline_are_seen():
    watch = Watch(refused=["legalize_ops"])
    with PassContext(opt_level=0, instruments=[Watch()]):
        tilewright.compile(Small)
    with PassContext(opt_level=1, instruments=[watch]), pytest.raises(tilewright.Unsupported):
        tilewright.compile(Small)  # without loop programs there is no code
    assert watch.seen[:3] == ["enter", "before resolve_extern_funcs", "after resolve_extern_funcs"]
    assert watch.seen[-1] == "exit"
    assert "before legalize_ops" not in watch.seen


def test_every_kind_of_pass_is_seen():
    @module_pass(opt_level=0, name="nothing")
    def nothing(mod, context):
        return mod

    @module_pass(opt_level=0, name="refused")
    def refused(mod, context):
        raise AssertionError

    watch = Watch(refused=["refused", "fold_constant"])
    value = tilewright.tensor(np.ones(5, "float32"))
    with PassContext(instruments=[watch]):
        Sequential([nothing, refused, transform.fold_constant(), transform.legalize_ops()])(Small)
        transform.BindParams("main", {"x": value})(Small)
    names = ["nothing", "legalize_ops", "bind_params"]
    assert watch.seen == ["enter", *(f"{when} {n}" for n in names for when in ("before", "after")), "exit"]


LOWERING = [
    "to_non_dataflow",
    "call_tir_rewrite",
    "static_plan_block_memory",
    "kill_after_last_use",
    "lower_runtime_builtin",
]


def test_timing():
    timing = instrument.PassTimingInstrument()
    with PassContext(opt_level=0, instruments=[timing]):
        tilewright.compile(Small)
    assert [name for name, _ in timing.taken] == [
        "resolve_extern_funcs",
        "lambda_lift",
        "require_extents",
        "quantize_weights",
        "precision",
        "legalize_ops",
        *LOWERING,
    ]
    assert timing.render().count("us\n") == 11


def test_printing(capsys):
    shown = [instrument.PassPrintingInstrument(["legalize_ops"], ["lambda_lift"])]
    with PassContext(opt_level=0, instruments=shown):
        tilewright.compile(Small)
    text = capsys.readouterr().out
    assert text.startswith("Print IR after: lambda_lift\n")
    assert "Print IR before: legalize_ops\n" in text
    assert text.count("R.exp(x)") == 2
    with PassContext(instruments=[instrument.PrintBeforeAll(), instrument.PrintAfterAll()]):
        transform.legalize_ops()(Small)
    text = capsys.readouterr().out
    assert text.startswith("Before Running Pass: PassInfo(opt_level=0, name='legalize_ops')\n")
    assert "After Running Pass: PassInfo(opt_level=0, name='legalize_ops')\n" in text


def test_dumping(tmp_path):
    folder = tmp_path / "passes"
    with PassContext(opt_level=0, instruments=[instrument.DumpIR(folder)]):
        tilewright.compile(Small)
    names = [
        f"{n:03}_{name}.py"
        for n, name in enumerate(
            [
                "resolve_extern_funcs",
                "lambda_lift",
                "require_extents",
                "quantize_weights",
                "precision",
                "legalize_ops",
                *LOWERING,
            ]
        )
    ]
    assert sorted(file.name for file in folder.iterdir()) == names
    assert "R.call_tir(" in (folder / "005_legalize_ops.py").read_text()
    with PassContext(instruments=[instrument.DumpIR(folder, refresh=True)]):
        transform.legalize_ops()(Small)
    assert [file.name for file in folder.iterdir()] == ["000_legalize_ops.py"]


def test_malformed_modules_are_found():
    @module_pass(opt_level=0, name="bad")
    def bad(mod, context):
        result = mod.clone()
        result["exp"] = mod["exp"].replace(body=tir.Evaluate(tir.Var("q", "int32")))
        return result

    with PassContext(instruments=[instrument.WellFormedInstrument()]):
        tilewright.compile(Small)
        legal = transform.legalize_ops()(Small)
        with pytest.raises(tilewright.UserError) as error:
            bad(legal)
    assert str(error.value).startswith("pass bad left a malformed module: error: ")


def test_config_of_direct_calls():
    legal = transform.legalize_ops()(Small)
    with PassContext(config={"fuse_ops.max_size": 1}):
        assert transform.fuse_ops()(legal) is legal
    assert transform.fuse_ops()(legal) is not legal


def test_configs_are_listed_with_types():
    configs = PassContext.list_configs()
    assert configs["fuse_ops.max_size"]["type"] == "int"
    assert configs["legalize_ops.keep"]["type"] == "list[str]"
    assert configs["fold_constant.max_growth"]["doc"]


@pytest.mark.parametrize(
    ("key", "value", "type"),
    [
        ("fuse_ops.max_size", "8", "int"),
        ("legalize_ops.keep", "relax.add", "list[str]"),
        ("fuse_ops.max_size", True, "int"),
    ],
)
def test_config_of_another_type(key, value, type):
    with pytest.raises(tilewright.UserError) as error:
        PassContext(config={key: value})
    assert str(error.value).splitlines()[0] == f'error: PassContext: config "{key}" must be {type}'


# ---- calls of the virtual machine


def test_calls_of_kernels_are_seen():
    seen = []

    def watch(function, name, before_run, result, *args):
        seen.append((name, before_run, [np.array(arg.numpy()) for arg in args]))

    with PassContext(opt_level=0):
        machine = tilewright.VirtualMachine(tilewright.compile(Small))
    machine.set_instrument(watch)
    x = random(5)
    result = machine["main"](tilewright.tensor(x)).numpy()
    assert [(name, before) for name, before, _ in seen] == [
        ("exp", True),
        ("exp", False),
        ("add", True),
        ("add", False),
    ]
    np.testing.assert_allclose(seen[1][2][-1], np.exp(x), rtol=1e-5)
    np.testing.assert_allclose(seen[3][2][-1], result)
    machine.set_instrument(None)
    machine["main"](tilewright.tensor(x))
    assert len(seen) == 4


def test_calls_can_be_left_out_and_made_by_hand():
    def instead(function, name, before_run, result, *args):
        if before_run and name == "exp":
            source, target = args
            target.copy_from(np.full(5, 2, "float32"))
            return VMInstrumentReturnKind.SKIP_RUN
        if before_run:
            function(*args)
            return VMInstrumentReturnKind.SKIP_RUN
        return VMInstrumentReturnKind.NO_OP

    with PassContext(opt_level=0):
        machine = tilewright.VirtualMachine(tilewright.compile(Small))
    machine.set_instrument(instead)
    x = random(5)
    np.testing.assert_allclose(machine["main"](tilewright.tensor(x)).numpy(), 2 + x, rtol=1e-6)


def test_packed_calls_and_errors_of_instruments():
    @I.ir_module
    class Packed:
        @R.function
        def main(x: R.Tensor((5,), "float32")):
            y = R.call_pure_packed("tests.instruments.negative", x, sinfo_args=R.Tensor((5,), "float32"))
            return y

    tilewright.register_func(
        "tests.instruments.negative", lambda x: tilewright.tensor(-x.numpy()), override=True
    )
    machine = tilewright.VirtualMachine(tilewright.compile(Packed))
    results = []

    def watch(function, name, before_run, result, *args):
        results.append((name, before_run, None if result is None else result.numpy().tolist()))

    machine.set_instrument(watch)
    machine["main"](tilewright.tensor(np.ones(5, "float32")))
    named = [each for each in results if each[0] == "tests.instruments.negative"]
    assert named == [
        ("tests.instruments.negative", True, None),
        ("tests.instruments.negative", False, [-1.0] * 5),
    ]

    def fail(*args):
        raise KeyError("mine")

    machine.set_instrument(fail)
    with pytest.raises(KeyError, match="mine"):
        machine["main"](tilewright.tensor(np.ones(5, "float32")))
    with pytest.raises(tilewright.UserError) as error:
        machine.set_instrument(3)
    assert str(error.value) == "set_instrument: a Python int cannot be called"
