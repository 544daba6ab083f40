# SPDX-License-Identifier: GPL-2.0
"""Documents lead somewhere: each link names a file and a heading that exist. The README is short, and its picture is
the one that `make picture` draws."""
import re
import subprocess

import pytest

from cli.test_tree import tracked
from netns.testbed import ROOT

DOCUMENTS = sorted(name for name in tracked() if name.endswith(".md"))


def prose(name):
    """A document without what is quoted in it."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / name).read_text(), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(name):
    """Of a document's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / name).read_text(), flags=re.M | re.S)
    headings = re.findall(r"^#+ +(.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(name)):
        if re.match(r"https?:|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = ((ROOT / name).parent / path).resolve() if path else ROOT / name
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.relative_to(ROOT)), link


def test_the_readme_is_short_and_leads_to_every_page():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150
    found, ahead = set(), ["README.md"]
    while ahead:
        name = ahead.pop()
        found.add(name)
        for link in re.findall(r"\]\(([^)\s#]+\.md)", prose(name)):
            target = str(((ROOT / name).parent / link).resolve().relative_to(ROOT))
            ahead += [target] if target in DOCUMENTS and target not in found else []
    assert {page for page in DOCUMENTS if page.startswith("docs/")} <= found


def test_the_picture_is_drawn_from_its_text():
    text = (ROOT / "docs/pipeline.txt").read_text()
    drawn = subprocess.run(["python3", ROOT / "docs/pipeline.py"], input=text, capture_output=True, text=True,
                           check=True).stdout
    assert drawn == (ROOT / "docs/pipeline.svg").read_text(), "make picture"
