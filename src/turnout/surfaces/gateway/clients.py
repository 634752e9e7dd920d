"""How each client is pointed at the gateway: variables for its environment, or a file of its own. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable

from msgspec import Struct

from ...errors import UsageError


class ClientSetup(Struct, frozen=True):
    """What a client needs: its program, variables, and a file where it has no variables.

    `extension` is code that the client loads with `-e`: `turnout launch` writes it for one run, because
    the address of its own gateway changes with every run.
    """

    program: str
    variables: dict[str, str]
    file: str = ""
    content: str = ""
    arguments: tuple[str, ...] = ()
    note: str = ""
    extension: str = ""


def _claude_code(base: str, token: str, model: str) -> ClientSetup:
    variables = {
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_AUTH_TOKEN": token,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return ClientSetup("claude", variables | ({"ANTHROPIC_MODEL": model} if model else {}))


def _codex(base: str, token: str, model: str) -> ClientSetup:
    settings = (
        'model_provider="turnout"',
        f'model_providers.turnout={{name="turnout", base_url="{base}/v1", '
        'env_key="TURNOUT_GATEWAY_TOKEN", wire_api="responses"}',
    )
    content = (
        f'model_provider = "turnout"\n{_toml_model(model)}\n[model_providers.turnout]\nname = "turnout"\n'
        f'base_url = "{base}/v1"\nenv_key = "TURNOUT_GATEWAY_TOKEN"\nwire_api = "responses"\n'
    )
    arguments = tuple(word for each in settings for word in ("-c", each))
    arguments += ("-m", model) if model else ()
    return ClientSetup("codex", {"TURNOUT_GATEWAY_TOKEN": token}, "~/.codex/config.toml", content, arguments)


def _gemini_cli(base: str, token: str, model: str) -> ClientSetup:
    variables = {"GOOGLE_GEMINI_BASE_URL": base, "GEMINI_API_KEY": token}
    content = json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}) + "\n"
    named = variables | ({"GEMINI_MODEL": model} if model else {})
    return ClientSetup("gemini", named, "~/.gemini/settings.json", content)


def _opencode(base: str, token: str, model: str) -> ClientSetup:
    content = json.dumps(
        {
            "$schema": "https://opencode.ai/config.json",
            "provider": {
                "turnout": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "turnout",
                    "options": {"baseURL": f"{base}/v1", "apiKey": "{env:TURNOUT_GATEWAY_TOKEN}"},
                    "models": {model or "default": {}},
                }
            },
            "model": f"turnout/{model or 'default'}",
        },
        indent=2,
    )
    variables = {"TURNOUT_GATEWAY_TOKEN": token, "OPENCODE_CONFIG_CONTENT": content}
    return ClientSetup("opencode", variables, "opencode.json", content + "\n")


def _pi(base: str, token: str, model: str) -> ClientSetup:
    name = model or "default"
    provider = {"baseUrl": f"{base}/v1", "apiKey": "TURNOUT_GATEWAY_TOKEN", "api": "openai-completions"}
    free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    whole = {"id": name, "name": name, "reasoning": True, "input": ["text", "image"], "cost": free}
    whole |= {"contextWindow": 200_000, "maxTokens": 32_000}
    content = json.dumps({"providers": {"turnout": {**provider, "models": [{"id": name}]}}}, indent=2)
    registered = json.dumps({**provider, "models": [whole]})
    return ClientSetup(
        "pi",
        {"TURNOUT_GATEWAY_TOKEN": token},
        "~/.pi/agent/models.json",
        content + "\n",
        ("--provider", "turnout", "--model", name),
        extension=f'export default (pi) => pi.registerProvider("turnout", {registered});\n',
    )


def _qwen_code(base: str, token: str, model: str) -> ClientSetup:
    variables = {"OPENAI_BASE_URL": f"{base}/v1", "OPENAI_API_KEY": token, "OPENAI_MODEL": model or "default"}
    return ClientSetup("qwen", variables, arguments=("--auth-type", "openai"))


def _llm(base: str, token: str, model: str) -> ClientSetup:
    content = (
        f"- model_id: turnout\n  model_name: {model or 'default'}\n  api_base: {base}/v1\n"
        "  api_key_name: turnout\n  supports_tools: true\n"
    )
    note = "then: llm keys set turnout --value \"$TURNOUT_GATEWAY_TOKEN\"; llm -m turnout 'hello'"
    return ClientSetup(
        "llm",
        {"TURNOUT_GATEWAY_TOKEN": token},
        "extra-openai-models.yaml in the folder of `llm logs path`",
        content,
        note=note,
    )


def _aider(base: str, token: str, model: str) -> ClientSetup:
    variables = {"OPENAI_API_BASE": f"{base}/v1", "OPENAI_API_KEY": token}
    return ClientSetup("aider", variables, arguments=("--model", f"openai/{model or 'default'}"))


def _openai_compatible(base: str, token: str, model: str) -> ClientSetup:
    variables = {"OPENAI_BASE_URL": f"{base}/v1", "OPENAI_API_KEY": token}
    return ClientSetup("", variables | ({"OPENAI_MODEL": model} if model else {}))


CLIENTS: dict[str, Callable[[str, str, str], ClientSetup]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "opencode": _opencode,
    "pi": _pi,
    "qwen-code": _qwen_code,
    "llm": _llm,
    "aider": _aider,
    "openai-compatible": _openai_compatible,
}


def client_setup(client: str, base: str, token: str, model: str = "") -> ClientSetup:
    """How to point a client at the gateway."""
    if (make := CLIENTS.get(client)) is None:
        raise UsageError(f"{client!r} is not a client that is known here; known are {', '.join(CLIENTS)}")
    return make(base, token, model)


def setup_text(setup: ClientSetup, token_shown: str) -> str:
    """Lines for a shell, and the file where there is one. The token is a command in them, not text."""
    lines = [
        f"export {name}={_shell_value(value, token_shown)}"
        for name, value in setup.variables.items()
        if "\n" not in value
    ]
    if setup.file:
        lines += [
            "",
            f"# {setup.file}:",
            *(f"# {line}" if line else "#" for line in setup.content.splitlines()),
        ]
    if setup.program:
        lines += ["", f"# {' '.join([setup.program, *map(_shown_word, setup.arguments)])}"]
    if setup.note:
        lines.append(f"# {setup.note}")
    return "\n".join(lines) + "\n"


def _shell_value(value: str, token_shown: str) -> str:
    return f'"{token_shown}"' if value == token_shown else f"'{value}'"


def _shown_word(word: str) -> str:
    return word if word.replace("-", "").replace("_", "").replace("/", "").isalnum() else f"'{word}'"


def _toml_model(model: str) -> str:
    return f'model = "{model}"\n' if model else ""
