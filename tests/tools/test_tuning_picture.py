"""docs/tuning.svg is what tools/tuning_picture.py draws of the stored records."""

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]


def test_the_picture_is_of_the_stored_records():
    spec = importlib.util.spec_from_file_location("tuning_picture", ROOT / "tools/tuning_picture.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    text = tool.picture()
    assert text == (ROOT / "docs/tuning.svg").read_text(), "python tools/tuning_picture.py draws it anew"
    circles = ElementTree.fromstring(text).findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == len((ROOT / "docs/tuning.jsonl").read_text().splitlines())
    assert (ROOT / "docs/tuning.md").read_text().count("](tuning.svg)") == 1
