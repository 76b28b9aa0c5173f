"""What Schedule.lint finds."""

from typing import NamedTuple


class Finding(NamedTuple):
    """Something that keeps a kernel from running fast on a GPU; printed, it says what, where and what to try."""

    #: "coalescing", "banks", "spills" or "occupancy"
    kind: str
    #: the lowered kernel: "main_kernel"
    kernel: str
    #: coalescing: sectors that move over those needed; banks: words of one bank at once; spills: bytes; occupancy: a part, 0 to 1
    figure: float
    text: str

    def __str__(self) -> str:
        return self.text
