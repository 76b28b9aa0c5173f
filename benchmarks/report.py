"""Prints results of run.py as Markdown: a table of times, and the goal of each case beside its result.

A result is a dict: case, threads, figures {peer: figure}, and if known rounds {peer: medians of the rounds}, asked (the goal, as
in cases.toml), short (why the case misses its goal, as in cases.toml), roof (the output of `tilewright explain`), errors (by peer,
relative to float64).
"""

import statistics
from collections.abc import Iterable

OURS = "tilewright"
# how many kernels of a case that misses its goal are named
NUM_KERNELS = 3


def number_of(figure: dict | None) -> float | None:
    """Microseconds or bytes."""
    return figure and figure.get("median_us", figure.get("bytes"))


def best_peer(result: dict, only: str | None = None) -> str | None:
    """The fastest or smallest of the measured peers; `only` restricts the choice to one peer."""
    figures = {peer: number_of(figure) for peer, figure in result["figures"].items() if peer != OURS}
    figures = {peer: number for peer, number in figures.items() if number and only in (None, peer)}
    return min(figures, key=figures.__getitem__, default=None)


def ratios(result: dict, peer: str) -> list[float]:
    """The peer's time / ours, round by round, in ascending order, so that disturbances that slow both down cancel out."""
    rounds = result.get("rounds")
    if rounds:
        return sorted(theirs / ours for theirs, ours in zip(rounds[peer], rounds[OURS], strict=True))
    return [number_of(result["figures"][peer]) / number_of(result["figures"][OURS])]


def spread(values: list[float]) -> str:
    """median (10th..90th percentile) of sorted values."""
    last = len(values) - 1
    low, high = (values[round(last * part)] for part in (0.1, 0.9))
    return f"{statistics.median(values):.2f}" + (f" ({low:.2f}..{high:.2f})" if last else "")


def cell(figure: dict | None) -> str:
    if not figure:
        return "-"
    if "bytes" in figure:
        return f"{figure['bytes'] / 2**20:.2f} MiB"
    digits = 2 if figure["median_us"] < 10 else 1
    median, low, high = (f"{figure[key]:.{digits}f}" for key in ("median_us", "p10_us", "p90_us"))
    return f"{median} ({low}..{high})"


def ratio_cell(result: dict, peer: str | None) -> str:
    return spread(ratios(result, peer)) if peer and number_of(result["figures"].get(OURS)) else "-"


