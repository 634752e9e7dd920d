"""The packages that come with an extra, and what to tell a user who has not installed it."""

from __future__ import annotations

EXTRA_OF = {
    "click": "terminal",
    "prompt_toolkit": "terminal",
    "rich": "terminal",
    "markdown_it": "terminal",
    "jinja2": "terminal",
    "starlette": "simulate",
    "uvicorn": "simulate",
    "httptools": "gateway",
    "cryptography": "gateway",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "opentelemetry": "otel",
    "google": "vertex",
    "botocore": "bedrock",
    "psycopg": "postgres",
    "psycopg_pool": "postgres",
    "dbos": "dbos",
    "tree_sitter": "tools",
    "tree_sitter_bash": "tools",
}
"""Name of a package in an import -> the extra that installs it, as in `pyproject.toml`."""


def missing_extra(error: ModuleNotFoundError) -> str:
    """What to install so that this import works; "" if no extra of ours brings the module."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRA_OF.get(package)
    return f"this needs {package}, which is not installed: pip install 'turnout[{extra}]'" if extra else ""
