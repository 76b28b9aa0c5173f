"""Tests of two programs that were measured in turns: is one faster, and how sure is that?

One round measures both, one after the other, so that what slows the machine down meets both; its ratio is the baseline's
time over the candidate's.  If neither is faster, each ratio is above 1 with probability 1/2, whatever the noise looks like: the
number of ratios above 1 is that of heads when a coin is thrown (the sign test; Conover, Practical Nonparametric Statistics,
chapter 3).  Order statistics of the ratios bound their median for the same reason.
"""

from math import comb

#: (rounds, losses): after so many rounds, a candidate is faster if at most so many ratios are not above 1
LOOKS = ((16, 0), (31, 3), (63, 13))
#: no candidate is measured in more rounds
ROUNDS = LOOKS[-1][0]
#: and the median of the ratios is at least this: less is not worth another code
LEAST_GAIN = 1.01


def tail(rounds: int, losses: int) -> float:
    """The probability that a fair coin shows at most `losses` tails in `rounds` throws.

    >>> tilewright.tune.statistics.tail(16, 0)
    1.52587890625e-05
    """
    return sum(comb(rounds, n) for n in range(losses + 1)) / 2**rounds


#: the probability that a candidate which is as fast as the baseline is taken for faster, at most
FALSE_WINNER = sum(tail(*look) for look in LOOKS)


def median(values: list[float]) -> float:
    """The median of some numbers."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def ratios_of(seconds: list[float], baseline: list[float]) -> list[float]:
    """The ratio of each round that measured both: above 1 where the candidate was faster."""
    return [other / own for own, other in zip(seconds, baseline, strict=False)]


def speed_interval(
    seconds: list[float], baseline: list[float], level: float = 0.95
) -> tuple[float, float] | None:
    """(low, high): bounds of how many times as fast as the baseline the candidate was in these rounds, by order statistics.

    Tuning ends the rounds of a candidate when it is sure that it is faster: of such rounds the level holds only nearly.

    seconds   of the candidate, in s, in the order of the rounds
    baseline  of the baseline, in the same rounds
    level     the probability that the median lies between them, 0 to 1; default 0.95
    Returns   None if there are too few rounds for the level: 6 for 0.95
    >>> tilewright.tune.speed_interval([1.0] * 6, [1.1, 1.2, 1.3, 1.4, 1.5, 1.6])
    (1.1, 1.6)
    """
    ratios = sorted(ratios_of(seconds, baseline))
    cut = -1
    while cut + 1 < len(ratios) // 2 and 2 * tail(len(ratios), cut + 1) <= 1 - level:
        cut += 1
    return None if cut < 0 else (ratios[cut], ratios[-1 - cut])


def is_promising(seconds: list[float], baseline: list[float]) -> bool:
    """True if more rounds may show that the candidate is faster: it won most of these."""
    ratios = ratios_of(seconds, baseline)
    return bool(ratios) and median(ratios) > 1


def is_faster(seconds: list[float], baseline: list[float]) -> bool:
    """True if the candidate is surely faster than the baseline; by chance, less often than FALSE_WINNER."""
    ratios = ratios_of(seconds, baseline)
    losses = sum(ratio <= 1 for ratio in ratios)
    is_sure = any(len(ratios) >= rounds and losses <= most for rounds, most in LOOKS)
    return is_sure and median(ratios) >= LEAST_GAIN


def is_decided(seconds: list[float], baseline: list[float]) -> bool:
    """True if more rounds cannot change the answer, or are not to be measured."""
    ratios = ratios_of(seconds, baseline)
    losses = sum(ratio <= 1 for ratio in ratios)
    is_hopeless = losses > 3 + len(ratios) // 6
    return is_hopeless or any(len(ratios) == rounds and losses <= most for rounds, most in LOOKS)
