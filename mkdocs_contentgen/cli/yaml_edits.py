"""Change the plugin in the text of a `mkdocs.yml`. Other lines and comments stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

_NAME = "contentgen"
_WRITES = ("model", "endpoint", "command")
"""The options of the writer that say who writes."""

_NOT_OF_PROGRAMS = ("api_key", "parameters", "price", "max_cost")
"""The options of the writer that a program cannot have."""


@dataclass(frozen=True)
class _Entry:
    """An item of a list, or a key of a mapping with its value, in the text."""

    name: str
    first: yaml.Node
    last: yaml.Node


def add_plugin(text: str, options: Mapping[str, object]) -> str | None:
    """Return a configuration with the plugin, or None if other lines would have to change.

    It stands behind the plugin `search`, or else behind the last one. All lines stay as they are.
    The last line of `text` has to end with a line break.
    """
    nodes = read_nodes(text)
    plugin = {_NAME: dict(options)}
    plugins = nodes.get("plugins")
    others = plugin_names(plugins)
    if isinstance(plugins, yaml.CollectionNode):
        changed = _add_entry(text, plugins, plugin)
    elif plugins or "INHERIT" in nodes:  # a new list would take the place of an inherited one
        return None
    else:
        # MkDocs has the plugin `search` only where no others are named.
        others = ["search"]
        changed = _insert(text, len(text), "plugins:\n" + _block(["search", plugin], "  "))
    if _plugins_of(changed) != sorted([_NAME, *others]):
        return None
    return changed


def change_writer(text: str, options: Mapping[str, object]) -> str | None:
    """Return a configuration whose plugin has another `base_url`, and another model or program.

    The other options of plugin and writer stay. Returns None if other lines would have to change.
    """
    plugins = read_nodes(text).get("plugins")
    name, value = _find_plugin(plugins)
    if name is None:
        return None
    if not isinstance(value, yaml.MappingNode):  # it has no options
        start = name.start_mark.index
        end = name.end_mark.index
        if value:
            end = max(end, value.end_mark.index)
        changed = f"{text[:start]}{_inline({_NAME: dict(options)})}{text[end:]}"
        return _checked(changed, options)
    writer = options.get("writer")
    writer_before = _value_of(value, "writer")
    if not isinstance(writer, Mapping) or not isinstance(writer_before, yaml.MappingNode):
        # There are no options of a writer to keep: the new options replace those of their names.
        changed = _set_keys(text, value, removed=list(options), added=options)
        return _checked(changed, options)

    # One after the other, so that the other options of the writer stay.
    removed = list(_WRITES)
    if "command" in writer:
        removed += _NOT_OF_PROGRAMS
    changed = _set_keys(text, writer_before, removed, added=writer)
    _, value = _find_plugin(read_nodes(changed).get("plugins"))
    if not isinstance(value, yaml.MappingNode):
        return None
    changed = _set_keys(changed, value, ["base_url"], {"base_url": options["base_url"]})
    return _checked(changed, options)


def plugin_names(plugins: yaml.Node | None) -> list[str]:
    """Return the names in a list of plugins, or in a mapping."""
    return [entry.name for entry in _entries(plugins)]


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


def _inline(value: object) -> str:
    """Return a mapping on one line, without its braces."""
    return flow(value)[1:-1]


def _block(value: object, indent: str) -> str:
    block = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    return "".join(f"{indent}{line}\n" for line in block.splitlines())


def _entries(node: yaml.Node | None) -> list[_Entry]:
    """Return the entries of a list or a mapping. Of a mapping in a list, the keys are entries."""
    if not isinstance(node, yaml.CollectionNode):
        return []
    found = []
    for item in node.value:
        if isinstance(item, yaml.MappingNode):
            found += [_Entry(str(key.value), item, item) for key, _ in item.value]
        elif isinstance(item, tuple):
            found.append(_Entry(str(item[0].value), item[0], item[1]))
        else:
            found.append(_Entry(str(item.value), item, item))
    return found


def _add_entry(text: str, plugins: yaml.CollectionNode, plugin: Mapping[str, object]) -> str:
    """Add the plugin to a list or a mapping of plugins."""
    is_list = isinstance(plugins, yaml.SequenceNode)
    before = _entry_before(_entries(plugins))
    if plugins.flow_style:
        if is_list:
            added = flow([plugin])[1:-1]
        else:
            added = _inline(plugin)
        if before is None:
            return _insert(text, plugins.start_mark.index + 1, added)
        return _insert(text, before.last.end_mark.index, f", {added}")
    indent = " " * plugins.start_mark.column
    added = _block([plugin] if is_list else plugin, indent)
    if before is None:  # no item has a name, as in `- {}`, and add_plugin() returns None
        return text
    return _insert(text, _end_of_lines(text, before.last), added)


def _entry_before(entries: Sequence[_Entry]) -> _Entry | None:
    """Return the plugin that ours stands behind: the search, or else the last one, if any."""
    for entry in entries:
        if entry.name in ("search", "material/search"):
            return entry
    return entries[-1] if entries else None


def _set_keys(
    text: str, mapping: yaml.MappingNode, removed: Sequence[str], added: Mapping[str, object]
) -> str:
    """Replace keys of a mapping by others."""
    if mapping.flow_style:
        return _set_keys_on_one_line(text, mapping, removed, added)
    return _set_keys_in_lines(text, mapping, removed, added)


def _set_keys_on_one_line(
    text: str, mapping: yaml.MappingNode, removed: Sequence[str], added: Mapping[str, object]
) -> str:
    """Replace keys of a mapping in braces by others, which stand at its start."""
    parts = [_inline(added)]
    for key, value in mapping.value:
        if key.value not in removed:
            parts.append(text[key.start_mark.index : value.end_mark.index])
    start = mapping.start_mark.index
    end = mapping.end_mark.index
    return f"{text[:start]}{{{', '.join(parts)}}}{text[end:]}"


def _set_keys_in_lines(
    text: str, mapping: yaml.MappingNode, removed: Sequence[str], added: Mapping[str, object]
) -> str:
    """Replace keys of a mapping, each on lines of its own, by others.

    These stand where the first of the replaced keys stood, or else at the start.
    """
    replaced = []
    for key, value in mapping.value:
        if key.value in removed:
            replaced.append((key, value))
    first_key, _ = replaced[0] if replaced else mapping.value[0]
    place = _start_of_line(first_key)
    for key, value in reversed(replaced):  # from the end, so that the other places stay
        end = max(_end_of_lines(text, value), _end_of_lines(text, key))
        text = text[: _start_of_line(key)] + text[end:]
    indent = " " * mapping.start_mark.column
    return _insert(text, place, _block(added, indent))


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


def _find_plugin(plugins: yaml.Node | None) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Return the name of the plugin, and its options if it can have them, in a configuration."""
    if not isinstance(plugins, yaml.CollectionNode):
        return None, None
    for item in plugins.value:
        if isinstance(item, yaml.MappingNode):  # in a list, a plugin with options
            pairs = item.value
        elif isinstance(item, tuple):  # in a mapping
            pairs = [item]
        else:  # in a list, a name alone
            pairs = [(item, None)]
        for key, value in pairs:
            if key.value == _NAME:
                return key, value
    return None, None


def _value_of(mapping: yaml.MappingNode, name: str) -> yaml.Node | None:
    """Return the value of a key, or None without it."""
    for key, value in mapping.value:
        if key.value == name:
            return value  # type: ignore[no-any-return]  # its list has no type
    return None


def _plugins_of(text: str) -> list[str]:
    try:
        return sorted(plugin_names(read_nodes(text).get("plugins")))
    except yaml.YAMLError:
        return []


def _checked(text: str, options: Mapping[str, object]) -> str | None:
    """Return a changed configuration, or None if it does not have the options of the plugin."""
    try:
        _, value = _find_plugin(read_nodes(text).get("plugins"))
    except yaml.YAMLError:
        return None
    if not isinstance(value, yaml.MappingNode):
        return None
    found = {key.value: node.value for key, node in value.value}
    if found.get("base_url") != options["base_url"]:
        return None
    return text
