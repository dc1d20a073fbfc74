"""Read the proposed texts that a branch brings out of git, and approve them for a reviewer.

The configuration of the site, which a branch can change, is not loaded: only the files of the
folder of approved files are read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from msgspec import structs

from ..errors import ApprovalError, UnsafeHTMLError
from ..git import run_git
from ..html.document import Document, ReadText, document_of
from ..site.authors import name_authors
from ..text import Text
from ..texts.approved_dir import read_approved, read_in_repository
from ..texts.approved_file import ApprovedText
from ..texts.approved_writer import write_file
from ..texts.file_to_write import approve, file_to_write
from ..texts.store import Kept
from ..translation.first_translation import count_changes, of_approved_original
from .approving import with_confirmed
from .report_markdown import sentence_ids


@dataclass(frozen=True)
class ProposedText:
    """A proposed text in a commit."""

    path: str
    """Its path in the repository."""

    page: str
    name: str
    """The id of its article on the page."""

    proposed: ApprovedText


def proposed_texts(
    top: Path, directory: str, base: str, head: str
) -> tuple[list[ProposedText], list[str]]:
    """Return the proposed texts that differ between two commits, and the problems with others.

    `top` is the repository, and `directory` the folder of approved files in it.
    """
    listed = run_git(
        top, "diff", "--name-only", "--no-renames", "-z", f"{base}..{head}", "--", directory
    )
    if listed is None:
        return [], [f"git cannot compare the commits {base[:12]} and {head[:12]}"]
    texts: list[ProposedText] = []
    problems: list[str] = []
    for path in filter(None, listed.split("\0")):
        inside = PurePosixPath(path).relative_to(directory)
        if not (path.endswith(".html") and inside.parent.name.endswith(".md")):
            continue
        try:
            found = _text_at(top, path, head)
        except ApprovalError as error:
            problems.append(str(error))
            continue
        if found is not None and found.approval is None:
            texts.append(ProposedText(path, inside.parent.as_posix(), inside.stem, found))
    return texts, problems


def _text_at(top: Path, path: str, commit: str) -> ApprovedText | None:
    """Return the text of a file in a commit, or None if it was deleted. Raises ApprovalError."""
    tree = run_git(top, "ls-tree", commit, "--", f":(literal){path}") or ""
    if not tree:
        return None
    is_file = tree.startswith("100")  # the mode: links and submodules have others
    found = read_in_repository(top, path, commit) if is_file else None
    if found is None:
        raise ApprovalError(f"{path}: is not a file with a text")
    return found


def unticked(text: ProposedText, ticked: Collection[str]) -> list[str]:
    """Return a problem for each sentence with statements whose box nobody has ticked."""
    try:
        sentences = Document(text.proposed.text.html).marked_sentences()
    except UnsafeHTMLError as error:
        return [f"{text.page}: no build can show this text: {error}"]
    ids = sentence_ids(text.page, text.name, sentences)
    problems = []
    for sentence, sentence_id in zip(sentences, ids, strict=True):
        if sentence_id not in ticked:
            problems.append(f"{text.page}: not ticked: {sentence}")
    return problems


def approve_texts(top: Path, directory: str, texts: Sequence[ProposedText], by: str) -> None:
    """Write the approved files of proposed texts that are checked out. Raises ApprovalError.

    `by` is the reviewer, who has confirmed all statements.
    """
    for text in texts:
        reviewed = name_authors(text.proposed.text, top / text.path, top / directory)
        if _has_original_among(reviewed, texts):
            reviewed = of_approved_original(reviewed)
        _write(top, directory, text, reviewed, by)


def _has_original_among(translation: Text, texts: Sequence[ProposedText]) -> bool:
    """Tell whether a text is a translation of one that is approved with it."""
    original = translation.original
    if original is None:
        return False
    for text in texts:
        is_its_original = count_changes(original, text.proposed.text.html) == 0
        if is_its_original:
            return True
    return False


def _write(top: Path, directory: str, text: ProposedText, reviewed: Text, by: str) -> None:
    """Write the approved file of a proposed text. Raises ApprovalError.

    `reviewed` is that text with the names of those who edited it.
    """
    path = top / text.path
    before = read_approved(path, top / directory)
    if before is None or before.file_digest != text.proposed.file_digest:
        raise ApprovalError(f"{text.path}: is not as it is in the commit that is checked out")
    document = document_of(reviewed.html)
    edits = reviewed.edits
    statements = document.statements()
    if statements:
        edits = with_confirmed(reviewed, statements)
    written = document.read_back()
    header = text.proposed.header
    reviewed = structs.replace(reviewed, html=written.source, edits=edits)
    approved = approve(ReadText(reviewed, written), header.key, header.service, by)
    kept = Kept("", page=text.page, act="approve", by=by)
    file = file_to_write(path, top / directory, approved, written, before=before, kept=kept)
    write_file(file, None)  # the commit that is checked out has what it replaces
