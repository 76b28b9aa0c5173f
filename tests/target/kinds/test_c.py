"""Target kind c: its attributes are read and printed, and those that cannot be are refused."""

import pytest

import tilewright


def test_attributes_are_read_and_printed():
    target = tilewright.Target("c -mcpu=haswell -num-cores=3 -mattr=+avx2,-fma")
    assert target.kind == "c"
    assert list(target.keys) == ["cpu"]
    assert {name: target.attrs[name] for name in ("mcpu", "num-cores")} == {"mcpu": "haswell", "num-cores": 3}
    assert list(target.attrs["mattr"]) == ["+avx2", "-fma"]
    tilewright.ir.assert_structural_equal(tilewright.Target(str(target)), target)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("-num-cores=0", "error: target c: -num-cores must be 1 to 1024, but is 0"),
        ("-num-cores=many", 'error: target c: attribute "num-cores" must be an integer, but is "many"'),
        ("-fp-contract=on", 'error: target c: -fp-contract is "on", expected "fast" or "off"'),
        ("-arch=sm_80", 'error: target c has no attribute "arch"'),
        (
            "-l2_cache_size_bytes=7",
            "error: target c: -l2_cache_size_bytes must be 1024 to 1073741824 bytes, but is 7",
        ),
    ],
)
def test_refused(options, text):
    with pytest.raises(tilewright.UserError) as error:
        tilewright.Target(f"c {options}")
    assert str(error.value).splitlines()[0] == text
