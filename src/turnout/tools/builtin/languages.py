"""What file names tell about a project: languages, manifests and usual entry points."""

from __future__ import annotations

LANGUAGES: dict[str, str] = {
    extension: language
    for language, extensions in {
        "Assembly": "asm s",
        "C": "c h",
        "C#": "cs",
        "C++": "cc cpp cxx hh hpp hxx",
        "CSS": "css less sass scss",
        "Clojure": "clj cljs edn",
        "Dart": "dart",
        "Elixir": "ex exs",
        "Elm": "elm",
        "Erlang": "erl hrl",
        "F#": "fs fsx",
        "Go": "go",
        "GraphQL": "gql graphql",
        "HTML": "htm html",
        "Haskell": "hs lhs",
        "JSON": "json jsonc jsonl",
        "Java": "java",
        "JavaScript": "cjs js jsx mjs",
        "Julia": "jl",
        "Jupyter": "ipynb",
        "Kotlin": "kt kts",
        "Lua": "lua",
        "Markdown": "markdown md mdx",
        "Nix": "nix",
        "OCaml": "ml mli",
        "Objective-C": "m mm",
        "PHP": "php",
        "Perl": "pl pm",
        "PowerShell": "ps1 psm1",
        "Protocol Buffers": "proto",
        "Python": "py pyi pyx",
        "R": "r rmd",
        "Ruby": "rake rb",
        "Rust": "rs",
        "SQL": "sql",
        "Scala": "sbt scala",
        "Shell": "bash fish sh zsh",
        "Svelte": "svelte",
        "Swift": "swift",
        "TOML": "toml",
        "Terraform": "hcl tf",
        "Text": "rst txt",
        "TypeScript": "cts mts ts tsx",
        "Vue": "vue",
        "XML": "xml xsd",
        "YAML": "yaml yml",
        "Zig": "zig",
    }.items()
    for extension in extensions.split()
}

MANIFESTS = frozenset(
    (
        *("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "environment.yml"),
        *("package.json", "pnpm-workspace.yaml", "deno.json", "tsconfig.json", "lerna.json", "turbo.json"),
        *("Cargo.toml", "go.mod", "go.work", "pom.xml", "build.gradle", "build.gradle.kts", "build.sbt"),
        *("Gemfile", "composer.json", "mix.exs", "Package.swift", "pubspec.yaml", "CMakeLists.txt"),
        *("meson.build", "configure.ac", "Makefile", "justfile", "Dockerfile", "docker-compose.yml"),
        *("compose.yaml", "flake.nix", "tox.ini", "noxfile.py", "stack.yaml", "dune-project", "build.zig"),
    )
)

ENTRIES = frozenset(
    (
        *("__main__.py", "main.py", "app.py", "cli.py", "manage.py", "wsgi.py", "asgi.py", "server.py"),
        *("index.js", "index.ts", "index.mjs", "main.js", "main.ts", "main.tsx", "server.js", "server.ts"),
        *("app.js", "app.ts", "cli.js", "cli.ts", "main.go", "main.rs", "lib.rs", "main.c", "main.cpp"),
        *("main.cc", "Main.java", "Application.java", "Main.kt", "Program.cs", "main.swift", "main.dart"),
        *("config.ru", "index.php", "index.html", "main.zig", "Main.hs", "application.ex"),
    )
)


def language_of(name: str) -> str:
    """The language of a file by its name; "" when it is not one that we count."""
    if name in ("Makefile", "GNUmakefile", "makefile", "justfile"):
        return "Make"
    if name.startswith("Dockerfile"):
        return "Dockerfile"
    stem, dot, extension = name.rpartition(".")
    return LANGUAGES.get(extension.lower(), "") if dot and stem else ""
