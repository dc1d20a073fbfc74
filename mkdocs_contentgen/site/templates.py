"""Check whether a template shows the content of its page."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import Environment, TemplateError, TemplateNotFound, nodes


def hides_content(environment: Environment, name: str) -> bool:
    """Tell whether a template certainly never prints `page.content`, as some home pages do.

    Includes with a computed name are ignored: themes use them for small parts. The result is False
    for a template that does not exist, since MkDocs reports it.
    """
    try:
        return not _prints_content(environment, name, frozenset())
    except TemplateError:
        return False


def _prints_content(environment: Environment, name: str, overridden: frozenset[str]) -> bool:
    """Tell whether a template prints `page.content` outside of the `overridden` blocks."""
    tree = _parse(environment, name)
    if any(not overridden & blocks for blocks in _enclosing_blocks(environment, tree, frozenset())):
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
    return _prints_content(environment, parent.template.value, overridden | own)


def _enclosing_blocks(
    environment: Environment,
    node: nodes.Node,
    blocks: frozenset[str],
    includes: tuple[str, ...] = (),
) -> Iterator[frozenset[str]]:
    """Yield the names of the blocks around each place where `page.content` is printed.

    `includes` are the templates that are being included, since some include themselves.
    """
    for child in node.iter_child_nodes():
        match child:
            case nodes.Getattr(node=nodes.Name(name="page"), attr="content"):
                yield blocks
            case nodes.Include(template=nodes.Const(value=str(name))) if name in includes:
                pass
            case nodes.Include(template=nodes.Const(value=str(name))):
                tree = _parse(environment, name)
                if any(
                    True for _ in _enclosing_blocks(environment, tree, blocks, (*includes, name))
                ):
                    yield blocks
        inside = blocks | {child.name} if isinstance(child, nodes.Block) else blocks
        yield from _enclosing_blocks(environment, child, inside, includes)


def _parse(environment: Environment, name: str) -> nodes.Template:
    if environment.loader is None:
        raise TemplateNotFound(name)
    source, _, _ = environment.loader.get_source(environment, name)
    return environment.parse(source)
