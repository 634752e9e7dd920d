"""The parts of the docs that are made from code, and what the site needs to build.

`python -m handbook` writes them into the pages, so that they can be read in the repository too, and
`tests/handbook` checks that the pages are up to date. `mkdocs.yml` uses `hooks` and `struct_signatures`.
"""
