"""pytest --round-trip: programs that tests build are the same after printing and parsing in another process.

Run as a program it is the other process: programs as JSON texts in, a line each, the hashes of what they say out.
"""

import functools
import json
import subprocess
import sys
import threading

import tilewright
from tilewright import _guard
from tilewright.frontend.onnx import from_onnx
from tilewright.ir import assert_structural_equal, structural_hash
from tilewright.ir.module import wrapped
from tilewright.script import parse

MOST_CHARACTERS = 1_000_000  # of a text: more are weights


class RoundTrip:
    """Looks at what build and build_graph take; each program once.  What they refuse may be no program at all."""

    def __init__(self):
        self.hashes = set()
        self.elsewhere = None
        self.lock = threading.Lock()
        self.is_hand_made = False
        core = tilewright._core
        # this file stands between build and its caller: a wrong argument is none of a user's function
        _guard._NOT_THE_USERS = (*_guard._NOT_THE_USERS, __file__)
        for name in ("build", "build_graph"):
            setattr(core, name, self.checking(getattr(core, name)))

    def pytest_runtest_setup(self, item):
        self.is_hand_made = item.get_closest_marker("hand_made") is not None

    def checking(self, build):
        @functools.wraps(build)
        def checked(program, *args):
            built = build(program, *args)
            # build_graph takes what an ONNX model is, too
            self.check(from_onnx(program) if isinstance(program, str | bytes) else wrapped(program))
            return built

        return checked

    def check(self, program):
        if self.is_hand_made:
            return
        own_hash = str(structural_hash(program))
        if own_hash in self.hashes:
            return
        self.hashes.add(own_hash)
        text = program.script(show_meta=True)
        if len(text) > MOST_CHARACTERS or self.hash_elsewhere(text) == own_hash:
            return  # programs of one hash are one program
        assert_structural_equal(parse(text, check_well_formed=False), program)
        raise AssertionError(f"equal here, but another process has another hash for\n{text}")

    def hash_elsewhere(self, text):
        with self.lock:  # tuning builds in several threads
            if not self.elsewhere:
                words = [sys.executable, __file__]
                pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
                self.elsewhere = subprocess.Popen(words, text=True, **pipes)
            print(json.dumps(text), file=self.elsewhere.stdin, flush=True)
            return self.elsewhere.stdout.readline().strip()


def hash_of(text: str) -> str:
    try:
        return structural_hash(parse(text, check_well_formed=False))
    except tilewright.errors.Error:
        return "no program"


if __name__ == "__main__":
    for line in sys.stdin:
        print(hash_of(json.loads(line)), flush=True)
