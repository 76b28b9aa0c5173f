"""Adapters: each module here lets one library run the cases of cases.toml.

An adapter has `version()`, `set_threads(n)`, `function(name, arrays)` and `model(path, inputs)`; the last two return a
callable without arguments, ready to be timed, or None if the library does not support the case.  Importing an adapter raises
ImportError where its library is not installed.
"""
