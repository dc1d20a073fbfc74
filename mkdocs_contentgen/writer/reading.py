"""Mend the answer of a model, so that it is a text in Markdown and nothing else.

Each step is a function from a text to a text. What a step changes is a remark for the reviewer.
Code is never changed, except for a fence around the whole text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from .markdown import MAX_CHARACTERS, TIP

_MAX_PREFACE = 300
"""The number of characters before or after a text that may be a remark to the reader."""

_FENCE = re.compile(
    rf"(?:[^#`~]{{0,{_MAX_PREFACE}}}\n)?(```+|~~~+)[ \t]*(?:(?P<language>markdown|md)[ \t]*)?\n"
    rf"(?P<text>.*)\n\1(?:\n[^#`~]{{0,{_MAX_PREFACE}}})?",
    re.DOTALL | re.IGNORECASE,
)
_BEGINNING = re.compile(r"\s*#{1,6} [^\n]*\n(?:[ \t]*\n|#|\Z)")
"""How a text begins, but no code with a comment."""

_PREFACE = re.compile(rf"[^#`~|]{{1,{_MAX_PREFACE}}}\n(?=# )")
_FINAL = "<|channel|>final<|message|>"
_SPECIAL_TOKEN = re.compile(
    r"(?<!`)<\|(?:start|end|return|im_start|im_end|eot_id|endoftext)\|>(?!`)"
)
_THINKING_TAG = re.compile(r"(?<!`)<(?P<end>/?)(?:think|thinking|reasoning)>(?!`)")

_WORK = "(?:article|blog ?post|post|report|text|guide|piece|listicle|story|content)"
BEFORE = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|great)\b[,!.:]? *"
    r"(?:here|below|I (?:can|will|would)|I['’](?:ll|d|ve))\b"
    rf"|(?:here|below)(?:['’]s| is| are) (?:the|an?|your|my)\b[^.\n]{{0,80}}\b{_WORK}\b"
    r"|hier ist (?:der|die|das|ein|eine|Ihr|dein)\b.{0,60}\b(?:Artikel|Beitrag|Text|Bericht)\b"
    rf"|voici (?:un|une|le|la|votre)\b.{{0,60}}\b(?:article|texte|billet)\b"
    rf"|aquí (?:tienes|está)\b.{{0,60}}\b(?:artículo|texto)\b"
    r"|(?:好的|当然)?[，,！!]?以下是.{0,40}(?:文章|博客|报道|稿)",
    re.IGNORECASE,
)
"""What models say before a text."""

_AFTER = re.compile(
    r"[^\w\n]{0,9}(?:"
    rf"I hope (?:this|you)\b|(?:please )?let me know\b"
    r"|feel free to (?:ask|adapt|adjust|change|customi[sz]e|edit|let me|modify|reach|tell me)\b"
    rf"|(?:note:|please note\b).{{0,60}}\b(?:this|the|my|your) {_WORK}\b"
    r"|(?:(?:total )?word ?count|Wortzahl|Anzahl der Wörter|nombre de mots|字数)[^\d\n]{0,15}\d"
    r"|words?\W{0,3}:\W{0,3}\d|length: about\b|\d{2,5} words\W{0,3}$"
    rf"|\[end\b|end of (?:the |this )?(?:{_WORK}|document)\W{{0,5}}$"
    r"|would you like me to\b|if you(?:['’]d| would) like\b.{0,60}\blet me know\b"
    r")",
    re.IGNORECASE,
)
"""What models say after a text."""

_TITLE_LINE = re.compile(
    r"[*_]{0,2}(?:title|topic|headline|titel|überschrift|titre|título|标题|タイトル)[*_]{0,2}\s?[:：]"
    r"[*_ ]{0,4}"
    r"(?P<title>[^\n]{1,150}?)[*_ ]{0,4}",
    re.IGNORECASE,
)
_FRONT_MATTER_LINE = re.compile(r"[A-Za-z_-]{1,40}:(?: .*)?|\s*- .*|\s*")
_BOLD_LINE = re.compile(r"(\*\*|__)(?P<text>[^*_\n]{1,100}?):?\1:?")
_REFERENCES = re.compile(
    r"\W{0,9}(?:references?|sources?|bibliography|works cited|further reading|citations?|footnotes"
    r"|quellen|quellenangaben|literatur(?:verzeichnis)?|références|bibliographie|referencias"
    r"|bibliografía|fuentes|riferimenti|referências|参考文献|参考资料|参考|источники)\W{0,9}",
    re.IGNORECASE,
)
_REFERENCE_LINE = re.compile(r"\s*(?:[-*+]|\[?\^?\d{1,3}[\].):]{0,2})\s.*|\s*|\s*https?://\S+")
_PLACEHOLDER = re.compile(
    r"(?![ \t]*[-+*] )[\W_]{0,4}"
    r"(?:Dear|Hello|Hi|By|Author|Date|Signed|Sincerely|Regards)?[,: ]{0,3}"
    r"\[(?:(?P<image>insert|image|photo|picture|screenshot|video|placeholder|bild|foto)|add|your"
    r"|name|company|date|author|link)\b[^\[\]\n]{0,100}\]"
    r"(?(image)(?:\([^()\n]{0,200}\))?)[\W_]{0,4}",
    re.IGNORECASE,
)
_EMOJI = re.compile("[\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001faff]\ufe0f?\u200d?|[\ufe0f\u20e3]")

_DROPPED = ("script", "style", "iframe", "template", "svg", "object")
_TAG = re.compile(
    r"(?P<pre><pre(?:\s[^<>]{0,2000})?>\s{0,9}(?:<code(?:\s[^<>]{0,2000})?>)?)"
    r"|(?P<end_pre>(?:</code>\s{0,9})?</pre>)"
    r"|<(?P<end>/?)(?P<name>p|div|span|section|article|header|footer|main|body|html|head|h[1-6]|ul"
    r"|ol|li|br|hr|a|b|i|u|em|strong|small|sub|sup|code|img|font|center|blockquote|table|thead"
    r"|tbody|tr|td|th|figure|figcaption|details|summary|title|meta|link|input|button|form|video"
    rf"|audio|nav|{'|'.join(_DROPPED)})(?:\s[^<>]{{0,2000}})?/?>"
    r"|<!DOCTYPE[^<>]{0,200}>",
    re.IGNORECASE | re.DOTALL,
)
_START = re.compile(rf"<(?P<name>!--|(?:{'|'.join(_DROPPED)})(?=[\s/>]))", re.IGNORECASE)
_END = re.compile(rf"-->|</(?P<name>{'|'.join(_DROPPED)})\s{{0,9}}>", re.IGNORECASE)
"""The start and the end of what is dropped as a whole."""

_MARKDOWN = {
    "b": "**",
    "strong": "**",
    "i": "*",
    "em": "*",
    "code": "`",
    "li": "\n- ",
    "br": "\n",
    "hr": "\n\n",
    "blockquote": "\n\n> ",
    "td": " ",
    "th": " ",
    "tr": "\n",
    **{f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)},
    **dict.fromkeys("p div section article header ul ol table figure figcaption".split(), "\n\n"),
}
"""What stands for a start tag. Other tags are left out, and their text stays."""


def mend(answer: str, *, emoji: bool = True) -> tuple[str, list[str]]:
    """Return the text in an answer, and a remark for each kind of change.

    `emoji` is whether headings may have some. A text that is too long for any target is cut just
    above the limit.
    """
    text = without_thinking(answer.replace("\r\n", "\n")).strip()[: MAX_CHARACTERS + 1]
    remarks = []
    for remark, step in _STEPS:
        if step is without_emoji and emoji:
            continue
        mended = step(text).strip()
        if mended != text:
            remarks.append(f"mended: {remark}")
            text = mended
    return text, remarks


def without_thinking(text: str) -> str:
    """Drop thinking text before the answer; if there is nothing else, all of it."""
    # Tags further down are part of the text, which can be about them.
    end, is_open = 0, True  # the start tag may be in the prompt
    for tag in _THINKING_TAG.finditer(text):
        if tag["end"]:
            if not is_open:
                break
            end, is_open = tag.end(), False
        elif text[end : tag.start()].strip():
            break
        else:
            is_open = True
    text = text[end:]
    if re.match(r"\s*<(?:think|thinking|reasoning)>", text):
        return ""
    if text.lstrip().startswith("<|") and "<|channel|>" in text:
        text = text.rpartition(_FINAL)[2] if _FINAL in text else ""
    return _SPECIAL_TOKEN.sub("", text)


def trim(text: str) -> str:
    """Return a text that was cut somewhere, up to the end of its last whole sentence."""
    ends = re.finditer(r"[.!?…][\"'”’»)*_]{0,3}(?=\s)|[。！？]|\n(?=\n)", f"{text}\n")
    last = max((match.end() for match in ends), default=0)
    return text[:last].rstrip()


def without_fence(text: str) -> str:
    """Take the text out of a code fence around it."""
    fenced = _FENCE.fullmatch(text)
    if not (fenced and (fenced["language"] or _BEGINNING.match(fenced["text"]))):
        return text
    if sum(line.startswith(fenced[1]) for line in fenced["text"].split("\n")) % 2:
        return text[fenced.start("text") :]  # the last fence is that of a code block
    return fenced["text"]


def without_preface(text: str) -> str:
    """Drop what the model says before the text."""
    if preface := _PREFACE.match(text):
        titles = sum(not is_code and line.startswith("# ") for is_code, line in _lines(text))
        return text[preface.end() :] if titles == 1 else text  # of several, the first is no title
    first, _, rest = text.partition("\n")
    return rest if rest.strip() and len(first) <= _MAX_PREFACE and BEFORE.match(first) else text


def without_epilogue(text: str) -> str:
    """Drop what the model says after the text, such as the number of words."""
    paragraphs = text.split("\n\n")
    while len(paragraphs) > 1:
        last = paragraphs[-1].strip()
        if last.endswith(("```", "~~~")):
            break
        if last.strip("-*_ \n") and not (len(last) <= _MAX_PREFACE and _AFTER.match(last)):
            break
        paragraphs.pop()
    return "\n\n".join(paragraphs)


def without_rules(text: str) -> str:
    """Drop lines of dashes around the text."""
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip("- ")), 0)
    while len(lines) > 1 and not lines[-1].strip("- "):
        lines.pop()
    return "\n".join(lines[first:])


def without_front_matter(text: str) -> str:
    """Drop YAML front matter, but keep its title."""
    start, separator, rest = text.partition("\n---\n")
    lines = start.split("\n")
    if not separator or lines[0] != "---" or len(lines) > 40:
        return text
    if not all(_FRONT_MATTER_LINE.fullmatch(line) for line in lines[1:]):
        return text
    titles = (line[6:].strip(" \"'") for line in lines if line.startswith("title:"))
    title = next(titles, "")
    return f"# {title}\n\n{rest}" if title and not rest.lstrip().startswith("# ") else rest


def with_title(text: str) -> str:
    """Make a first line such as `Title: …` a title."""
    first, _, rest = text.partition("\n")
    match = _TITLE_LINE.fullmatch(first.strip().lstrip("# "))
    if match is None:
        return text
    return rest if rest.lstrip().startswith("# ") else f"# {match['title']}\n\n{rest}"


def without_html(text: str) -> str:
    """Replace HTML by its Markdown where there is one, and else by its text."""
    if "<" not in text:
        return text
    if text.startswith("<"):  # lines of a page are indented, which would be code in Markdown
        text = "\n".join(line if is_code else line.lstrip() for is_code, line in _lines(text))
    return "".join(
        part if is_code else _replace_tags(part) for is_code, part in _split_inline(text)
    )


def with_headings(text: str) -> str:
    """Make lines in bold headings, in a text that has no sections otherwise."""
    lines = list(_lines(text))
    if any(re.match("##+ ", line) for is_code, line in lines if not is_code):
        return text
    found = []
    padded = ["", *(line.strip() for _, line in lines), "", ""]
    for number, (is_code, line) in enumerate(lines):
        before, bold, after, follows = padded[number : number + 4]
        match = None if is_code else _BOLD_LINE.fullmatch(bold)
        is_alone = not before and not after and follows
        if match and is_alone and not TIP.match(line) and match["text"][-1] not in ".!,":
            found.append((number, match["text"].strip()))
    for number, heading in found:
        is_title = number == 0 and len(found) > 1
        lines[number] = (False, f"{'#' if is_title else '##'} {heading}")
    return "\n".join(line for _, line in lines)


def without_references(text: str) -> str:
    """Drop a list of references at the end. The writer adds the sources that it gave."""
    lines = list(_lines(text))
    for number in range(len(lines) - 1, 0, -1):
        is_code, line = lines[number]
        if is_code:
            return text
        bare = line.strip()
        if bare and _REFERENCES.fullmatch(bare) and (bare[0] in "#*_" or bare[-1] in ":："):
            return "\n".join(line for _, line in lines[:number])
        if not _REFERENCE_LINE.fullmatch(line):
            return text
    return text


def without_placeholders(text: str) -> str:
    """Drop lines that are placeholders, such as `[Insert image]` and `Dear [Your Name],`."""
    return "\n".join(
        line for is_code, line in _lines(text) if is_code or not _PLACEHOLDER.fullmatch(line)
    )


def without_emoji(text: str) -> str:
    """Drop the emoji in headings."""
    return "\n".join(
        re.sub(" {2,}", " ", _EMOJI.sub("", line)).rstrip()
        if not is_code and re.match("#+ ", line) and _EMOJI.search(line)
        else line
        for is_code, line in _lines(text)
    )


_STEPS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("a code fence around the text was taken out", without_fence),
    ("front matter was taken out", without_front_matter),
    ("a line of dashes around the text was taken out", without_rules),
    ("HTML was replaced by Markdown or text", without_html),
    ("what the model said before the text was taken out", without_preface),
    ("what the model said after the text was taken out", without_epilogue),
    ("placeholders were taken out", without_placeholders),
    ("a list of references was taken out", without_references),
    ("a line such as `Title: …` became the title", with_title),
    ("lines in bold became headings", with_headings),
    ("emoji in headings were taken out", without_emoji),
)


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Yield each line, and whether it is in a fenced code block."""
    fence = ""
    for line in text.split("\n"):
        bare = line.strip()
        if not fence and (match := re.match("```+|~~~+", bare)):
            fence = match[0]
            yield True, line
        elif fence:
            yield True, line
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
        else:
            yield False, line


