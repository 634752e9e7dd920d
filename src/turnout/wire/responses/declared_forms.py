"""Calls in the form in which a request of Responses declared their tools.

A client reads a call only in its own form: free text for a custom tool, an action for a shell, the
namespace beside the name of a function.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...history.client_items import CLIENT_ITEMS, qualified_name
from ...plain import dict_in, list_in, text_in
from ..shared.growing_bytes import Wire
from ..shared.reply_blocks import OpenBlock
from .client_forms import CUSTOM

_FORM_OF_TOOL = {form.tool: (kind, form.arguments_field) for kind, form in CLIENT_ITEMS.items()}
_DECLARED_AS = {"computer_use_preview": "computer", "computer_use": "computer"}


class DeclaredForms:
    """The forms of the tools in one request, by the name of the tool."""

    def __init__(self, tools: Any) -> None:
        self._customs: set[str] = set()
        self._names: dict[str, tuple[str, str]] = {}  # name with namespace: namespace, name
        self._clients: set[str] = set()
        for namespace, tool in _declared_tools(tools):
            self._add_form(namespace, tool)

    def _add_form(self, namespace: str, tool: Wire) -> None:
        kind, name = text_in(tool.get("type")), text_in(tool.get("name"))
        if kind == "custom":
            self._customs.add(qualified_name({"name": name, "namespace": namespace}))
        if namespace and name:
            full = qualified_name({"name": name, "namespace": namespace})
            self._names[full] = (namespace, name)
        if (own := _DECLARED_AS.get(kind, kind)) in _FORM_OF_TOOL:
            self._clients.add(own)

    def call_item(self, block: OpenBlock, id: str, *, is_begun: bool = False) -> Wire:
        """The item of a call; with `is_begun` as it is announced, without its arguments."""
        data = block.data
        namespace, name = self._names.get(block.name) or (text_in(data.get("namespace")), block.name)
        if namespace and name.startswith(f"{namespace}."):
            name = name.removeprefix(f"{namespace}.")
        item: Wire = {"id": id, "status": "completed", "call_id": block.id}
        if block.name in self._customs or (not is_begun and data.get("custom") is True):
            given = "" if is_begun else block.arguments.get("input")
            item |= {"type": CUSTOM, "name": name, "input": given if isinstance(given, str) else block.text}
        elif block.name in self._clients:
            kind, field = _FORM_OF_TOOL[block.name]
            item |= {"type": kind, field: {} if is_begun else block.arguments}
            own = dict_in(data.get("item"))
            return {**own, "call_id": block.id} if own.get("type") == kind and not is_begun else item
        else:
            item |= {"type": "function_call", "name": name, "arguments": "" if is_begun else block.text}
        return {**item, "namespace": namespace} if namespace else item


def _declared_tools(tools: Any) -> Iterator[tuple[str, Wire]]:
    """Each tool with its namespace."""
    for tool in map(dict_in, list_in(tools)):
        if tool.get("type") == "namespace":
            for inner in map(dict_in, list_in(tool.get("tools"))):
                yield text_in(tool.get("name")), inner
        else:
            yield "", tool
