"""benchmarks/report.py: what was asked of a case beside what it does."""

import tomllib
from pathlib import Path

import pytest
import report

CASES = Path(report.__file__).parent / "cases.toml"


def figure(median: float) -> dict:
    return {"median_us": median, "p10_us": median * 0.9, "p90_us": median * 1.2, "num_calls": 7}


def result_of(**changes) -> dict:
    """Ours takes 10 us in each of three rounds, torch 12, numpy 30, but all are twice as slow in the last one."""
    rounds = {"tilewright": [10, 10, 20], "torch": [12, 12, 24], "numpy": [30, 30, 60]}
    result = {
        "case": "mm",
        "threads": 1,
        "figures": {peer: figure(sorted(times)[1]) for peer, times in rounds.items()},
        "rounds": rounds,
        "asked": {"ratio": 1.1},
    }
    return result | changes


def kernel(name: str, seconds: float, least_seconds: float | None, next_step: str = "") -> dict:
    limit = "arithmetic" if least_seconds else None
    return {
        "name": name,
        "seconds": seconds,
        "least_seconds": least_seconds,
        "limit": limit,
        "next": next_step,
    }


ROOF = {"kernels": [kernel("small", 1e-6, 1e-6), kernel("large", 9e-6, 7e-6, "try other tiles")]}


def test_ratios_are_those_of_rounds():
    # the medians of all calls would say the same here, but not that there is no spread
    assert report.table([result_of()]) == (
        "| case | threads | best peer / ours | tilewright | torch | numpy |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| mm | 1 | 1.20 (1.20..1.20) | 10.0 (9.0..12.0) | 12.0 (10.8..14.4) | 30.0 (27.0..36.0) |"
    )


def test_a_failed_case_is_a_row():
    failed = {"case": "mm", "threads": 2, "figures": {}, "failed": True}
    assert report.table([result_of(), failed]).splitlines()[-1] == "| mm | 2 | - | failed | failed | failed |"


def test_bytes_have_no_rounds():
    sizes = {"tilewright": {"bytes": 2**20}, "onnxruntime": {"bytes": 3 * 2**20}}
    text = report.table([{"case": "memory", "threads": 2, "figures": sizes}])
    assert text.splitlines()[-1] == "| memory | 2 | 3.00 | 1.00 MiB | 3.00 MiB |"


def test_a_row_that_reaches_what_is_asked():
    errors = {"tilewright": 2.5e-7, "torch": 1e-6}
    assert report.asked_report([result_of(roof=ROOF, errors=errors)]) == (
        "1 of 1 rows reach what is asked\n\n"
        "| case | threads | asked | peer / ours | peer | ours, us | of the roof | peer / roof | reached | our error | peer's |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| mm | 1 | >= 1.1 | 1.20 (1.20..1.20) | torch | 10.0 (9.0..12.0) | 80% | 1.50 | yes | 2.5e-07 | 1.0e-06 |\n"
    )


def test_a_row_that_falls_short_says_why():
    short = result_of(roof=ROOF, asked={"ratio": 1.3}, short="the machine was busy")
    assert report.asked_report([short]) == (
        "0 of 1 rows reach what is asked\n\n"
        "| case | threads | asked | peer / ours | peer | ours, us | of the roof | peer / roof | reached | our error | peer's |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| mm | 1 | >= 1.3 | 1.20 (1.20..1.20) | torch | 10.0 (9.0..12.0) | 80% | 1.50 | **no** | - | - |\n\n"
        "Rows that fall short:\n"
        "- **mm**, 1 thread: the machine was busy. most is lost in `large` 2 of 9 us (arithmetic): try other tiles; "
        "`small` 0 of 1 us (arithmetic).\n"
    )


def test_what_the_machine_does_not_allow_is_said():
    text = report.asked_report([result_of(roof=ROOF, asked={"ratio": 2.0}, threads=2)])
    assert (
        "- **mm**, 2 threads: the roof itself is 1.50 of torch: no kernels of this arithmetic reach 2.0. most is lost in"
        in text
    )


def test_nothing_known_is_said():
    assert report.shortfall(result_of(asked={"ratio": 2.0})) == "- **mm**, 1 thread: not known why."


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        ({"ratio": 1.2}, True),
        ({"ratio": 1.3}, False),
        ({"ratio": 1.3, "peer": "numpy"}, True),
        ({"ratio": 1.3, "peer": "jax"}, None),
        ({"most_us": 10}, True),
        ({"most_us": 9.5}, False),
        ({"ratio": 1.3, "share": 0.8}, True),
        ({"ratio": 1.3, "share": 0.9}, False),
        ({"ratio": 1.3, "peer": "jax", "share": 0.8}, True),
        ({"ratio": 1.3, "peer": "jax", "share": 0.9}, None),
    ],
)
def test_verdicts(asked, verdict):
    assert report.is_reached(result_of(asked=asked, roof=ROOF)) is verdict


def test_what_failed_is_not_reached_and_what_is_missing_is_not_known():
    assert report.is_reached(result_of(figures={}, failed=True)) is False
    assert report.is_reached(result_of(figures={}, left_out=True)) is None
    text = report.asked_report([result_of(), result_of(figures={}, failed=True, threads=2)])
    assert text.startswith("1 of 2 rows reach what is asked\n")
    assert text.endswith("\nRows that fall short:\n- **mm**, 2 threads: not known why.\n")


def test_without_roof_alternatives_are_open():
    assert report.is_reached(result_of(asked={"ratio": 1.3, "share": 0.8}, roof={})) is None


def test_a_kernel_without_limit_leaves_the_roof_open():
    result = result_of(roof={"kernels": [kernel("unknown", 1e-6, None)]})
    assert report.roof_us(result) is None
    assert report.asked_table([result]).splitlines()[-1].endswith("| - | - | yes | - | - |")


def test_nothing_asked_is_no_report():
    assert report.asked_report([result_of(asked=None)]) == ""


def test_cases_ask_for_what_the_report_knows():
    cases = tomllib.loads(CASES.read_text())
    asked = {name: case["asked"] for name, case in cases.items() if "asked" in case}
    assert len(asked) >= 37
    for name, what in asked.items():
        assert what.keys() <= {"ratio", "peer", "most_us", "share", "threads"}, name
        assert report.asked_text(what), name
