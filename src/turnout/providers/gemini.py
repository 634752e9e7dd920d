"""Google: the Gemini API by key, Code Assist with an OAuth token, and Vertex."""

from ..wire.gemini.dialect import GeminiDialect
from .provider import Provider

PROVIDER = Provider(
    name="gemini",
    aliases=("google", "gemini-generate-content", "generate-content", "google-gemini", "google-genai"),
    base_url="https://generativelanguage.googleapis.com/v1beta",
    base_url_variable="GEMINI_BASE_URL",
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    auth="x-goog-api-key",
    dialect=GeminiDialect(),
    variants={
        "oauth": {
            "base_url": "https://cloudcode-pa.googleapis.com/v1internal",
            "auth": "bearer",
            "key_variables": ("GEMINI_AUTH_TOKEN",),
            "dialect": GeminiDialect(sends_ids=False),
            "envelope": "code-assist",
            "project_variable": "GOOGLE_CLOUD_PROJECT",
            "trial_path": "",
        }
    },
)

VERTEX = Provider(
    name="vertex",
    family="gemini",
    aliases=("vertexai", "vertex-ai", "google-vertex", "gemini-vertex", "vertex-gemini"),
    base_url=(
        "https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/google"
    ),
    base_url_variable="VERTEX_BASE_URL",
    key_variables=("VERTEX_ACCESS_TOKEN",),
    trial_path="",
    dialect=GeminiDialect(sends_ids=False),
    # Models of other publishers have other endpoints and other bodies there (Claude: :rawPredict).
    unspoken_models=(
        "claude*",
        "mistral*",
        "codestral*",
        "llama*",
        "jamba*",
        "deepseek*",
        "qwen*",
        "gpt-oss*",
    ),
)
