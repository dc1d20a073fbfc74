"""Change the plugin in the text of a `mkdocs.yml`. Other lines and comments stay as they are.

Only lists and mappings in block style are changed, with an item or a key on each line, as most
configurations have them. For all others, `init` prints the lines for the author to write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

_NAME = "contentgen"
_WRITES = ("model", "endpoint", "command")
"""The options of the writer that say who writes."""


@dataclass(frozen=True)
class _Plugin:
    """A plugin in the list `plugins`."""

    name: str
    key: yaml.Node
    options: yaml.Node | None
    """Its options, or None where its name stands alone."""

    @property
    def last(self) -> yaml.Node:
        """The last node of the plugin."""
        return self.options or self.key


def add_plugin(text: str, options: Mapping[str, object]) -> str | None:
    """Return a configuration with the plugin, or None if the author has to add it.

    It stands after the plugin `search`, or else after the last one. All lines stay as they are.
    The last line of `text` has to end with a line break.
    """
    nodes = read_nodes(text)
    plugin = {_NAME: dict(options)}
    if "plugins" not in nodes:
        if "INHERIT" in nodes:  # a new list would take the place of an inherited one
            return None
        # MkDocs has the plugin `search` only where no others are named.
        added = _insert(text, len(text), "plugins:\n" + _block(["search", plugin], "  "))
        return _if_valid(added, options)
    plugins = list(_block_plugins(nodes["plugins"]))
    if not plugins:
        return None
    before = plugins[-1]
    for candidate in plugins:
        if candidate.name in ("search", "material/search"):
            before = candidate
    indent = " " * nodes["plugins"].start_mark.column
    added = _insert(text, _end_of_lines(text, before.last), _block([plugin], indent))
    return _if_valid(added, options)


def change_writer(text: str, options: Mapping[str, object]) -> str | None:
    """Return a configuration whose plugin has another `base_url`, and another model or program.

    The other options of the plugin stay. Returns None if the author has to change it, as where the
    writer has further options, which may not fit the new one.
    """
    plugin = _find_plugin(text)
    if plugin is None:
        return None
    before = plugin.options
    if before is None or before.value == "":  # it has no options
        start = plugin.key.start_mark.index
        end = plugin.last.end_mark.index
        changed = f"{text[:start]}{_NAME}: {flow(dict(options))}{text[end:]}"
        return _if_valid(changed, options)
    is_block = isinstance(before, yaml.MappingNode) and not before.flow_style
    if not is_block or ("writer" in options and _has_more_than_a_writer(before)):
        return None
    return _if_valid(_set_keys(text, before, options), options)


def plugin_names(plugins: yaml.Node | None) -> list[str]:
    """Return the names in a list of plugins, or in a mapping, in any style."""
    if isinstance(plugins, yaml.MappingNode):
        return [str(key.value) for key, _ in plugins.value]
    if isinstance(plugins, yaml.SequenceNode):
        return [plugin.name for plugin in _plugins_in(plugins)]
    return []


def read_nodes(text: str) -> dict[str, yaml.Node]:
    """Return the values at the top level, without looking at their tags. Raises YAMLError."""
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply") from error
    items = root.value if isinstance(root, yaml.MappingNode) else []
    nodes = {}
    for key, value in items:
        if isinstance(key, yaml.ScalarNode):
            nodes[key.value] = value
    return nodes


def flow(value: object) -> str:
    """Return a value on one line."""
    dumped = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10_000
    )
    return dumped.strip()


def _block(value: object, indent: str) -> str:
    block = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    return "".join(f"{indent}{line}\n" for line in block.splitlines())


def _block_plugins(plugins: yaml.Node) -> Iterator[_Plugin]:
    """Yield the plugins of a list in block style; none of anything else."""
    if isinstance(plugins, yaml.SequenceNode) and not plugins.flow_style:
        yield from _plugins_in(plugins)


def _plugins_in(plugins: yaml.SequenceNode) -> Iterator[_Plugin]:
    """Yield the plugins of a list. An item is a name, or a mapping of a name to its options."""
    for item in plugins.value:
        if isinstance(item, yaml.ScalarNode):
            yield _Plugin(str(item.value), item, None)
        elif isinstance(item, yaml.MappingNode):
            for key, options in item.value:
                yield _Plugin(str(key.value), key, options)


def _find_plugin(text: str) -> _Plugin | None:
    """Return this plugin in a list in block style, or None if there is no such list with it."""
    plugins = read_nodes(text).get("plugins")
    if plugins is None:
        return None
    for plugin in _block_plugins(plugins):
        if plugin.name == _NAME:
            return plugin
    return None


def _has_more_than_a_writer(options: yaml.Node) -> bool:
    """Tell whether the options of the plugin say more of the writer than who it is."""
    writer = _value_of(options, "writer")
    if not isinstance(writer, yaml.MappingNode):
        return False
    return any(key.value not in _WRITES for key, _ in writer.value)


def _set_keys(text: str, mapping: yaml.Node, options: Mapping[str, object]) -> str:
    """Set options in a mapping that has each key on lines of its own.

    They stand where the first key that they replace stood, or else at the start.
    """
    replaced = []
    for key, value in mapping.value:
        if key.value in options:
            replaced.append((key, value))
    first_key, _ = replaced[0] if replaced else mapping.value[0]
    place = _start_of_line(first_key)
    for key, value in reversed(replaced):  # from the end, so that the other places stay
        end = max(_end_of_lines(text, value), _end_of_lines(text, key))
        text = text[: _start_of_line(key)] + text[end:]
    indent = " " * mapping.start_mark.column
    return _insert(text, place, _block(dict(options), indent))


def _start_of_line(node: yaml.Node) -> int:
    """Return the index of the start of the line that a node begins in."""
    return int(node.start_mark.index - node.start_mark.column)


def _end_of_lines(text: str, node: yaml.Node) -> int:
    """Return the index after the last line of a node; a block ends where its last scalar does."""
    last = node
    while isinstance(last, yaml.CollectionNode) and not last.flow_style and last.value:
        item = last.value[-1]
        last = item[1] if isinstance(item, tuple) else item
    # The end mark of a value over several lines is at the start of the line below it, so one is
    # subtracted. An empty value has no character before its end mark.
    last_character = max(last.end_mark.index - 1, node.start_mark.index)
    end = text.find("\n", last_character)
    if end < 0:
        return len(text)
    return end + 1


def _insert(text: str, index: int, added: str) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    return text[:index] + added.replace("\n", end) + text[index:]


def _value_of(mapping: yaml.Node, name: str) -> yaml.Node | None:
    """Return the value of a key, or None without it."""
    for key, value in mapping.value:
        if key.value == name:
            return value  # type: ignore[no-any-return]  # its list has no type
    return None


def _if_valid(text: str, options: Mapping[str, object]) -> str | None:
    """Return a changed configuration, or None if its plugin does not have the new options.

    That is so where YAML reads the lines in another way, such as after the end of a document.
    """
    try:
        plugin = _find_plugin(text)
    except yaml.YAMLError:
        return None
    if plugin is None or not isinstance(plugin.options, yaml.MappingNode):
        return None
    base_url = _value_of(plugin.options, "base_url")
    if base_url is None or base_url.value != options["base_url"]:
        return None
    return text
