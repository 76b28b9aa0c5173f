"""Counts the instructions of innermost loops in assembly text, to find slow loops without measuring time."""

import re

# vector multiply-adds; RISC-V without vectors multiplies one value at a time
MULTIPLY_ADD = re.compile(
    r"(vfn?m(add|sub)\d+ps|fmla|mulps|vpdpbusd|vdpbf16ps|sdot|vfmacc\.v[vf]|vfmadd\.v[vf]|fn?m(add|sub)\.s)\b"
)
# accesses of spilled registers on the stack; accesses of arrays have an index as well; whole SVE and RVV
# registers are only moved to and from the stack
STACK = re.compile(r"\(%rsp\)|\[sp|\(sp\)|, mul vl\]|\bv[ls][1248]r\.v")


LABEL = re.compile(r"([\w.]+):")
INSTRUCTION = re.compile(r"\s+[a-z]")
JUMP = re.compile(r"\s+(?:j[a-z]+|b|b\.[a-z]+|cbn?z|tbn?z|b[a-z]{2,4})\s.*?([\w.]+)$")


def innermost_loops(assembly: str) -> list[list[str]]:
    """The instructions from each label to the last jump back to it, if no other such loop lies in between."""
    lines = [line.split("# ")[0].rstrip() for line in assembly.splitlines()]
    labels = {found[1]: n for n, line in enumerate(lines) if (found := LABEL.match(line))}
    ends: dict[int, int] = {}
    for n, line in enumerate(lines):
        if (found := JUMP.match(line)) and labels.get(found[1], n) < n:
            ends[labels[found[1]]] = n
    innermost = [
        (begin, end)
        for begin, end in ends.items()
        if not any(begin <= other and ends[other] <= end and other != begin for other in ends)
    ]
    return [
        [line.strip() for line in lines[begin + 1 : end + 1] if INSTRUCTION.match(line)]
        for begin, end in innermost
    ]


def counts_of_loops(assembly: str) -> list[tuple[int, int, int]]:
    """(multiply-adds, instructions, those of them that use the stack) of each innermost loop."""
    return [
        (sum(map(bool, map(MULTIPLY_ADD.match, loop))), len(loop), sum(map(bool, map(STACK.search, loop))))
        for loop in innermost_loops(assembly)
    ]


def hottest_loop(assembly: str) -> tuple[int, int, int]:
    """The counts of the loop with the most multiply-adds."""
    return max(counts_of_loops(assembly), key=lambda count: (count[0], -count[1]), default=(0, 0, 0))
