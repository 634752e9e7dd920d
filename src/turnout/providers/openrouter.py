"""OpenRouter: many families behind one door, and their reasoning as `reasoning_details`."""

from msgspec.structs import replace

from ..wire.chat.dialect import USUAL_OPTIONS, ChatDialect
from .families import families
from .hosted_forms import OPENROUTER
from .provider import Provider

EFFORTS = ("minimal", "low", "medium", "high", "xhigh")
CHAT = ChatDialect(
    reasoning_field="reasoning",
    thinking_switch="reasoning",
    efforts=EFFORTS,
    reads=("application/pdf",),
    takes=(*USUAL_OPTIONS, "top_k"),
    hosted=OPENROUTER,
)
# Claude and Gemini know no system text in mid conversation: left to the host, it would be moved.
ONE_SYSTEM = replace(CHAT, system_anywhere=False)

PROVIDER = Provider(
    name="openrouter",
    base_url="https://openrouter.ai/api/v1",
    base_url_variable="OPENROUTER_BASE_URL",
    key_variables=("OPENROUTER_API_KEY",),
    trial_path="/key",  # its list of models is public
    dialect=CHAT,
    overrides=(
        ("*gemini-[3-9]*", replace(ONE_SYSTEM, unreasoned_calls="sentinel")),
        ("*claude*", replace(ONE_SYSTEM, unreasoned_calls="off")),
        *families(CHAT),
    ),
)
