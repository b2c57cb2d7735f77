"""Measures the prose of the project: pages, comments, docstrings, help texts, key texts.

Each part has four measures: *what* in 1000 words, dialect words in 1000 words, the share of
sentences with more than 40 words, and, for pages, examples in 1000 words. Code, tables of figures,
URLs and generated pages are excluded; the sources of generated pages are measured.

As a program it prints a table of all parts, or of the given files and folders, and the ten worst
sentences::

    python tests/python/prose.py
    python tests/python/prose.py docs/guide README.md --worst 20

A line with ``prose: exempt (REASON)`` in a comment is skipped. Example for a page::

    The RFC says "what is lost is sent again". <!-- prose: exempt (quotation of the RFC) -->
"""

from __future__ import annotations

import argparse
import ast
import bisect
import io
import re
import tokenize
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
LONG = 40
"""A sentence with more words is long."""
SHORT = 6
"""Headings and table cells with fewer words do not count in the share of long sentences."""

EXEMPT = re.compile(r"prose: exempt \([^)]{8,}\)")
WHAT = re.compile(r"\bwhat(?:ever)?\b", re.IGNORECASE)
EXAMPLE = re.compile(r"\b(?:for example|for instance|e\.g\.|examples?:)", re.IGNORECASE)

# From the glossary's "not" column, for words without another use here.
DIALECT = (
    r"anew",
    r"asleep",
    r"at the (?:most|least)",
    r"awake",
    r"bas",
    r"beside",
    r"both ways",
    r"brings?|brought",
    r"dark(?! (?:theme|mode))",
    r"dear(?:er|est)?",
    r"far end|near end",
    r"flying",
    r"goes (?:out|again)|go (?:out|again)|went (?:out|again)",
    r"houses?",
    r"(?:is|are) there(?! (?:a|an|any|no|one|more|some)\b)",
    r"(?:is|are) to be",
    r"lays?|laid",
    r"lives",
    r"of which|that which|those (?:of|that|who|which|in|with)",
    r"on (?:its|their|the) way|under way",
    r"re-?sent|sent again|send again|sends again",
    r"rests?(?= (?:for|until|while))|at rest",
    r"rooms",
    r"so (?:many|much)(?! (?:as|that)\b)",
    r"stands?|stood",
    r"tells?|told",
    r"way back|way there|way out",
    r"wires",
    r"whoever|whichever",
    r"worlds?",
)
DIALECT_WORD = re.compile(rf"\b(?:{'|'.join(DIALECT)})\b", re.IGNORECASE)

# Pages written by a command, or without prose.
GENERATED = {"docs/keys.md", "docs/reproductions.md", "docs/coverage.md", "docs/gallery.md"}

# Pages not yet rewritten; the aims hold for all others. Pages may only be removed.
TO_REWRITE = {"docs/guide/installing.md"}


@dataclass(frozen=True)
class Numbers:
    """Measured values of a text, or their limits."""

    what: float
    dialect: float
    long_percent: float
    examples: float | None = None

    def exceeded(self, measured: Numbers) -> list[str]:
        """Describe the limits that the measured values exceed."""
        pairs = [
            ("what in 1000 words", measured.what, self.what),
            ("dialect words in 1000 words", measured.dialect, self.dialect),
            ("% of sentences over 40 words", measured.long_percent, self.long_percent),
        ]
        broken = [f"{of:.2f} {name}, limit {most}" for name, of, most in pairs if of > most]
        few = None not in (self.examples, measured.examples)
        if few and (measured.examples or 0) < (self.examples or 0):
            broken.append(f"{measured.examples:.2f} examples in 1000 words, limit {self.examples}")
        return broken


DOCS_AIM = Numbers(what=2, dialect=4, long_percent=3, examples=1.5)

# The limit of each part: its aim, or the last value until the aim is met. A limit may only fall
# (for examples, rise). The aim of all but pages is 1.5, 4 and 3.
LIMITS = {
    "docs": DOCS_AIM,
    "docs, rewritten": DOCS_AIM,
    "key texts": Numbers(what=0, dialect=0.4, long_percent=0),
    "help texts": Numbers(what=0, dialect=0, long_percent=0),
    "sources of generated pages": Numbers(what=1.5, dialect=4, long_percent=3),
    "Rust comments": Numbers(what=1.5, dialect=4, long_percent=3),
    "Python docstrings": Numbers(what=1.5, dialect=4, long_percent=3),
}


@dataclass(frozen=True)
class Block:
    """A paragraph, list item, table cell, comment or docstring paragraph."""

    path: str
    line: int
    text: str
    is_example: bool = False


