"""Rules: those of TVM, and one written in Python, make the space of a matmul with an epilogue."""

import tempfile

import tvm
from tvm import meta_schedule as ms
from tvm import te
from tvm.meta_schedule.schedule_rule import PyScheduleRule
from tvm.meta_schedule.utils import derived_object
from tvm.script import tir as T


@tvm.script.ir_module
class MatmulRelu:
    @T.prim_func
    def main(a: T.handle, b: T.handle, d: T.handle) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        A = T.match_buffer(a, (24, 32), "float32")
        B = T.match_buffer(b, (32, 16), "float32")
        D = T.match_buffer(d, (24, 16), "float32")
        C = T.alloc_buffer((24, 16), "float32")
        for i, j, k in T.grid(24, 16, 32):
            with T.block("matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(24, 16):
            with T.block("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = T.max(C[vi, vj], 0.0)


target = tvm.target.Target("llvm --num-cores=1")
quick = ms.runner.LocalRunner(evaluator_config=ms.runner.EvaluatorConfig(number=1, repeat=2, min_repeat_ms=1))


def tuned(rules, trials=4, **options):
    space = ms.space_generator.PostOrderApply(sch_rules=rules, **options)
    with tempfile.TemporaryDirectory() as work_dir:
        database = ms.tune_tir(
            mod=MatmulRelu,
            target=target,
            work_dir=work_dir,
            max_trials_global=trials,
            num_trials_per_iter=trials,
            space=space,
            runner=quick,
            database=ms.database.MemoryDatabase(),
        )
    return space, [
        str(record.trace) for record in database.get_all_tuning_records() if record.run_secs[0] < 1e10
    ]


# ---- the rules of TVM


def designs(*rules, **options):
    space = ms.space_generator.PostOrderApply(sch_rules=list(rules), **options)
    return space.generate_design_space(MatmulRelu)


rule = ms.schedule_rule
tiling = rule.MultiLevelTiling(
    "SSRSRS", max_innermost_factor=64, reuse_write=rule.ReuseType("may", levels=[1, 2], scope="global")
)
found = designs(tiling)
assert len(found) == 3, [str(each.trace) for each in found]
assert all("meta_schedule.tiling_structure" in str(each.mod) for each in found)
assert ["cache_write" in str(each.trace) for each in found] == [False, True, True]
assert len(found[0].get_loops(found[0].get_block("matmul"))) == 10
assert designs(rule.AddRFactor(1, 64)) == []  # there are results enough for all threads
found = designs(rule.AddRFactor(10000, 64))
assert len(found) == 2 and all("sch.rfactor" in str(each.trace) for each in found)
(found,) = designs(rule.ParallelizeVectorizeUnroll(16, 32, [], True))
assert "meta_schedule.parallel" in str(found.trace) and "meta_schedule.vectorize" in str(found.trace)
assert len(designs(rule.ParallelizeVectorizeUnroll(-1, -1, [0, 16, 64], True))) == 3
x = te.placeholder((8, 8), name="X")
y = te.compute((8, 8), lambda i, j: te.exp(x[i, j]), name="Y")
stages = te.create_prim_func([x, te.compute((8, 8), lambda i, j: y[i, j] + 1.0, name="Z")])


def inlined(*options, **named):
    space = ms.space_generator.PostOrderApply(sch_rules=[rule.AutoInline(*options)], **named)
    return [str(each.trace) for each in space.generate_design_space(stages)]


assert "compute_inline" in inlined(False, True, True, True, True, True, [])[0]
assert "reverse_compute_inline" in inlined(True, False, True, True, True, True)[0]
assert inlined(False, True, True, True, True, True, ["tir.exp"]) == []
assert inlined(False, True, True, True, True, True, f_block_filter=lambda block: block.name_hint == "Z") == []

traces = tuned("llvm")[1]
assert any("tiling_structure" in trace and "enter_postproc" in trace for trace in traces), traces
assert [type(each).__name__ for each in rule.ScheduleRule.create("llvm")][0] == "ApplyCustomRule"

# ---- one written in Python


@derived_object
class Columns(PyScheduleRule):
    blocks = []

    def _initialize_with_tune_context(self, context):
        pass

    def apply(self, sch, block):
        self.blocks.append(sch.get(block).name_hint)
        if sch.get(block).name_hint != "matmul":
            return [sch]
        j = sch.get_loops(block)[1]
        sch.split(j, sch.sample_perfect_tile(j, n=2, max_innermost_factor=16))
        return [sch]


space, traces = tuned([Columns()], postprocs=[])
assert set(Columns.blocks) == {"matmul", "relu"}
assert sum("sample_perfect_tile" in trace for trace in traces) >= 2


# ---- by the annotation of a block


@tvm.register_func("meta_schedule.cpu.mine")
def mine(sch, block):
    sch.unroll(sch.get_loops(block)[-1])
    return [sch]


sch = tvm.tir.Schedule(MatmulRelu)
sch.annotate(sch.get_block("relu"), "schedule_rule", "mine")
space = ms.space_generator.PostOrderApply(sch_rules=[rule.ApplyCustomRule()])
(found,) = space.generate_design_space(sch.mod)
assert "sch.unroll" in str(found.trace)
print("ok")
