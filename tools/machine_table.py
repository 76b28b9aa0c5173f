"""Writes docs/machines.md: the choices of schedule/default for the same kernels on ten processors, by their descriptions alone.

python tools/machine_table.py            writes the page; a test fails if the page differs from this output
python tools/machine_table.py --print    prints it

Instructions are counted in the assembly text that LLVM generates for the processor, in the innermost loop with the most
multiply-adds; nothing runs.
"""

import argparse
import re
from pathlib import Path

from assembly_loops import hottest_loop
from replay import TARGETS

import tilewright
from tilewright import te
from tilewright.target import costs, features

PAGE = Path(__file__).resolve().parent.parent / "docs/machines.md"


def matmul(rows: int, columns: int, terms: int):
    a, b = te.placeholder((rows, terms), name="A"), te.placeholder((terms, columns), name="B")
    k = te.reduce_axis((0, terms), "k")
    return te.create_prim_func(
        [a, b, te.compute((rows, columns), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")]
    )


def product_with_rows(rows: int, columns: int, terms: int):
    """A product with a matrix whose rows are multiplied: the weights of a linear layer as in torch."""
    a, b = te.placeholder((rows, terms), name="A"), te.placeholder((columns, terms), name="B")
    k = te.reduce_axis((0, terms), "k")
    return te.create_prim_func(
        [a, b, te.compute((rows, columns), lambda i, j: te.sum(a[i, k] * b[j, k], axis=k), name="C")]
    )


def convolution(size: int, channels: int, filters: int, window: int):
    x = te.placeholder((1, size + window - 1, size + window - 1, channels), name="X")
    w = te.placeholder((window, window, channels, filters), name="W")
    r = [
        te.reduce_axis((0, extent), name) for extent, name in ((window, "h"), (window, "w"), (channels, "c"))
    ]
    y = te.compute(
        (1, size, size, filters),
        lambda n, i, j, f: te.sum(x[n, i + r[0], j + r[1], r[2]] * w[r[0], r[1], r[2], f], axis=r),
        name="Y",
    )
    return te.create_prim_func([x, w, y])


def depthwise(size: int, channels: int):
    x, w = (
        te.placeholder((size + 2, size + 2, channels), name="X"),
        te.placeholder((3, 3, channels), name="W"),
    )
    r = [te.reduce_axis((0, 3), "h"), te.reduce_axis((0, 3), "w")]
    y = te.compute(
        (size, size, channels),
        lambda i, j, c: te.sum(x[i + r[0], j + r[1], c] * w[r[0], r[1], c], axis=r),
        name="Y",
    )
    return te.create_prim_func([x, w, y])


KERNELS = {
    "matmul 128 x 128 x 128": matmul(128, 128, 128),
    "matmul 256 x 512 x 512": matmul(256, 512, 512),
    "matmul 1024 x 1024 x 1024": matmul(1024, 1024, 1024),
    "matmul 127 x 129 x 131": matmul(127, 129, 131),
    "matmul 14 x 768 x 768": matmul(14, 768, 768),
    "matmul 1 x 1024 x 1024": matmul(1, 1024, 1024),
    "linear layer 64 x 512 x 512": product_with_rows(64, 512, 512),
    "convolution 1 x 1, 28 x 28, 128 to 128": convolution(28, 128, 128, 1),
    "convolution 3 x 3, 14 x 14, 64 to 64": convolution(14, 64, 64, 3),
    "depthwise 3 x 3, 28 x 28, 128": depthwise(28, 128),
}


def chosen_factors(function, target: str) -> str:
    """The factors by which loops are split, in the order of the trace: "12, 32 x 8"."""
    trace = str(tilewright.schedule.by_rules(function, target).trace)
    factors = [
        re.findall(r"\d+", text) for text in re.findall(r"sch\.split\([^,]+, factors=\[([^\]]*)\]", trace)
    ]
    return ", ".join(" x ".join(numbers) for numbers in factors if numbers)


def row(function, target: str) -> str:
    multiply_adds, instructions, on_stack = hottest_loop(
        tilewright.build(function, target=target).get_source("asm")
    )
    known = features(target)
    arithmetic = multiply_adds / known["fma_per_cycle"].value
    issue = instructions / known["issue_width"].value
    return (
        f"{chosen_factors(function, target)} | {multiply_adds} | {instructions} | {multiply_adds / instructions:.2f} "
        f"| {min(1, arithmetic / issue):.0%} | {on_stack}"
    )


def page() -> str:
    lines = [
        "# Default schedules of ten processors",
        "",
        "Written by `python tools/machine_table.py`; a test compares it. For each kernel of float32: the factors by which the rules split",
        "loops, and the innermost loop with most multiply-adds in LLVM's assembly: its multiply-adds, its instructions, the share of the",
        "former, the part of the processor's multiply-adds that can start beside so many other instructions (by `fma_per_cycle` and",
        "`issue_width`), and how many instructions wait on the stack for a register. What the rules know of each processor: [targets](targets.md).",
        "Why the share itself is no goal: [decision 22](decisions/0022-instructions-beside-multiply-adds.md).",
        "",
    ]
    for name, function in KERNELS.items():
        lines += [
            f"## {name}",
            "",
            "| processor | splits | multiply-adds | instructions | share | of peak | stack |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [f"| {processor} | {row(function, target)} |" for processor, target in TARGETS.items()]
        lines.append("")
    return "\n".join(lines + costs_section())


def costs_section() -> list[str]:
    rows = [
        f"| `{name}` | {cost.value:g} {cost.unit} | {cost.doc} | {cost.source} |"
        for name, cost in costs().items()
    ]
    return [
        "## Numbers that no manual gives",
        "",
        "The rules and the graph passes estimate times from the description of the machine and from these numbers, which are the same for all",
        "(`tilewright.target.costs()`, `target/costs.h`).",
        "",
        "| name | value | meaning | where it comes from |",
        "|---|---|---|---|",
        *rows,
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--print", action="store_true", help="print the page, do not write it")
    if parser.parse_args().print:
        print(page(), end="")
    else:
        PAGE.write_text(page())


if __name__ == "__main__":
    main()