@dataclass
class Sentence:
    path: str
    line: int
    text: str
    words: int
    faults: list[str]

    @property
    def badness(self) -> float:
        """Number of faults, plus a tenth for each word above the limit."""
        return len(self.faults) + max(0, self.words - LONG) / 10


@dataclass
class Part:
    """Counts of a text."""

    words: int = 0
    what: int = 0
    dialect: int = 0
    examples: int = 0
    sentences: list[Sentence] = field(default_factory=list)

    def add(self, blocks: Iterable[Block]) -> Part:
        for block in blocks:
            if block.is_example:
                self.examples += 1
                continue
            self.examples += len(EXAMPLE.findall(block.text))
            for sentence in sentences(block):
                self.words += sentence.words
                what = len(WHAT.findall(sentence.text))
                self.what += what
                self.dialect += len(sentence.faults) - what
                self.sentences.append(sentence)
        return self

    def numbers(self) -> Numbers:
        thousands = max(self.words, 1) / 1000
        long = sum(sentence.words > LONG for sentence in self.sentences)
        full = sum(sentence.words >= SHORT for sentence in self.sentences)
        return Numbers(
            self.what / thousands,
            self.dialect / thousands,
            100 * long / max(full, 1),
            self.examples / thousands if self.words else None,
        )


def sentences(block: Block) -> Iterator[Sentence]:
    text = re.sub(
        r"(`+)(?!`).*?(?<!`)\1(?!`)",
        lambda code: "Code" + "\n" * code[0].count("\n"),
        block.text,
        flags=re.DOTALL,
    )
    text = re.sub(r"!?\[([^\]]*)\]\([^)\s]*\)", r"\1", text)
    text = re.sub(r"<?https?://\S+", "", text)
    guarded = re.sub(
        r"\b(e\.g|i\.e|et al|cf|vs|approx|[Ss]ect?|[Ff]ig|[Ee]q|[Nn]o|pp?|ed)\.",
        lambda found: found[0].replace(".", "\0"),
        text,
    )
    start = 0
    for end in [*re.finditer(r"(?<=[.!?])[\"')*\]]*\s+(?=[\"'(*\[]*[A-Z0-9])", guarded), None]:
        piece = guarded[start : end.start() if end else None]
        leading = len(piece) - len(piece.lstrip())
        line = block.line + guarded.count("\n", 0, start + leading)
        start = end.end() if end else len(guarded)
        shown = " ".join(piece.replace("\0", ".").split())
        words = len(re.findall(r"[A-Za-z][\w'-]*", shown))
        if words:
            faults = [found[0] for found in WHAT.finditer(shown)]
            faults += [found[0] for found in DIALECT_WORD.finditer(shown)]
            yield Sentence(block.path, line, shown, words, faults)


def paragraphs(path: str, lines: Iterable[tuple[int, str]]) -> Iterator[Block]:
    """Yield the blocks of Markdown-like lines (number, text): paragraphs, items, cells, code."""
    held: list[str] = []
    first = 0
    fence = ""
    indented = False
    blank = True
    in_item = False

    def ended() -> Iterator[Block]:
        if held:
            yield Block(path, first, "\n".join(held))
        held.clear()

    for number, line in lines:
        bare = line.strip()
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        if mark:
            yield from ended()
            fence = mark[1]
            if not bare[len(mark[1]) :].startswith("{"):
                yield Block(path, number, "", is_example=True)
            continue
        if not bare or EXEMPT.search(line) or re.fullmatch(r"[-=~^|: ]+", bare):
            yield from ended()
            blank = True
            indented = indented and not bare
            continue
        if re.match(r" {4}|\t", line) and (indented or blank) and not in_item:
            if not indented:
                yield Block(path, number, "", is_example=True)
            indented = True
            continue
        indented = False
        in_item = bool(re.match(r"\s*(?:[-*+]|\d+\.)\s", line)) or (
            in_item and line.startswith(" ")
        )
        blank = False
        if bare.startswith("|"):
            yield from ended()
            yield from cells(path, number, bare)
            continue
        if re.match(r"#+ |(?:[-*+]|\d+\.)\s", bare):
            yield from ended()
        if not held:
            first = number
        held.append(re.sub(r"^#+ |^(?:[-*+]|\d+\.)\s+|<!--.*?-->", "", bare))
        if bare.startswith("#"):
            yield from ended()
    yield from ended()