def rows(head: list[str], body: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def table(results: list[dict]) -> str:
    """A row per case and number of threads, a column per peer, in microseconds unless a unit is given."""
    peers = list(dict.fromkeys(peer for result in results for peer in result["figures"]))
    body = []
    for result in results:
        cells = [cell(result["figures"].get(peer)) for peer in peers]
        cells = ["failed"] * len(peers) if result.get("failed") else cells
        ratio = ratio_cell(result, best_peer(result))
        body.append([result["case"], str(result["threads"]), ratio, *cells])
    return rows(["case", "threads", "best peer / ours", *peers], body)


def roof_us(result: dict) -> float | None:
    """The time of the kernels if each were as fast as the machine's arithmetic and memory allow."""
    kernels = result.get("roof", {}).get("kernels", [])
    if not kernels or any(kernel["least_seconds"] is None for kernel in kernels):
        return None
    return sum(kernel["least_seconds"] for kernel in kernels) * 1e6


def judged_peer(result: dict) -> str | None:
    return best_peer(result, result["asked"].get("peer"))


def is_reached(result: dict) -> bool | None:
    """True if the case reaches one of its goals; None if none is known to be reached and not all were measured."""
    asked, ours, peer, roof = (
        result["asked"],
        number_of(result["figures"].get(OURS)),
        judged_peer(result),
        roof_us(result),
    )
    if not ours:
        return None if result.get("left_out") else False
    verdicts = []
    if "ratio" in asked:
        verdicts.append(statistics.median(ratios(result, peer)) >= asked["ratio"] if peer else None)
    if "most_us" in asked:
        verdicts.append(ours <= asked["most_us"])
    if "share" in asked:
        verdicts.append(roof / ours >= asked["share"] if roof else None)
    return True if any(verdicts) else None if None in verdicts else False


def asked_text(asked: dict) -> str:
    parts = []
    if "ratio" in asked:
        parts.append(f">= {asked['ratio']}" + (f" of {asked['peer']}" if "peer" in asked else ""))
    if "most_us" in asked:
        parts.append(f"<= {asked['most_us']:g} us")
    if "share" in asked:
        parts.append(f">= {asked['share']:.0%} of the roof")
    return " or ".join(parts)


def asked_table(results: list[dict]) -> str:
    """The goal, the measurement, and the ratio that a case would reach if each kernel ran at its roof."""
    body = []
    for result in results:
        ours, peer, roof = result["figures"].get(OURS), judged_peer(result), roof_us(result)
        theirs = number_of(result["figures"].get(peer)) if peer else None
        best = f"{theirs / roof:.2f}" if roof and theirs else "-"
        share = f"{roof / number_of(ours):.0%}" if roof and number_of(ours) else "-"
        verdict = {True: "yes", False: "**no**", None: "not measured"}[is_reached(result)]
        what = [result["case"], str(result["threads"]), asked_text(result["asked"])]
        row = [*what, ratio_cell(result, peer), peer or "-", cell(ours), share, best, verdict]
        body.append([*row, error_cell(result, OURS), error_cell(result, peer)])
    head = ["case", "threads", "asked", "peer / ours", "peer", "ours, us", "of the roof"]
    return rows([*head, "peer / roof", "reached", "our error", "peer's"], body)


def error_cell(result: dict, peer: str | None) -> str:
    error = result.get("errors", {}).get(peer)
    return "-" if error is None else f"{error:.1e}"


def kernel_text(kernel: dict) -> str:
    lost = (kernel["seconds"] - kernel["least_seconds"]) * 1e6
    text = f"`{kernel['name']}` {lost:.0f} of {kernel['seconds'] * 1e6:.0f} us ({kernel['limit']})"
    return text + (f": {kernel['next']}" if kernel["next"] else "")


def shortfall(result: dict) -> str:
    """The reasons why a case misses its goal: the notes of cases.toml, and the kernels that lose time relative to the roofs."""
    head = f"- **{result['case']}**, {result['threads']} thread{'s' * (result['threads'] > 1)}"
    notes = [result["short"].rstrip(".")] if result.get("short") else []
    roof, peer = roof_us(result), judged_peer(result)
    if roof:
        theirs = number_of(result["figures"].get(peer)) if peer else None
        if theirs and theirs / roof < result["asked"].get("ratio", 0):
            notes.append(
                f"the roof itself is {theirs / roof:.2f} of {peer}: no kernels of this arithmetic reach {result['asked']['ratio']}"
            )
        kernels = sorted(
            result["roof"]["kernels"], key=lambda kernel: kernel["least_seconds"] - kernel["seconds"]
        )
        notes.append("most is lost in " + "; ".join(kernel_text(kernel) for kernel in kernels[:NUM_KERNELS]))
    return f"{head}: " + (". ".join(notes) or "not known why") + "."


def asked_report(results: list[dict]) -> str:
    """The rows that have a goal; those that miss it are repeated with the reasons; "" if there are none."""
    asked = [result for result in results if result.get("asked")]
    if not asked:
        return ""
    short = [result for result in asked if is_reached(result) is False]
    reached = sum(is_reached(result) is True for result in asked)
    text = f"{reached} of {len(asked)} rows reach what is asked\n\n{asked_table(asked)}\n"
    return text + ("\nRows that fall short:\n" + "\n".join(map(shortfall, short)) + "\n" if short else "")
