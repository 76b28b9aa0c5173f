"""Counts the instructions of innermost loops in assembly text: what makes them slower is seen without a clock."""

import re

# of vectors; RISC-V without vectors multiplies one number at a time
MULTIPLY_ADD = re.compile(
    r"(vfn?m(add|sub)\d+ps|fmla|mulps|vpdpbusd|vdpbf16ps|sdot|vfmacc\.v[vf]|vfmadd\.v[vf]|fn?m(add|sub)\.s)\b"
)
# whole registers of SVE and RVV are only moved to and from the stack
STACK = re.compile(r"\(%rsp|\[sp|\(sp\)|, mul vl\]|\bv[ls][1248]r\.v")


def instructions(block: str) -> list[str]:
    """Of a labelled block up to its last jump back to the label; none if it does not jump back."""
    label = re.escape(block.split(":")[0].strip())
    lines = [line.strip() for line in block.splitlines()[1:] if re.match(r"\s+[a-z]", line)]
    ends = [n for n, line in enumerate(lines) if re.search(rf"(?<![\w.]){label}$", line)]
    return lines[: ends[-1] + 1] if ends else []


def counts_of_loops(assembly: str) -> list[tuple[int, int, int]]:
    """(multiply-adds, instructions, those of them that use the stack) of each innermost loop."""
    loops = [instructions(block) for block in re.split(r"\n(?=[\w.]+:)", assembly)]
    return [
        (sum(map(bool, map(MULTIPLY_ADD.match, loop))), len(loop), sum(map(bool, map(STACK.search, loop))))
        for loop in loops
    ]


def hottest_loop(assembly: str) -> tuple[int, int, int]:
    """The counts of the loop with most multiply-adds."""
    return max(counts_of_loops(assembly), key=lambda count: (count[0], -count[1]), default=(0, 0, 0))
