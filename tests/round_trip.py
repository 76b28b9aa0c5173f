"""pytest --round-trip: programs that tests build are the same after printing and parsing, with the same hash elsewhere.

Run as a program it is the other process: programs as JSON texts in, a line each, their hashes out.
"""

import functools
import json
import subprocess
import sys

import tilewright
from tilewright.ir import assert_structural_equal, structural_hash
from tilewright.ir.module import wrapped
from tilewright.script import parse

MOST_CHARACTERS = 1_000_000  # of a text: more are weights


class RoundTrip:
    """Looks at what is given to build and build_graph; each program once."""

    def __init__(self):
        self.hashes = set()
        self.elsewhere = None
        core = tilewright._core
        for name in ("build", "build_graph"):
            setattr(core, name, self.checking(getattr(core, name)))

    def checking(self, build):
        @functools.wraps(build)
        def checked(program, *args):
            self.check(wrapped(program))
            return build(program, *args)

        return checked

    def check(self, program):
        own_hash = str(structural_hash(program))
        if own_hash in self.hashes:
            return
        self.hashes.add(own_hash)
        text = program.script(show_meta=True)
        if len(text) > MOST_CHARACTERS:
            return
        assert_structural_equal(parse(text, check_well_formed=False), program)
        assert self.hash_elsewhere(text) == own_hash, text

    def hash_elsewhere(self, text):
        if not self.elsewhere:
            words = [sys.executable, __file__]
            self.elsewhere = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        print(json.dumps(text), file=self.elsewhere.stdin, flush=True)
        return self.elsewhere.stdout.readline().strip()


if __name__ == "__main__":
    for line in sys.stdin:
        print(structural_hash(parse(json.loads(line), check_well_formed=False)), flush=True)
