"""The documented word for "there is no signature": Gemini 3 takes it on calls that others made."""

SENTINEL = "skip_thought_signature_validator"
