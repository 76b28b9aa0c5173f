"""Compiles a fixed list of programs for ten processors and prints hashes of the results: a refactoring must not change any.
python tools/replay.py > before.txt              on the old commit, built
python tools/replay.py --against before.txt      on the new one: prints what differs; exit code 1 if anything does
python tools/replay.py --part                    a part that takes seconds: the programs of tests and the demo's network
python tools/replay.py --only haswell mnist      only names that contain these words
python tools/replay.py --dump FOLDER             also writes each text into FOLDER, for diff -r

A line is "processor/program LOWERED ASSEMBLY": the first hash is of the lowered programs (get_source("lowered")), which
schedules and lowering produce, the second of the assembly text. The ten processors are described only by their names, so
that nothing depends on this machine. The list: every program in a file of tests/, kernels that rules schedule, the models
of ../shared/models, and the networks that the onnx package ships without weights.
"""

import argparse
import hashlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import tilewright
from tilewright import te
from tilewright.frontend.onnx import from_onnx

ROOT = Path(__file__).resolve().parent.parent
for folder in ("tests", "benchmarks"):
    sys.path.insert(0, str(ROOT / folder))

X86 = "llvm -mtriple=x86_64-pc-linux-gnu -num-cores=2 -mcpu="
ARM = "llvm -mtriple=aarch64-linux-gnu -num-cores=2 -mcpu="
RISCV = "llvm -mtriple=riscv64-linux-gnu -num-cores=2 -mattr=+m,+a,+f,+d,+c"
TARGETS = {
    "haswell": X86 + "haswell",
    "skylake-avx512": X86 + "skylake-avx512",
    "sapphirerapids": X86 + "sapphirerapids",
    "znver4": X86 + "znver4",
    "cortex-a72": ARM + "cortex-a72",
    "neoverse-v1": ARM + "neoverse-v1",
    "neoverse-v2": ARM + "neoverse-v2",
    "apple-m1": ARM + "apple-m1",
    "rv64gcv": RISCV + ",+v,+zvl256b",
    "rv64gc": RISCV,
}
PART_OF_TARGETS = ("haswell", "cortex-a72", "rv64gc")
LIGHT = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)


