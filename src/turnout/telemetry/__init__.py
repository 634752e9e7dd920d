"""What is counted and timed, and the way to OpenTelemetry. Numbers and fixed words only.

`counts` is what a session writes to; `otel` exports it where the extra `otel` is installed. Imports `world`,
`tools` and the bottom.
"""
