"""Whether a theme's template shows the text of its page, as far as its source tells."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import Environment, TemplateError, TemplateNotFound, nodes


def hides_content(environment: Environment, name: str) -> bool:
    """Tell whether a template surely never prints `page.content`, as templates of home pages do.

    An include with a computed name counts as printing something else: themes choose small parts so.
    A template that is not there is MkDocs' to report.
    """
    try:
        return not _shows(environment, name, frozenset())
    except TemplateError:
        return False


def _shows(environment: Environment, name: str, replaced: frozenset[str]) -> bool:
    """Tell whether a template prints it outside of blocks that another one has `replaced`."""
    tree = _parsed(environment, name)
    if any(not replaced & blocks for blocks in _places(environment, tree, frozenset())):
        return True
    parent = tree.find(nodes.Extends)
    if parent is None:
        return False
    if not isinstance(parent.template, nodes.Const):
        return True
    own = {
        block.name
        for block in tree.find_all(nodes.Block)
        if not any(
            isinstance(call.node, nodes.Name) and call.node.name == "super"
            for call in block.find_all(nodes.Call)
        )
    }
    return _shows(environment, parent.template.value, replaced | own)


def _places(
    environment: Environment, node: nodes.Node, blocks: frozenset[str], within: tuple[str, ...] = ()
) -> Iterator[frozenset[str]]:
    """Yield the blocks around each place where `page.content` is printed.

    `within` are the includes that lead to `node`: some include themselves.
    """
    for child in node.iter_child_nodes():
        match child:
            case nodes.Getattr(node=nodes.Name(name="page"), attr="content"):
                yield blocks
            case nodes.Include(template=nodes.Const(value=str(name))) if name in within:
                pass
            case nodes.Include(template=nodes.Const(value=str(name))):
                tree = _parsed(environment, name)
                if any(True for _ in _places(environment, tree, blocks, (*within, name))):
                    yield blocks
        inside = blocks | {child.name} if isinstance(child, nodes.Block) else blocks
        yield from _places(environment, child, inside, within)


def _parsed(environment: Environment, name: str) -> nodes.Template:
    if environment.loader is None:
        raise TemplateNotFound(name)
    source, _, _ = environment.loader.get_source(environment, name)
    return environment.parse(source)
