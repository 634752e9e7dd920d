"""codebase_overview: a project of any size on one page.

One walk counts files and lines by language and by folder and collects the files that describe the
project. The walk is bounded in files and in time; the page in length.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from ...model import Outcome
from ..confine import git
from ..confine.file_names import escape_name
from ..confine.file_text import decode_text
from ..confine.ignore import Ignored
from ..confine.open_folder import Entry
from ..confine.output import readable
from ..confine.workspace import WorkspaceFiles
from ..declare.context import ToolContext
from ..declare.tool import tool
from .explain import explain_error, workspace_of
from .languages import ENTRIES, MANIFESTS, language_of

FILES = 50_000
SECONDS = 10.0
COUNTED = 4 * 1024 * 1024  # bytes of a file from which on its lines are not counted
READ = 256 * 1024
DEPTH = 3
FOLDERS, NAMED, LANGUAGES_SHOWN, README_LINES = 40, 20, 15, 25


@tool(risk="read", retry_safe=True, timeout=60, groups=("files",))
def codebase_overview(ctx: ToolContext, path: str = ".") -> Outcome | str:
    """Get to know a project: languages, folders with sizes, manifests, entry points, the README's start.

    Args:
        path: Folder inside the workspace; the workspace itself by default.
    """
    workspace = workspace_of(ctx)
    survey = Survey(ctx, workspace, workspace.identity(path or "."))
    try:
        survey.walk()
    except OSError as error:
        return explain_error(error, path, workspace)
    return "\n\n".join("\n".join(part) for part in survey.page() if part)


class Size(Struct):
    """How much there is of something."""

    files: int = 0
    lines: int = 0

    def add(self, lines: int) -> None:
        self.files += 1
        self.lines += lines

    def __str__(self) -> str:
        plural = "file" if self.files == 1 else "files"
        return f"{self.files:,} {plural}" + (f", {self.lines:,} lines" if self.lines else "")


class Survey:
    """One walk through a project, and the page about it."""

    def __init__(self, ctx: ToolContext, workspace: WorkspaceFiles, path: str) -> None:
        self.ctx, self.workspace, self.path = ctx, workspace, path
        self.deadline = time.monotonic() + SECONDS
        self.all = Size()
        self.languages: dict[str, Size] = {}
        self.folders: dict[str, Size] = {}
        self.other: Counter[str] = Counter()
        self.manifests: list[str] = []
        self.entries: list[str] = []
        self.readme = ""
        self.cut = ""

    def walk(self) -> None:
        ignored = Ignored(self._text)
        found = self.workspace.walk(self.path, lambda name, entry: ignored(name, entry.kind == "directory"))
        for name, entry in found:
            if self.all.files >= FILES or time.monotonic() > self.deadline or self.ctx.cancelled.is_set():
                self.cut = (
                    f"only the first {self.all.files:,} files were looked at; give path to see one folder"
                )
                return
            if entry.kind == "file":
                self._count_file(name, entry)

    def _count_file(self, name: str, entry: Entry) -> None:
        language = language_of(entry.name)
        lines = self._lines(name) if language and entry.size <= COUNTED else 0
        self.all.add(lines)
        if language:
            self.languages.setdefault(language, Size()).add(lines)
        else:
            _, dot, extension = entry.name.rpartition(".")
            self.other[f".{extension.lower()}" if dot else "no extension"] += 1
        inside = self._relative(name)
        parts = inside.split("/")[:-1]
        for depth in range(1, min(len(parts), DEPTH) + 1):
            self.folders.setdefault("/".join(parts[:depth]), Size()).add(lines)
        self._collect_file(name, entry.name, depth=len(parts))

    def _collect_file(self, name: str, base: str, depth: int) -> None:
        if base in MANIFESTS or base.endswith((".csproj", ".sln", ".cabal", ".gemspec")):
            self.manifests.append(name)
        if base in ENTRIES:
            self.entries.append(name)
        if not depth and base.lower().split(".")[0] == "readme" and not self.readme:
            self.readme = name

    def _relative(self, name: str) -> str:
        return name if self.path == "." else name.removeprefix(self.path.rstrip("/") + "/")

    def _lines(self, name: str) -> int:
        try:
            with self.workspace.open(name) as file:
                return file.read(COUNTED).count(b"\n")
        except OSError:
            return 0

    def _text(self, name: str) -> str:
        try:
            with self.workspace.open(name) as file:
                return decode_text(file.read(READ)).text
        except OSError:
            return ""

    # The page

    def page(self) -> Iterator[list[str]]:
        if not self.all.files:
            yield [f"{escape_name(self.path)}: no files (what .gitignore names is left out)"]
            return
        notes = "; ".join(note for note in (self.cut, self.workspace.leaves_out) if note)
        note = f" [{notes}]" if notes else ""
        yield [f"{escape_name(self.path)}: {self.all} (without what .gitignore names){note}"]
        yield list(self._git_lines())
        yield list(self._language_lines())
        yield list(self._folder_lines())
        yield list(self._manifest_lines())
        yield list(self._entry_lines())
        yield list(self._readme_lines())

    def _git_lines(self) -> Iterator[str]:
        if self.path == "." and (branch := git.branch(self.workspace)):
            yield f"Git: {escape_name(branch)}"

    def _language_lines(self) -> Iterator[str]:
        ranked = sorted(self.languages.items(), key=lambda item: (-item[1].lines, -item[1].files, item[0]))
        if ranked:
            yield "Languages:"
        for language, size in ranked[:LANGUAGES_SHOWN]:
            yield f"  {language}: {size}"
        if len(ranked) > LANGUAGES_SHOWN:
            yield f"  and {len(ranked) - LANGUAGES_SHOWN} more"
        if self.other:
            kinds = ", ".join(f"{escape_name(kind)} {count:,}" for kind, count in self.other.most_common(8))
            yield f"  other files: {kinds}"

    def _folder_lines(self) -> Iterator[str]:
        """The largest folders; a folder is never larger than its parent, so parents are among them."""
        largest = sorted(self.folders, key=lambda name: (-self.folders[name].files, name.count("/"), name))
        kept = sorted(largest[:FOLDERS], key=lambda name: name.split("/"))
        if kept:
            yield "Folders:"
        for name in kept:
            indent = "  " * (name.count("/") + 1)
            yield f"{indent}{escape_name(name.rpartition('/')[2])}/  {self.folders[name]}"
        if len(largest) > FOLDERS:
            yield f"  [{len(largest) - FOLDERS:,} smaller folders left out; list_directory shows them]"

    def _manifest_lines(self) -> Iterator[str]:
        if self.manifests:
            yield "Manifests:"
        yield from self._name_lines(self.manifests, with_summary=True)

    def _entry_lines(self) -> Iterator[str]:
        if self.entries:
            yield "Likely entry points:"
        yield from self._name_lines(self.entries)

    def _name_lines(self, names: list[str], with_summary: bool = False) -> Iterator[str]:
        from .manifests import manifest_summary  # it loads a parser of TOML

        near = sorted(names, key=lambda name: (name.count("/"), name))
        for name in near[:NAMED]:
            facts = manifest_summary(name.rpartition("/")[2], self._text(name)) if with_summary else ""
            yield f"  {escape_name(name)}" + (f": {escape_name(facts)}" if facts else "")
        if len(near) > NAMED:
            yield f"  and {len(near) - NAMED:,} more"

    def _readme_lines(self) -> Iterator[str]:
        if not self.readme:
            return
        lines = readable(self._text(self.readme).encode(errors="replace")).split("\n")
        yield f"{escape_name(self.readme)} begins:"
        for line in lines[:README_LINES]:
            yield f"  {line[:200]}".rstrip()
        if len(lines) > README_LINES:
            yield f"  [{len(lines) - README_LINES:,} more lines; read_file shows them]"
