"""Items of Responses as the API wants them: one that is damaged has the whole request refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct


class AnyItem(Struct, kw_only=True):
    """What every item is, whatever it holds."""

    type: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_.]*$")]
    id: Annotated[str, Meta(pattern=r"\S")] | None = None


class LocalCommand(Struct):
    command: list[str]
    env: dict[str, str] | None = None


class LocalShellCall(AnyItem, kw_only=True):
    action: LocalCommand


class ShellCommands(Struct):
    commands: list[str]


class ShellCall(AnyItem, kw_only=True):
    action: ShellCommands


class FileOperation(Struct):
    type: Literal["create_file", "update_file", "delete_file"]
    path: str
    diff: str | None = None


class ApplyPatchCall(AnyItem, kw_only=True):
    operation: FileOperation


class ComputerCall(AnyItem, kw_only=True):
    action: dict[str, Any] | None = None
    actions: list[dict[str, Any]] | None = None


class ToolSearchCall(AnyItem, kw_only=True):
    arguments: Any


class CommandEnd(Struct):
    type: Literal["exit", "timeout"]
    exit_code: int | None = None


class CommandRun(Struct):
    stdout: str
    stderr: str
    outcome: CommandEnd


class ShellCallOutput(AnyItem, kw_only=True):
    output: list[CommandRun]


class ApplyPatchCallOutput(AnyItem, kw_only=True):
    status: Literal["completed", "failed"]
    output: str | None = None


class LocalShellCallOutput(AnyItem, kw_only=True):
    output: str


class ToolSearchOutput(AnyItem, kw_only=True):
    tools: list[dict[str, Any]]


CALLS: dict[str, type[AnyItem]] = {
    "local_shell_call": LocalShellCall,
    "shell_call": ShellCall,
    "apply_patch_call": ApplyPatchCall,
    "computer_call": ComputerCall,
    "tool_search_call": ToolSearchCall,
}
OUTPUTS: dict[str, type[AnyItem]] = {
    "local_shell_call_output": LocalShellCallOutput,
    "shell_call_output": ShellCallOutput,
    "apply_patch_call_output": ApplyPatchCallOutput,
    "computer_call_output": AnyItem,  # its picture is kept apart from it
    "tool_search_output": ToolSearchOutput,
}
