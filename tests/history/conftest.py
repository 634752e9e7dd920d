"""Whatever these tests read goes through both paths of ingest."""

from tests.history.ingest.both_paths import both_paths_agree

__all__ = ["both_paths_agree"]
