"""Tests compile what they test: no code comes from a cache, unless a test says where one is.  Programs are checked after
each pass of graphs and each step of lowering.

Random numbers that a test takes from numpy's global generator depend on its name alone: they are the same in every
run.
"""

import datetime
import os
import zlib

import numpy as np

os.environ.setdefault("TILEWRIGHT_CACHE_MB", "0")
os.environ.setdefault("TILEWRIGHT_VERIFY_PASSES", "1")
# the same for all processes of pytest-xdist, even at midnight
os.environ.setdefault("TILEWRIGHT_TODAY", datetime.datetime.now(datetime.UTC).date().isoformat())


def pytest_addoption(parser):
    parser.addoption(
        "--cases-per-test",
        type=int,
        metavar="N",
        help="of the cases of each test only N or a tenth, evenly spread: where all take too long (sanitizers)",
    )
    parser.addoption(
        "--one-of",
        type=int,
        metavar="N",
        help="only one test of N, others each day: all have run after some days (sanitizers)",
    )
    parser.addoption(
        "--round-trip",
        action="store_true",
        help="every program that a test builds is the same after printing and parsing, in another process, too",
    )


def pytest_configure(config):
    if config.getoption("--round-trip"):
        import round_trip

        config.pluginmanager.register(round_trip.RoundTrip(), "round-trip")


def pytest_runtest_setup(item):
    np.random.seed(zlib.crc32(item.nodeid.encode()))


def pytest_collection_modifyitems(config, items):
    cases: dict[str, list] = {}
    for item in items:
        cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    if of := config.getoption("--one-of"):
        today = datetime.date.fromisoformat(os.environ["TILEWRIGHT_TODAY"])
        cases = {test: group for test, group in cases.items() if is_in_sample(test, today, of)}
    if least := config.getoption("--cases-per-test"):
        cases = {test: evenly_spread(group, least) for test, group in cases.items()}
    chosen = {id(case) for group in cases.values() for case in group}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
    items[:] = [item for item in items if id(item) in chosen]


def is_in_sample(test: str, day: datetime.date, of: int) -> bool:
    """True on one of `of` days that follow each other."""
    return (zlib.crc32(test.encode()) + day.toordinal()) % of == 0


def evenly_spread(group: list, least: int) -> list:
    count = min(len(group), max(least, len(group) // 10))
    return [group[n * len(group) // count] for n in range(count)]
