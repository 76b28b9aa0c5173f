"""The result of Schedule.verify."""

from typing import NamedTuple


class Verified(NamedTuple):
    """The samples that a schedule's program was compared on; printed, it says so in words."""

    #: (function, sizes of its open dimensions: "n = 5, m = 7"), in order
    samples: list[tuple[str, str]]
    #: samples that max_steps left out
    left_out: int
    #: iterations of loops that were run
    num_steps: int

    def __str__(self) -> str:
        parts = []
        for name in dict.fromkeys(function for function, _ in self.samples):
            sizes = [text for function, text in self.samples if function == name]
            with_sizes = f" with {'; '.join(sizes)}" if any(sizes) else ""
            parts.append(f"{name}: {len(sizes)} sample{'s' * (len(sizes) != 1)}{with_sizes}")
        if not parts:
            return "no function has changed"
        if self.left_out:
            parts.append(f"left out by max_steps: {self.left_out}")
        return "; ".join([*parts, f"{self.num_steps:,} iterations of loops"])
