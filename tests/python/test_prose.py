"""Pages, comments, docstrings and help texts meet their prose limits."""

import pytest

import prose


@pytest.fixture(scope="module")
def measured():
    return prose.parts()


@pytest.mark.parametrize("part", prose.LIMITS)
def test_part_stays_within_its_limits(measured, part):
    worst = "\n".join(prose.worst([measured[part]], 10))
    assert prose.LIMITS[part].exceeded(measured[part].numbers()) == [], worst


def test_every_part_has_limits_and_words(measured):
    assert set(measured) == set(prose.LIMITS)
    words = {part: counted.words for part, counted in measured.items()}
    assert words["docs"] > 20_000
    assert words["Rust comments"] > 50_000
    assert words["Python docstrings"] > 20_000
    assert min(words[part] for part in words if part != "docs, rewritten") > 1_000


def test_every_page_to_rewrite_exists():
    assert [page for page in prose.TO_REWRITE if not (prose.ROOT / page).exists()] == []


def counted(text):
    lines = enumerate(text.splitlines(), start=1)
    return prose.Part().add(prose.paragraphs("page.md", lines))


def test_prose_counts_words_with_their_line():
    part = counted("A link.\n\nIt stands\nbeside what is dear.\n")
    assert (part.words, part.what, part.dialect) == (8, 1, 3)
    faulty = [sentence for sentence in part.sentences if sentence.faults]
    assert [(sentence.line, sentence.faults) for sentence in faulty] == [
        (3, ["what", "stands", "beside", "dear"])
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```toml\nwhat = 1\n```\n",
        "    ropewalk what\n",
        "`what`\n",
        "https://example.org/what\n",
        "[link](what.md)\n",
        "| what | 1 | 2.5 |\n",
        "| --- | --- |\n",
        "What? <!-- prose: exempt (the title of a paper) -->\n",
    ],
)
def test_code_figures_addresses_and_exempt_lines_are_not_counted(text):
    assert counted(text).what == 0


def test_an_exemption_without_a_reason_has_no_effect():
    assert counted("What? <!-- prose: exempt () -->\n").what == 1


def test_examples_are_code_blocks_phrases_and_columns_of_examples():
    assert counted("Text.\n\n    one\n    two\n").examples == 1
    assert counted("```toml\na = 1\n```\n\nFor example, this. E.g. that.\n").examples == 3
    assert counted("| key | example |\n| --- | --- |\n| `a` | `b` |\n").examples == 1


def test_a_sentence_of_41_words_is_long_and_an_abbreviation_ends_none():
    forty = " ".join(["word"] * 40)
    assert counted(f"{forty}.\n").numbers().long_percent == 0
    assert counted(f"{forty} word.\n").numbers().long_percent == 100
    assert counted(f"{forty}. Word by word, so it goes.\n").numbers().long_percent == 0
    assert len(counted("As Elahi et al. Say, e.g. Here. Then there.\n").sentences) == 2


def test_limits_name_each_value_that_exceeds_them():
    limits = prose.Numbers(what=2, dialect=4, long_percent=3, examples=1.5)
    assert limits.exceeded(limits) == []
    assert len(limits.exceeded(prose.Numbers(2.1, 4.1, 3.1, 1.4))) == 4


def test_comments_help_texts_and_docstrings_are_measured_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    rust = tmp_path / "options.rs"
    lines = [
        "struct Options {",
        "    /// What the option does.",
        "    #[arg(long)]",
        "    one: u8, // beside",
        '    two: "// what",',
        "}",
    ]
    rust.write_text("\n".join(lines))
    assert prose.Part().add(prose.rust_comments(rust, want_help=True)).what == 1
    comments = prose.Part().add(prose.rust_comments(rust))
    assert (comments.what, comments.dialect, comments.words) == (0, 1, 1)
    python = tmp_path / "module.py"
    python.write_text(
        'def one():\n    """Say what.\n\n    >>> what\n    """\n    # beside\n    return "what"\n'
    )
    docstrings = prose.Part().add(prose.python_prose(python))
    assert (docstrings.what, docstrings.dialect, docstrings.words) == (1, 1, 3)
