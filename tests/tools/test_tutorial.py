"""tools/tutorial.py makes a page of a script's text, code and output."""

import tutorial

SCRIPT = '''"""A title.

An introduction.
"""

x = 5

# ## A heading
#
# Some text. The output depends on the machine.

print(x)

# More text.


def f():
    # a comment of code
    return 7


print(f"{f()} us, {f()} loops")
'''

PAGE = """# 09. A title

Written by `tools/tutorial.py` from [09_script.py](../../examples/09_script.py); [all pages](../index.md).

An introduction.

```python
x = 5
```

## A heading

Some text. The output depends on the machine.

```python
print(x)
```

```text
5
```

More text.

```python
def f():
    # a comment of code
    return 7


print(f"{f()} us, {f()} loops")
```

```text
7 us, 7 loops
```
"""


def test_a_script_becomes_a_page(tmp_path):
    script = tmp_path / "09_script.py"
    script.write_text(SCRIPT)
    assert tutorial.page(script) == PAGE


def test_measured_numbers_and_outputs_of_the_machine_are_not_compared():
    other = PAGE.replace("```text\n5\n", "```text\nother\n").replace("7 us", "12.5 us")
    assert tutorial.steady(other) == tutorial.steady(PAGE)


def test_other_numbers_are_compared():
    assert tutorial.steady(PAGE.replace("7 loops", "8 loops")) != tutorial.steady(PAGE)
    assert tutorial.steady(PAGE.replace("x = 5", "x = 6")) != tutorial.steady(PAGE)


def test_a_page_is_written_only_if_more_than_measured_numbers_differ(tmp_path):
    file = tmp_path / "page.md"
    for text, kept in ((PAGE, PAGE), (PAGE.replace("7 us", "8 us"), PAGE), (PAGE + "x\n", PAGE + "x\n")):
        tutorial.write(file, text)
        assert file.read_text() == kept
