"""Find what the texts of an article have replaced, in what the cache has kept of it.

Each entry says what has replaced it. So it is found by the text that is there now, also if the page
was renamed meanwhile, or if the act that it belongs to was never done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..errors import ApprovalError
from ..text import Text
from ..texts.approved_dir import read_kept
from ..texts.articles import Article
from ..texts.human_edits import has_human_edits
from ..texts.store import Kept, decode_kept


def last_act(lines: Sequence[bytes], article: Article) -> Kept | None:
    """Return what was replaced by the last act that a person can undo, or None.

    `lines` are what load_kept() returned for the article as it is now.
    """
    file_now = ""
    text_now = ""
    if article.newest_is_in_file and article.approved:
        file_now = article.approved.file_digest
    elif article.draft:
        text_now = article.draft.version
    found: Kept | None = None
    for kept in _from_the_last(lines):
        wanted = text_now if kept.file is None else file_now
        if not wanted or kept.after != wanted:
            continue
        if kept.file is None or kept.page == article.page:
            found = kept
            break
        # The page was renamed, or it is another page with the same request and the same file.
        found = found or kept
    if found is None or found.act == "other":
        return None
    return found


def text_before_request(lines: Sequence[bytes], text: Text) -> Text | None:
    """Return the text that a new one of a service or another machine has replaced, or None.

    `text` is what is there now. People may have changed it since then.
    """
    for kept in _history(lines, text.version):
        if kept.act in ("ask", "other"):
            return kept.text
    return None


def was_made_over(lines: Sequence[bytes], text: Text, file_digest: str) -> bool:
    """Tell whether people have made a text out of exactly this approved file, on the desk.

    So they have seen all that the file has.
    """
    return any(kept.made_over == file_digest for kept in _history(lines, text.version))


def texts_with_human_edits(lines: Sequence[bytes]) -> Iterator[Text]:
    """Yield the texts that were replaced in which people had written something, the last first.

    They are texts of the cache, and those of approved files.
    """
    for kept in _from_the_last(lines):
        texts = [kept.text] if kept.text else []
        if kept.file:
            with suppress(ApprovalError):
                texts.append(read_kept(kept.file).text)
        yield from filter(has_human_edits, texts)


def _history(lines: Sequence[bytes], version: str) -> Iterator[Kept]:
    """Yield what led to the text of a version, the last act first."""
    for kept in _from_the_last(lines):
        if kept.file is None and kept.after == version:
            yield kept
            if kept.text is None:
                return
            version = kept.text.version


def _from_the_last(lines: Sequence[bytes]) -> Iterator[Kept]:
    for line in reversed(lines):
        kept = decode_kept(line)
        if kept is not None:
            yield kept
