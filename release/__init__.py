"""What is done before turnout is given out: build, look into the archives, install them clean, list licences.

`make release` runs all of it, `python -m release --quick` what needs no installation. `archives` builds and
checks the wheel and the source archive, `pythons` finds interpreters and makes clean environments, `smoke`
tries each extra there, `licences` writes `docs/licences.md`.
"""
