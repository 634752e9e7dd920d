"""Targets for the fuzzer; `make fuzz` runs each for a bounded time, `FUZZ_SECONDS=60` by default."""
