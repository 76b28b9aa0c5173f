"""Tests compile what they test: no code comes from a cache, unless a test says where one is."""

import os

os.environ.setdefault("TILEWRIGHT_CACHE_MB", "0")
