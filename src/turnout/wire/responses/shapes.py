"""Items of Responses as the API wants them: it refuses the whole request for a damaged item.

Only required fields, and the types of fields, are checked. Other fields, and kinds that are
not listed here, pass.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Said = Annotated[str, Meta(pattern=r"\S")]
Kind = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_.]*$")]
Status = Literal["in_progress", "completed", "incomplete"]


class AnyItem(Struct, kw_only=True):
    """The fields that every item may have."""

    type: Kind
    id: Said | None = None
    role: str | None = None


class StatusItem(AnyItem, kw_only=True):
    status: Status | None = None


# Calls that the client runs, and their outputs


class LocalCommand(Struct, kw_only=True):
    type: Literal["exec"]
    command: list[str]
    env: dict[str, str]
    timeout_ms: int | None = None
    user: str | None = None
    working_directory: str | None = None


class LocalShellCall(StatusItem, kw_only=True):
    action: LocalCommand


class LocalShellCallOutput(StatusItem, kw_only=True):
    output: str


class Environment(Struct, kw_only=True):
    type: Literal["local", "container_reference"]
    container_id: str | None = None


class ShellCommands(Struct, kw_only=True):
    commands: list[str]
    max_output_length: int | None = None
    timeout_ms: int | None = None


class ShellCall(StatusItem, kw_only=True):
    action: ShellCommands
    environment: Environment | None = None


class CommandEnd(Struct, kw_only=True):
    type: Literal["exit", "timeout"]
    exit_code: int | None = None

    def __post_init__(self) -> None:
        if self.type == "exit" and self.exit_code is None:
            raise ValueError("an exit has a code")


class CommandRun(Struct, kw_only=True):
    stdout: str
    stderr: str
    outcome: CommandEnd


class ShellCallOutput(StatusItem, kw_only=True):
    output: list[CommandRun]
    max_output_length: int | None = None


class FileOperation(Struct, kw_only=True):
    type: Literal["create_file", "update_file", "delete_file"]
    path: str
    diff: str | None = None

    def __post_init__(self) -> None:
        if (self.diff is None) != (self.type == "delete_file"):
            raise ValueError("a file that is created or updated has a diff, one that is deleted has none")


class ApplyPatchCall(AnyItem, kw_only=True):
    status: Literal["in_progress", "completed"]
    operation: FileOperation


class ApplyPatchCallOutput(AnyItem, kw_only=True):
    status: Literal["completed", "failed"]
    output: str | None = None


class SafetyCheck(Struct, kw_only=True):
    id: str
    code: str | None = None
    message: str | None = None


class ComputerCall(AnyItem, kw_only=True):
    id: Said
    status: Status
    pending_safety_checks: list[SafetyCheck]
    action: dict[str, Any] | None = None
    actions: list[dict[str, Any]] | None = None


class ComputerCallOutput(StatusItem, kw_only=True):
    """Its screenshot is kept apart from it."""

    acknowledged_safety_checks: list[SafetyCheck] | None = None


# Tools that are loaded on the way


TOOL_KINDS = (
    r"^(function|namespace|custom|shell|local_shell|apply_patch|computer\w*|web_search\w*|file_search|mcp|"
    r"code_interpreter|image_generation|tool_search|programmatic_tool_calling)$"
)


class LoadedTool(Struct, kw_only=True):
    type: Annotated[str, Meta(pattern=TOOL_KINDS)]
    name: str | None = None
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    defer_loading: bool | None = None

    def __post_init__(self) -> None:
        if self.type == "function" and self.name is None:
            raise ValueError("a function has a name")


class AdditionalTools(AnyItem, kw_only=True):
    role: Literal["developer"]
    tools: list[LoadedTool]


class ToolSearchCall(StatusItem, kw_only=True):
    arguments: Any
    execution: Literal["client", "server"] | None = None


class ToolSearchOutput(StatusItem, kw_only=True):
    tools: list[LoadedTool]
    execution: Literal["client", "server"] | None = None


# What OpenAI ran itself


class SearchSource(Struct, kw_only=True):
    type: Literal["url"]
    url: str


class SearchAction(Struct, kw_only=True):
    type: Literal["search", "open_page", "find_in_page", "find"]
    query: str | None = None
    queries: list[str] | None = None
    sources: list[SearchSource] | None = None
    url: str | None = None
    pattern: str | None = None


class WebSearchCall(AnyItem, kw_only=True):
    id: Said
    status: Literal["in_progress", "searching", "completed", "failed"]
    action: SearchAction


class FileSearchCall(AnyItem, kw_only=True):
    id: Said
    status: Literal["in_progress", "searching", "completed", "incomplete", "failed"]
    queries: list[str]
    results: list[dict[str, Any]] | None = None


class CodeInterpreterCall(AnyItem, kw_only=True):
    id: Said
    status: Literal["in_progress", "completed", "incomplete", "interpreting", "failed"]
    container_id: str
    code: str | None = None
    outputs: list[dict[str, Any]] | None = None


class ImageGenerationCall(AnyItem, kw_only=True):
    id: Said
    status: Literal["in_progress", "completed", "generating", "failed"]
    result: str | None = None


class McpTool(Struct, kw_only=True):
    name: str
    input_schema: Any
    description: str | None = None


class McpListTools(AnyItem, kw_only=True):
    id: Said
    server_label: str
    tools: list[McpTool]
    error: str | None = None


class McpApprovalRequest(AnyItem, kw_only=True):
    id: Said
    server_label: str
    name: str
    arguments: str


class McpApprovalResponse(AnyItem, kw_only=True):
    approval_request_id: Said
    approve: bool
    reason: str | None = None


class McpCall(McpApprovalRequest, kw_only=True):
    approval_request_id: str | None = None
    output: str | None = None
    status: Literal["in_progress", "completed", "incomplete", "calling", "failed"] | None = None


class ProgramItem(AnyItem, kw_only=True):
    id: Said
    call_id: Said
    code: str
    fingerprint: str


class ProgramOutput(AnyItem, kw_only=True):
    id: Said
    call_id: Said
    result: str
    status: Literal["completed", "incomplete"]


class CompactionItem(AnyItem, kw_only=True):
    encrypted_content: Said


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
    "computer_call_output": ComputerCallOutput,
    "tool_search_output": ToolSearchOutput,
}
ITEMS: dict[str, type[AnyItem]] = {
    **CALLS,
    **OUTPUTS,
    "additional_tools": AdditionalTools,
    "web_search_call": WebSearchCall,
    "file_search_call": FileSearchCall,
    "code_interpreter_call": CodeInterpreterCall,
    "image_generation_call": ImageGenerationCall,
    "mcp_list_tools": McpListTools,
    "mcp_approval_request": McpApprovalRequest,
    "mcp_approval_response": McpApprovalResponse,
    "mcp_call": McpCall,
    "program": ProgramItem,
    "program_output": ProgramOutput,
    "compaction": CompactionItem,
}