def _split_inline(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a text, and whether each is code, also in a line."""
    prose: list[str] = []
    for is_code, line in [*_lines(text), (True, "")]:
        if not is_code and not line.startswith(("    ", "\t")):
            prose.append(line)
            continue
        if prose:
            parts = re.split("(`[^`\n]+`)", "\n".join(prose) + "\n")
            yield from ((bool(index % 2), part) for index, part in enumerate(parts))
            prose = []
        yield True, f"{line}\n"


def _replace_tags(text: str) -> str:
    return _TAG.sub(_replace_tag, _without_elements(text))


def _without_elements(text: str) -> str:
    """Drop elements such as scripts, and comments. A start without an end stays."""
    ends: dict[str, list[int]] = {}
    for end in _END.finditer(text):
        ends.setdefault((end["name"] or "!--").lower(), []).append(end.end())
    kept, position = [], 0
    for start in _START.finditer(text):
        found = ends.get(start["name"].lower(), [])
        index = bisect_right(found, start.end())
        if start.start() >= position and index < len(found):
            kept.append(text[position : start.start()])
            position = found[index]
    return "".join([*kept, text[position:]])


def _replace_tag(tag: re.Match[str]) -> str:
    if tag["pre"]:
        return "\n\n```\n"
    if tag["end_pre"]:
        return "\n```\n\n"
    markdown = _MARKDOWN.get((tag["name"] or "").lower(), "")  # a document type has no name
    if not tag["end"] or markdown in ("**", "*", "`"):
        return markdown
    return "\n\n" if markdown.startswith("\n\n") else ""
