"""Campaigns go on after what their children do: crashes, hangs, results after which a child ends."""

import os
import signal
import sys
import time

from campaign import Campaign, Command


def crashed(seed, stage, how):
    return seed, f"{stage}: {how}"


def test_a_crash_is_a_result_and_the_others_go_on():
    def check(seed, tell):
        tell("loading")
        if seed == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if seed == 3:
            os._exit(7)
        return seed, ""

    results = dict(Campaign(check, crashed).results(range(5), 2))
    assert results == {0: "", 1: "", 2: "loading: SIGKILL", 3: "loading: exit 7", 4: ""}


def test_a_child_that_hangs_is_killed():
    def check(seed, tell):
        tell("waiting")
        time.sleep(60 * (seed == 1))
        return seed, ""

    results = dict(Campaign(check, crashed, limit_s=0.5).results(range(3), 2))
    assert results == {0: "", 1: "waiting: SIGKILL", 2: ""}


def test_a_child_ends_after_its_last_result():
    campaign = Campaign(
        lambda seed, tell: (seed, os.getpid()), crashed, is_last=lambda result: result[0] == 1
    )
    pids = dict(campaign.results(range(4), 1))
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_nothing_begins_after_the_time():
    campaign = Campaign(lambda seed, tell: time.sleep(0.2) or seed, crashed, batch=2)
    assert len(list(campaign.results(range(100), 1, seconds=0.5))) < 10


def test_seeds_of_the_command_line(monkeypatch):
    campaign = Campaign(lambda seed, tell: seed, crashed, today=20)
    command = Command("name", "text", campaign)
    monkeypatch.setattr(sys, "argv", ["name", "7", "3"])
    command.parse()
    assert command.seeds() == range(7, 10)
    assert list(command.results(command.seeds())) == [7, 8, 9]
    assert command.summary("models") == "models from seed 7 on in 0 s"
    monkeypatch.setattr(sys, "argv", ["name", "--today", "5"])
    command.parse()
    assert len(command.seeds()) == 20 and command.seeds()[0] > 7 * 10**10
