"""Makes the table of model facts: `make catalogue` writes `src/turnout/providers/catalogue.json`."""
