"""What no step of mending touches, and what each changes; most are shapes in `golden/writer`."""

from __future__ import annotations

import pytest
from growth import growth

from mkdocs_contentgen.writer.answers import read_answer
from mkdocs_contentgen.writer.reading import mend, trim

MENDED = [
    # thinking, which is no remark
    ("<think>", "", []),
    ("# T\n\nText.\n\n```\n<think>\nhm\n</think>\n42\n```\n\nMore.", None, []),
    ("Text about `<|channel|>` and `<|endoftext|>`.", None, []),
    # fences
    ("```\r\n# T\r\n\r\nText.\r\n```\r\n", "# T\n\nText.", ["fence"]),
    ("Run this:\n\n```\nmake\n```\n\nThen wait.", None, []),
    ("Text.\n\n```\n# make\n```\n\n## A\n\nText.", None, []),
    ("Run this:\n```\n# all of it\nmake\n```\nThen wait.", None, []),
    ("Opening.\n\n## Section\n\nText.", None, []),
    # before and after
    ("Sure!\n# T\n\nText.", "# T\n\nText.", ["before"]),
    ("Sure!\n# T\n\n```\n# make\n```", "# T\n\n```\n# make\n```", ["before"]),
    ("How to install it, and how to use it.\n\n# Install\n\nText.\n\n# Use\n\nText.", None, []),
    ("Here is what a cache does: it keeps results.\n\nMore.", None, []),
    ("Text.\n\nLength: about 400 words.", "Text.", ["after"]),
    ("Text.\n\nNote: restart the server.", None, []),
    ("Text.\n\n*End of article*", "Text.", ["after"]),
    ("Text.\n\nEnd of life of the version was in October.", None, []),
    ("Text.\n\nPlease note that the server has to be restarted.", None, []),
    ("Text.\n\nFeel free to open an issue.", None, []),
    ("Text.\n\nWord count is one of the figures.", None, []),
    ("Text.\n\n```\nmake\n\nlet me know\n```", None, []),
    ("Word count: 400", None, []),
    # dashes and front matter
    ("---\nText.\n---", "Text.", ["dashes"]),
    ("---\ntitle: A\n---\n# B\n\nText.", "# B\n\nText.", ["front matter"]),
    ("Text.\n\n---\n\nMore.", None, []),
    # HTML
    ("A <b>bold</b> word<br>and <i>more</i>.", "A **bold** word  \nand *more*.", ["HTML"]),
    ("<h2>A</h2><p>Text.</p><script>evil()</script>", "## A\n\nText.", ["HTML"]),
    ("Text <script>evil()</script><style>x</style>here.", "Text here.", ["HTML"]),
    ("<iframe src='x'>evil</iframe>Text.", "Text.", ["HTML"]),
    ("The tag <script> is code.\n\nMore.", None, []),
    (
        "A cell | a\n---|---\na \\| b | c<br>d",
        "| A cell | a |\n| --- | --- |\n| a \\| b | c d |",
        ["HTML"],
    ),
    (
        r"A <b>path</b> with `C:\*` and \*stars\*, `<b>`.",
        r"A **path** with `C:\*` and \*stars\*, `<b>`.",
        ["HTML"],
    ),
    (f"{'<div>' * 5000}x{'</div>' * 5000}", None, []),
    ("Text <!-- hidden -->here.", "Text here.", ["HTML"]),
    ("İİİİ <SCRIPT>evil()</SCRIPT >İyi.", "İİİİ İyi.", ["HTML"]),
    (
        "A <stylesheet> is text, and a </style> too.",
        "A <stylesheet> is text, and a  too.",
        ["HTML"],
    ),
    ("The element `<div>` and a < b > c, List<Text>.", None, []),
    ("```html\n<div>x</div>\n```\n\nText.", None, []),
    # titles and headings
    ("Title: A cache\n\nText.", "# A cache\n\n\nText.", ["title"]),
    ("# Title: A cache\n\nText.", "# A cache\n\n\nText.", ["title"]),
    ("## Topic: A cache\n\nText.", "# A cache\n\n\nText.", ["title"]),
    ("Text.\n\nTitle: what stands first.", None, []),
    ("Text.\n\n**A heading**\n\nMore.", "Text.\n\n## A heading\n\nMore.", ["bold"]),
    ("**T**\n\nText.\n\n**A:**\n\nB.", "# T\n\nText.\n\n## A\n\nB.", ["bold"]),
    ("Text.\n\n**A whole sentence.**\n\nMore.", None, []),
    ("## A\n\n**Not a heading**\n\nText.", None, []),
    ("Text.\n\n**At the end**", None, []),
    ("## Two  spaces \n\nText 🚀.", None, []),
    ("## 🚀 Go\n\nText 🚀.", "## Go\n\nText 🚀.", ["emoji"]),
    # references and placeholders
    ("Text.\n\n## References\n\n1. Smith, 2019\n2. https://x.example", "Text.", ["references"]),
    ("Text.\n\n**Sources:**\n- a\n- b", "Text.", ["references"]),
    ("Text.\n\n## References\n\nA reference is a pointer.", None, []),
    ("Text.\n\n- a\n- b", None, []),
    ("[Insert image here]\n\nText.", "Text.", ["placeholders"]),
    ("Dear [Your Name],\n\nText.", "Text.", ["placeholders"]),
    ("*[Image: a cache](x.png)*\n\nText.", "Text.", ["placeholders"]),
    ("Write to [Company Name] today.", None, []),
    ("Text.\n\n- [Your first page](a.md)\n- [Image alignment]\n\nMore.", None, []),
    ("Text.\n\n[Add a user](add.md)\n\nMore.", None, []),
    ("[not known: when it takes effect]", None, []),
]


@pytest.mark.parametrize(("answer", "text", "remarks"), MENDED)
def test_an_answer_is_mended(answer: str, text: str | None, remarks: list[str]) -> None:
    """A step changes what models put around a text, says so, and leaves all else as it is."""
    mended, found = mend(read_answer(answer)[0], emoji=False)
    assert mended == (answer if text is None else text)
    assert len(found) == len(remarks)
    assert all(word in remark for word, remark in zip(remarks, found, strict=True))


def test_casual_posts_keep_their_emoji() -> None:
    """Where the style has emoji, so have the headings."""
    assert mend("## 🚀 Go\n\nText.") == ("## 🚀 Go\n\nText.", [])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("One. Two, thr", "One."),
        ("One.\n\n## Two\n\n- a\n- b", "One."),
        ("缓存。更多", "缓存。"),
        ("“One.” Two", "“One.”"),
        ("One", ""),
    ],
)
def test_a_text_that_was_cut_ends_with_a_sentence(text: str, kept: str) -> None:
    """Half a sentence is not kept."""
    assert trim(text) == kept


@pytest.mark.parametrize(
    "part", ["\n\n", "~~~\n", "*a*\n\n", "<!--", "---\n", "<pre>\n", "<td>|", "<b a='"]
)
def test_mending_takes_linear_time(part: str) -> None:
    """No text of a model keeps a build busy."""
    assert growth(mend, lambda size: f"# T\n\nText.\n\n{part * size}\n\nText.", 5000) < 3
