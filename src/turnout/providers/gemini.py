"""Google: the Gemini API by key, and Code Assist with an OAuth token. Vertex has a file of its own."""

from ..wire.gemini.dialect import GeminiDialect
from .hosted_forms import GEMINI
from .provider import Provider

PROVIDER = Provider(
    name="gemini",
    aliases=("google", "gemini-generate-content", "generate-content", "google-gemini", "google-genai"),
    base_url="https://generativelanguage.googleapis.com/v1beta",
    base_url_variable="GEMINI_BASE_URL",
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    auth="x-goog-api-key",
    dialect=GeminiDialect(hosted=GEMINI),
    variants={
        "oauth": {
            "base_url": "https://cloudcode-pa.googleapis.com/v1internal",
            "auth": "bearer",
            "key_variables": ("GEMINI_AUTH_TOKEN",),
            "dialect": GeminiDialect(sends_ids=False, hosted=GEMINI),
            "envelope": "code-assist",
            "project_variable": "GOOGLE_CLOUD_PROJECT",
            "trial_path": "",
        }
    },
)
