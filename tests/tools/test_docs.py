"""The pages: each stands in docs/index.md in one line, every link leads somewhere, and terms have one name."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
INDEX = (DOCS / "index.md").read_text()
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
TEXTS = [
    ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "STYLE.md")
]
PAGES = sorted(DOCS.rglob("*.md"))


def line_of(page: Path) -> str:
    """How the line of a page begins; that of a decision has its title."""
    if page.parent.name != "decisions":
        return f"- [{page.name}]({page.relative_to(DOCS)}): "
    title = re.sub(r"^# \d+[.:] ", "", page.read_text().splitlines()[0])
    return f"- [{page.name[:4]}](decisions/{page.name}): {title}"


def test_the_index_has_a_line_for_each_page():
    lines = INDEX.splitlines()
    pages = [page for page in PAGES if page.name != "index.md"]
    missing = [line_of(page) for page in pages if sum(line.startswith(line_of(page)) for line in lines) != 1]
    assert missing == [], "docs/index.md lacks these lines"


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere():
    broken = []
    for page in [*TEXTS, *PAGES]:
        text = re.sub(r"^```.*?^```$|`[^`\n]+`(?!\])", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target, anchor in LINK.findall(text):
            if "://" in target:
                continue
            file = page.parent / target
            if not file.exists() or (anchor and anchor[1:] not in anchors(file)):
                broken.append(f"{page.relative_to(ROOT)}: {target}{anchor}")
    assert broken == []


# instead of iterations, L1 and L2; measured calls may alternate
COINED = re.compile(
    r"\b(first|second|third) cache\b|\bturns of (a |the )?loops?\b|\beach turn\b", re.IGNORECASE
)


def test_terms_are_those_of_the_glossary():
    found = []
    for page in [*TEXTS, *PAGES]:
        for number, line in enumerate(page.read_text().splitlines(), 1):
            if COINED.search(line):
                found.append(f"{page.relative_to(ROOT)}:{number}: {line.strip()[:120]}")
    assert found == []


def test_terms_of_the_glossary_stand_once():
    terms = re.findall(r"^\| ([^|]+?) \| [^|]+ \|$", (DOCS / "glossary.md").read_text(), re.MULTILINE)
    names = [
        name for term in terms if term != "term" and not term.startswith("-") for name in term.split(", ")
    ]
    assert len(names) == len(set(names)) and len(names) > 50


def test_the_map_names_files_that_are_there():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    paths = re.findall(r"`([\w./]+/[\w./]+)`", text)
    roots = [ROOT, ROOT / "tilewright", ROOT / "python/tilewright", ROOT / "tilewright/schedule"]
    assert len(paths) > 50
    assert [path for path in paths if not any((root / path).exists() for root in roots)] == []


def test_the_map_has_every_layer_and_room():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    listed = (ROOT / "tilewright/layers.txt").read_text().splitlines()
    names = [line.strip() for line in listed if line and not line.startswith("#") and line.strip() != "."]
    first_cells = " ".join(re.findall(r"^\| ([\w, /]+) \|", text, re.MULTILINE))
    there = [name for name in names if any((ROOT / "tilewright").glob(f"**/{name}/"))]
    assert [name for name in there if not re.search(rf"\b{name}\b", first_cells)] == []
