"""Tables find their places in the pages."""

import re
from collections import Counter

from tables import PAGES


def test_each_table_has_one_place() -> None:
    pages = PAGES.glob("*.md")
    names = [
        name for page in pages for name in re.findall("<!-- table (.*) -->", page.read_text())
    ]
    assert len(names) > 20
    assert [name for name, count in Counter(names).items() if count > 1] == []