def cells(path: str, number: int, row: str) -> Iterator[Block]:
    """Yield a table row's cells; none for a row of mostly numbers."""
    texts = [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip("|"))]
    texts = [text for text in texts if text]
    figures = sum(bool(re.match(r"[*`+<>≤~-]*[\d.]", text)) for text in texts)
    if 2 * figures >= max(len(texts), 1):
        return
    for text in texts:
        yield Block(path, number, text)
        if re.fullmatch(r"(?:an )?examples?", text, re.IGNORECASE):
            yield Block(path, number, "", is_example=True)


def page(file: Path) -> Iterator[Block]:
    text = re.sub(
        r"<!--(?!\s*prose:).*?-->",
        lambda comment: "\n" * comment[0].count("\n"),
        file.read_text(),
        flags=re.DOTALL,
    )
    yield from paragraphs(name(file), enumerate(text.splitlines(), start=1))


RUST = re.compile(
    r"""b?r(?P<hash>\#*)".*?"(?P=hash)|b?"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\\n])'"""
    r"""|(?P<comment>//[^\n]*)|/\*.*?\*/""",
    re.DOTALL,
)


def rust_comments(file: Path, want_help: bool = False) -> Iterator[Block]:
    """Yield the blocks of a Rust file's comments, or of its help texts."""
    text = file.read_text()
    runs: list[list[tuple[int, str]]] = []
    numbers = _line_numbers(text)
    for found in RUST.finditer(text):
        comment = found["comment"]
        if comment is None:
            continue
        number = numbers(found.start())
        alone = not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip()
        line = (number, re.sub(r"^//[/!]? ?", "", comment))
        if alone and runs and runs[-1][-1][0] == number - 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    lines = text.splitlines()
    for run in runs:
        after = lines[run[-1][0]].strip() if run[-1][0] < len(lines) else ""
        is_help = after.startswith(("#[arg(", "#[command("))
        if is_help == want_help:
            yield from paragraphs(name(file), run)


def rust_strings(file: Path) -> Iterator[Block]:
    """Yield a Rust file's string literals with four words or more."""
    text = file.read_text()
    numbers = _line_numbers(text)
    for found in RUST.finditer(text):
        literal = found[0]
        if literal.startswith('"') and len(re.findall(r"[a-z]{2,}", literal)) >= 4:
            note = re.sub(r"\\\n\s*", "", literal[1:-1]).replace('\\"', '"')
            yield Block(name(file), numbers(found.start()), note)


def _line_numbers(text: str) -> Callable[[int], int]:
    ends = [found.start() for found in re.finditer("\n", text)]

    return lambda at: bisect.bisect_left(ends, at) + 1


def python_prose(file: Path) -> Iterator[Block]:
    """Yield the blocks of a Python file's docstrings and comments."""
    text = file.read_text()
    for node in ast.walk(ast.parse(text)):
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            first = node.body[0]
            yield from docstring(file, first.lineno, ast.get_docstring(node) or "")
    run: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or token.string.startswith(("#!", "# noqa", "# type")):
            continue
        if run and run[-1][0] != token.start[0] - 1:
            yield from paragraphs(name(file), run)
            run = []
        run.append((token.start[0], re.sub(r"^#:? ?", "", token.string)))
    yield from paragraphs(name(file), run)


def docstring(file: Path, line: int, text: str) -> Iterator[Block]:
    """Yield the blocks of a docstring without examples and numpydoc types."""
    kept: list[tuple[int, str]] = []
    literal = False
    example = False
    for number, each in enumerate(text.splitlines(), start=line):
        bare = each.strip()
        example = bare.startswith((">>>", "...")) or (example and bool(bare))
        if literal and bare and not each.startswith(" "):
            literal = False
        typed = re.fullmatch(r"[\w.*, ]+ : .*", bare)
        # Text that numpydoc indents under a name is prose, not code.
        kept.append((number, "" if example or literal or typed else bare))
        literal = literal or bare.endswith("::")
    yield from paragraphs(name(file), kept)


def python_strings(file: Path, keywords: tuple[str, ...] = ()) -> Iterator[Block]:
    """Yield a Python file's strings with four words or more, all or passed as these keywords."""
    tree = ast.parse(file.read_text())
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    if keywords:
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.keyword))
        roots: Iterable[ast.AST] = [call.value for call in calls if call.arg in keywords]
    else:
        roots = [tree]
    seen: set[int] = set()
    for root in roots:
        for node in ast.walk(root):
            if id(node) in seen or id(node) in docs:
                continue
            if isinstance(node, ast.JoinedStr):
                pieces = [each for each in node.values if isinstance(each, ast.Constant)]
                seen.update(map(id, pieces))
                text = " X ".join(str(each.value) for each in pieces)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            seen.add(id(node))
            if len(re.findall(r"[a-z]{2,}", text)) >= 4:
                yield from paragraphs(name(file), enumerate(text.splitlines(), start=node.lineno))