def matmul(m: int, n: int, k: int, dtype: str = "float32"):
    a, b = te.placeholder((m, k), dtype, name="A"), te.placeholder((k, n), dtype, name="B")
    r = te.reduce_axis((0, k), "r")
    return te.create_prim_func(
        [a, b, te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")]
    )


def scheduled_matmul():
    """A tiled, unrolled and vectorized product of odd sizes."""
    sch = tilewright.Schedule(matmul(37, 29, 53))
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j0, j1 = sch.split(j, factors=[None, 8])
    k0, k1 = sch.split(k, factors=[None, 4])
    sch.reorder(i, j0, k0, k1, j1)
    init = sch.decompose_reduction(block, k0)
    sch.vectorize(j1)
    sch.vectorize(sch.get_loops(init)[-1])
    sch.unroll(k1)
    sch.parallel(i)
    return sch.mod


def programs_of_tests() -> dict[str, object]:
    """The functions and modules in the files of tests, except those for GPUs: "test_fuse_ops.main"."""
    found = {}
    written_out = re.compile(r"^@(T\.prim_func|I\.ir_module|tvm\.script)", re.MULTILINE)
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        if not written_out.search(file.read_text()):
            continue
        spec = importlib.util.spec_from_file_location(f"replayed_{file.stem}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, value in vars(module).items():
            is_program = type(value).__name__ in ("PrimFunc", "IRModule")
            if is_program and not re.search("blockIdx|threadIdx", value.script()):
                found[f"{file.stem}.{name}"] = value
    return found


def kernels() -> dict[str, object]:
    """Programs without a schedule, which the rules schedule."""
    return {
        "matmul_512": matmul(512, 512, 512),
        "matmul_odd": matmul(127, 129, 131),
        "matmul_256_512_512": matmul(256, 512, 512),
        "matmul_float64": matmul(96, 96, 96, "float64"),
        "matvec": matmul(1, 1024, 1024),
        "scheduled_matmul": scheduled_matmul(),
    }


def model_files() -> dict[str, Path]:
    models = ROOT.parent / "shared/models"
    found = {f"{file.parent.name}.{file.stem}": file for file in sorted(models.rglob("*.onnx"))}
    if not found:
        print(f"replay: {models} is not there: its models are left out", file=sys.stderr)
    return found


Sources = Callable[[str, str], str]  # (target, format) -> text


def of_program(program) -> Sources:
    functions = getattr(program, "functions", {}).values()
    is_graph = any(type(function).__name__ == "Function" for function in functions)

    def sources(target: str, form: str) -> str:
        if is_graph:
            return tilewright.compile(program, target=target).kernels.get_source(form)
        return tilewright.build(program, target=target).get_source(form)

    return sources


def of_model(file: Path) -> Sources:
    kept = {}

    def sources(target: str, form: str) -> str:
        if target not in kept:
            kept.clear()
            kept[target] = tilewright.compile(from_onnx(file), target=target).kernels
        return kept[target].get_source(form)

    return sources


def everything(is_part: bool) -> Iterator[tuple[str, Sources]]:
    """(name, function that makes its texts) for each program of the list."""
    for name, program in (programs_of_tests() | kernels()).items():
        yield name, of_program(program)
    yield "fashion_mnist", of_model(ROOT / "examples/fashion_mnist/fashion_mnist.onnx")
    if is_part:
        return
    for name, file in model_files().items():
        yield name, of_model(file)
    from light_models import light_model_file

    for name in LIGHT:
        yield f"light.{name}", of_model(light_model_file(name))


def texts(sources: Sources, target: str) -> dict[str, str]:
    """Lowered programs and assembly; the error text instead if it cannot be compiled."""
    try:
        return {form: sources(target, form) for form in ("lowered", "asm")}
    except tilewright.Unsupported as error:
        return {"lowered": f"refused: {error}", "asm": ""}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", type=Path, help="what an earlier run printed")
    parser.add_argument(
        "--part", action="store_true", help="programs of tests and the demo's network, three processors"
    )
    parser.add_argument("--only", nargs="+", default=[], help="words that a line's name must contain")
    parser.add_argument("--dump", type=Path, help="folder for the texts")
    options = parser.parse_args()
    lines = {}
    for program, sources in everything(options.part):
        for processor, target in TARGETS.items():
            name = f"{processor}/{program}"
            if (options.part and processor not in PART_OF_TARGETS) or not all(
                word in name for word in options.only
            ):
                continue
            found = texts(sources, target)
            if not any(found.values()):
                continue  # a graph without kernels
            lines[name] = f"{digest(found['lowered'])} {digest(found['asm'])}"
            for form, text in found.items():
                if options.dump:
                    file = options.dump / f"{name}.{form}"
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text)
    # all or nothing: a list that ended at a failing program would look like a shorter list
    if not options.against:
        print("".join(f"{name} {line}\n" for name, line in lines.items()), end="")
        return 0
    return report(options.against.read_text(), lines, is_whole=not (options.part or options.only))


def report(before_text: str, lines: dict[str, str], is_whole: bool) -> int:
    """Prints the differences; returns 1 if there are any. Lines that this run does not include are ignored."""
    before = dict(line.split(" ", 1) for line in before_text.splitlines() if line)
    names = sorted(before.keys() | lines.keys()) if is_whole else sorted(lines)
    changed = [name for name in names if before.get(name) != lines.get(name)]
    for name in changed:
        old, new = (
            dict(zip(("lowered", "asm"), texts.get(name, "").split(), strict=False))
            for texts in (before, lines)
        )
        parts = (
            "not in both"
            if not old or not new
            else "lowered"
            if old["lowered"] != new["lowered"]
            else "assembly alone"
        )
        print(f"{name}: {parts}")
    print(
        f"replay: {'unchanged' if not changed else f'{len(changed)} differ'} ({len(lines)} programs and processors)"
    )
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
