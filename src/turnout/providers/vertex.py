"""Google Vertex: Gemini, and Claude in Anthropic's own format. The token is Google's, not a key.

Each publisher has a path of its own below the project. Claude's body names the version of the
API and leaves the model out, because the path has it.
"""

from ..wire.anthropic.dialect import ON_ANTHROPIC_ONLY, AnthropicDialect
from ..wire.gemini.dialect import GeminiDialect
from .anthropic import IMAGES
from .hosted_forms import ANTHROPIC, VERTEX
from .provider import Blank, Provider

CLAUDE = AnthropicDialect(
    names_model=False,
    caching="blocks",
    hosted=ANTHROPIC[:1],  # of Anthropic's own tools, Vertex runs the search
    lacks=ON_ANTHROPIC_ONLY,
    extra_body={"anthropic_version": "vertex-2023-10-16"},
)
PROJECT = Blank(
    "PROJECT", "project", ("GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID")
)
LOCATION = Blank(
    "LOCATION", "location", ("GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION", "CLOUD_ML_REGION"), "global"
)
ADDRESS = "https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/"
# The locations that are not one region have hosts of their own.
HOSTS = (
    ("//global-aiplatform.", "//aiplatform."),
    ("//us-aiplatform.", "//aiplatform.us.rep."),
    ("//eu-aiplatform.", "//aiplatform.eu.rep."),
)

PROVIDER = Provider(
    name="vertex",
    family="gemini",
    aliases=("vertexai", "vertex-ai", "google-vertex", "gemini-vertex", "vertex-gemini"),
    base_url=f"{ADDRESS}google",
    base_url_variable="VERTEX_BASE_URL",
    key_variables=("VERTEX_ACCESS_TOKEN",),
    trial_path="",
    token_source="google",
    blanks=(PROJECT, LOCATION),
    spellings=HOSTS,
    dialect=GeminiDialect(sends_ids=False, hosted=VERTEX, mixes_hosted=False),
    serves=(
        (
            "claude*",
            {
                "family": "anthropic",
                "dialect": CLAUDE,
                "images": IMAGES,
                "base_url": f"{ADDRESS}anthropic",
                "spellings": (*HOSTS, ("/publishers/google", "/publishers/anthropic")),
                "path": "/models/{model}:rawPredict",
                "stream_path": "/models/{model}:streamRawPredict",
            },
        ),
    ),
    # Models of other publishers have other endpoints and other bodies there.
    unspoken_models=("mistral*", "codestral*", "llama*", "jamba*", "deepseek*", "qwen*", "gpt-oss*"),
)