def toml_strings(file: Path) -> Iterator[Block]:
    """Yield the titles and explanations of a list of studies."""
    lines = file.read_text().splitlines()
    for study in tomllib.loads(file.read_text())["study"]:
        for text in (study["title"], study["shows"]):
            number = next(at for at, line in enumerate(lines, start=1) if text[:30] in line)
            yield Block(name(file), number, text)


def name(file: Path) -> str:
    """Return a file's path from the root."""
    return str(file.resolve().relative_to(ROOT))


def files(*folders: str, ending: str) -> list[Path]:
    """Return the files below the folders, except built and installed ones."""
    return [
        file
        for folder in folders
        for file in sorted((ROOT / folder).rglob(f"*.{ending}"))
        if not {"target", ".venv"} & set(file.relative_to(ROOT).parts)
    ]


def pages() -> list[Path]:
    first = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")]
    every = [*first, *files("docs", ending="md")]
    return [file for file in every if name(file) not in GENERATED]


def blocks_of(file: Path) -> Iterator[Block]:
    if file.suffix == ".md":
        yield from page(file)
    elif file.suffix == ".rs":
        yield from rust_comments(file)
        yield from rust_comments(file, want_help=True)
        if "keys" in file.parts:
            yield from rust_strings(file)
    elif file.suffix == ".py":
        yield from python_prose(file)
        yield from python_strings(file, ("help", "epilog"))
        if "papers" in file.parts:
            yield from python_strings(file)


def parts() -> dict[str, Part]:
    rust = files("crates", "examples", "benches", ending="rs")
    python = files("python", "tests", "docs", "examples", "packaging", ending="py")
    cli = files("python/ropewalk/cli", ending="py")
    keys = files("crates/scenario/src/keys", ending="rs")
    sources = [
        *files("python/ropewalk/papers", ending="py"),
        *files("docs", ending="py"),
    ]
    written = pages()
    every = {
        "docs": (each for file in written for each in page(file)),
        "docs, rewritten": (
            each for file in written if name(file) not in TO_REWRITE for each in page(file)
        ),
        "key texts": (each for file in keys for each in rust_strings(file)),
        "help texts": (
            *(each for file in cli for each in python_strings(file, ("help", "epilog"))),
            *(each for file in rust for each in rust_comments(file, want_help=True)),
        ),
        "sources of generated pages": (
            *(each for file in sources for each in python_strings(file)),
            *toml_strings(ROOT / "docs/gallery.toml"),
        ),
        "Rust comments": (each for file in rust for each in rust_comments(file)),
        "Python docstrings": (each for file in python for each in python_prose(file)),
    }
    return {part: Part().add(blocks) for part, blocks in every.items()}


def table(measured: dict[str, Part]) -> Iterator[str]:
    heads = f"{'words':>8} {'what':>6} {'dialect':>8} {'long %':>7} {'examples':>9}"
    yield f"{'in 1000 words':<28} {heads}"
    for part, counted in measured.items():
        of = counted.numbers()
        rates = f"{of.what:6.2f} {of.dialect:8.2f} {of.long_percent:7.1f} {of.examples or 0:9.2f}"
        yield f"{part:<28} {counted.words:8,} {rates}"


def worst(measured: Iterable[Part], most: int) -> list[str]:
    """Return the sentences with the most faults, each with its place."""
    every = [sentence for part in measured for sentence in part.sentences if sentence.badness]
    every.sort(key=lambda sentence: -sentence.badness)
    return [
        f"{each.path}:{each.line}: {each.words} words"
        f"{''.join(f', {fault!r}' for fault in each.faults)}\n    {each.text[:160]}"
        for each in every[:most]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the prose of files, or of the project.")
    parser.add_argument("path", nargs="*", type=Path, help="files or folders (all)")
    parser.add_argument("--worst", type=int, default=10, help="how many places to print (10)")
    given = parser.parse_args()
    measured = {}
    for path in given.path:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in inside:
            part = Part().add(blocks_of(file))
            if part.words:
                measured[name(file)] = part
    if len(measured) > 1:
        every = (each for path in measured for each in blocks_of(ROOT / path))
        measured["all"] = Part().add(every)
    if not given.path:
        measured = parts()
    print(*table(measured), sep="\n")
    kept = [part for title, part in measured.items() if title not in {"all", "docs, rewritten"}]
    for each in worst(kept, given.worst):
        print(each)


if __name__ == "__main__":
    main()
