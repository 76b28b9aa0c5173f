"""Which of two programs is faster, decided from noisy times: hardly ever wrongly, and never for want of trying."""

import random

import pytest

from tilewright import tune
from tilewright.tune import statistics


def measured(noise, gain):
    """What a worker measures, in the same order: three rounds, and as many more as it takes if they promise something.

    noise  () -> a factor of one measurement
    gain   the baseline's time over the candidate's
    """

    def rounds(count, is_confirming):
        seconds, baseline = [], []
        for _ in range(count):
            seconds.append(noise() / gain)
            baseline.append(noise())
            if is_confirming and statistics.is_decided(seconds, baseline):
                break
        return seconds, baseline

    first = rounds(3, False)
    return rounds(statistics.ROUNDS, True) if statistics.is_promising(*first) else first


def share_of_winners(noise, gain, runs):
    return sum(statistics.is_faster(*measured(noise, gain)) for _ in range(runs)) / runs


def jitter(random_, spread):
    """Times with a long tail, as those of a busy machine: most are near 1, one in ten is up to three times as long."""

    def one():
        slow = random_.uniform(1, 3) if random_.random() < 0.1 else 1.0
        return random_.gauss(1, spread) * slow

    return one


def drift(random_):
    """Times of a machine that gets slower and faster in waves of some rounds."""
    state = {"speed": 1.0}

    def one():
        state["speed"] = min(1.5, max(0.7, state["speed"] * random_.gauss(1, 0.03)))
        return state["speed"] * random_.gauss(1, 0.01)

    return one


@pytest.mark.parametrize("noise", [lambda r: jitter(r, 0.01), lambda r: jitter(r, 0.1), drift])
def test_equal_programs_are_hardly_ever_told_apart(noise):
    # 64 candidates in a run: a run has a false winner in less than 1 % of the cases
    assert 64 * statistics.FALSE_WINNER / 2 < 0.01
    assert share_of_winners(noise(random.Random(1)), 1.0, 20_000) < 1e-3
    assert share_of_winners(noise(random.Random(1)), 0.99, 5_000) == 0


@pytest.mark.parametrize("noise", [lambda r: jitter(r, 0.005), lambda r: jitter(r, 0.01)])
def test_five_percent_are_found(noise):
    steady = noise(random.Random(2))
    found = share_of_winners(lambda: min(steady(), 1.2), 1.05, 500)
    assert found > 0.9  # one measurement in ten is disturbed
    assert share_of_winners(lambda r=random.Random(3): r.gauss(1, 0.02), 1.05, 500) > 0.95


def test_it_is_at_least_as_strict_as_seven_rounds_without_overlap():
    # before: all of 3 times below 3 others, 1 in 20, and then all of 7 below 7 others, 1 in 3,432
    assert statistics.FALSE_WINNER / 2 < 1 / (20 * 3432)


def test_tails_of_coins():
    assert statistics.tail(3, 0) == 1 / 8
    assert statistics.tail(3, 3) == 1
    assert statistics.tail(4, 1) == 5 / 16


def test_decisions():
    ones, slower, faster = [1.0] * 63, [0.9] * 63, [1.1] * 63
    assert statistics.is_faster(ones[:16], faster[:16])
    assert not statistics.is_faster(ones[:15], faster[:15])
    three_lost = slower[:3] + faster[:28]
    assert statistics.is_faster(ones, three_lost)
    assert not statistics.is_faster(ones, slower[:4] + faster[:27])
    assert statistics.is_faster(ones, slower[:13] + faster[:50])
    assert not statistics.is_faster(ones, slower[:14] + faster[:49])
    assert not statistics.is_faster(ones, [1.005] * 63)  # sure, but not worth it
    assert not statistics.is_faster([], [])
    assert statistics.is_decided(ones[:16], faster[:16])
    assert not statistics.is_decided(ones[:16], slower[:1] + faster[:15])
    assert statistics.is_decided(ones[:4], slower[:4])
    assert not statistics.is_decided(ones[:3], slower[:3])
    assert statistics.is_decided(ones, three_lost)
    assert not statistics.is_decided(ones, slower[:4] + faster[:27])
    assert statistics.is_decided(ones, slower[:13] + faster[:50])
    assert statistics.is_decided(ones, slower[:14] + faster[:49])
    assert statistics.is_promising([1, 1, 2], [1.1, 1.1, 1.1])
    assert not statistics.is_promising([1, 2, 2], [1.1, 1.1, 1.1])
    assert not statistics.is_promising([], [])


def test_intervals_of_the_speed():
    seconds = [1.0] * 6
    assert tune.speed_interval(seconds, [1.3, 1.1, 1.2, 1.6, 1.4, 1.5]) == (1.1, 1.6)
    assert tune.speed_interval(seconds[:5], [1.1, 1.2, 1.3, 1.4, 1.5]) is None
    baseline = [1 + n / 100 for n in range(31)]
    assert tune.speed_interval([1.0] * 31, baseline) == (baseline[9], baseline[21])
    assert tune.speed_interval([1.0] * 31, baseline, level=0.999) == (baseline[6], baseline[24])


def test_intervals_hold_what_they_promise():
    random_ = random.Random(4)
    held = 0
    for _ in range(2000):
        low, high = tune.speed_interval([1.0] * 20, [random_.gauss(1.2, 0.1) for _ in range(20)])
        held += low <= 1.2 <= high
    assert held / 2000 >= 0.94
