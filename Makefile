PYTHON ?= python3
BIN := .venv/bin

.PHONY: release setup catalogue servers clients demo check test fmt soak fuzz bench shots docs lock clean

setup: .venv/.ready

# Two steps in one environment, so that `make demo` on a fresh machine installs only what the product needs.
.venv/.product: requirements/runtime.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/runtime.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

.venv/.ready: .venv/.product requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	touch $@

# MCP servers and axe, a checker of accessibility, from npm: for tests that are skipped without them.
servers:
	npm install --prefix .npm --ignore-scripts --no-audit --no-fund --loglevel=error \
		@modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-everything@2026.8.31 \
		axe-core@4.14.0

# Coding agents from npm (about 1.4 GB), for the tests of `make soak` that run them.
clients:
	npm install --prefix .npm --ignore-scripts --no-audit --no-fund --loglevel=error \
		@anthropic-ai/claude-code@2.1.197 @openai/codex@0.166.0 @google/gemini-cli@0.61.0 \
		opencode-ai@1.18.33 @qwen-code/qwen-code@0.15.10 @mariozechner/pi-coding-agent@0.73.1

demo: .venv/.product
	$(BIN)/turnout demo

check: setup
	$(BIN)/ruff check src tests bench handbook examples release
	$(BIN)/ruff format --check src tests bench handbook examples release
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py

# Three workers on two cores: the tests of the terminal wait more than they work.
test: check
	$(BIN)/python -m pytest -n 3 --dist worksteal

soak: setup
	TURNOUT_SOAK=1 $(BIN)/python -m pytest -n 2 --dist worksteal --timeout 3000

fmt: setup
	$(BIN)/ruff check --fix src tests bench handbook examples release
	$(BIN)/ruff format src tests bench handbook examples release

fuzz: .venv-fuzz/.ready
	.venv-fuzz/bin/python -m tests.fuzz

.venv-fuzz/.ready: requirements/fuzz.txt
	test -x .venv-fuzz/bin/python || $(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/fuzz.txt
	.venv-fuzz/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

bench: .venv-bench/.ready
	.venv-bench/bin/python -m bench

.venv-bench/.ready: requirements/bench.txt
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# The site, in site/; a warning is an error. The pages that are made from code are written first.
docs: .venv-docs/.ready
	.venv-docs/bin/python -m handbook
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --quiet --strict --clean
	@echo "site/index.html is the first page; search needs a server: python3 -m http.server -d site"

.venv-docs/.ready: requirements/docs.txt
	test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# The wheel and the source archive in dist/, looked into, installed clean on every Python found, each extra tried.
release: setup
	$(BIN)/python -m release

# For maintainers: write the facts of models anew, from the packages that know them and catalogue/by_hand.toml.
catalogue: .venv-bench/.ready
	.venv-bench/bin/python -m catalogue

# Pictures of the terminal at 40, 80 and 120 columns, to be looked at (needs tmux; PNG needs chromium), and of
# the pages in a browser at 380 and 1280 pixels, light and dark, which the guide shows (needs chromium).
shots: setup
	$(BIN)/python -m tests.surfaces.shots shots
	$(BIN)/python -m tests.surfaces.page_shots docs/guide/pages
	$(BIN)/python -m tests.handbook.pictures

# For maintainers: pin again what requirements/*.in ask for (needs uv).
lock:
	for f in runtime dev fuzz bench docs; do \
		uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
			--no-emit-index-url --no-emit-find-links requirements/$$f.in -o requirements/$$f.txt; \
	done

clean:
	rm -rf .venv .venv-fuzz .venv-bench .venv-docs .npm site
