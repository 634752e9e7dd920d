"""GitHub Copilot: several families; newer GPTs take tools through Responses only.

Images without `copilot-vision-request` are a 400. `x-initiator` says whether a user or the agent
(in a tool loop) caused a request.
"""

from ..wire.chat.dialect import ChatDialect
from ..wire.responses.dialect import ResponsesDialect
from .families import families
from .provider import Provider

CHAT = ChatDialect(reasoning_field="reasoning_text", max_stops=4, joins_choices=True)
RESPONSES = ResponsesDialect(stores=False)

PROVIDER = Provider(
    name="copilot",
    aliases=("github-copilot",),
    base_url="https://api.githubcopilot.com",
    base_url_variable="COPILOT_BASE_URL",
    key_variables=("COPILOT_TOKEN", "GITHUB_COPILOT_TOKEN"),
    headers={"copilot-integration-id": "vscode-chat", "editor-version": "turnout/0"},
    vision_header="copilot-vision-request",
    initiator_header="x-initiator",
    dialect=CHAT,
    overrides=(("gpt-5-mini*", CHAT), ("gpt-[5-9]*", RESPONSES), *families(CHAT)),
)
