"""The configuration: TOML files, the environment, the command line, and what is in force.

Precedence: command line, environment, the project's file (once trusted), the user's file.
`in_force` gives each setting with its value and its source.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from ..errors import UsageError
from ..model import Origin
from ..providers import PROVIDERS
from ..providers import find_provider as provider
from ..providers.known_facts import set_facts
from ..providers.models import normalize_model_name
from ..providers.prices import Price, set_price
from ..targets.target import Route, Target, find_target, with_dialect
from ..tools.mcp.config import McpServer, read_servers
from ..tools.policy.rules import Mode, Rule
from .accounts import Accounts
from .aws_credentials import with_region
from .folder_sessions import FolderSessions
from .gateway_settings import GatewaySettings
from .grants import Grants
from .keys import KeyCommand, KeyFile, KeySource, account_name
from .learned_steps import LearnedSteps
from .model_names import full_target_name
from .places import Places
from .request_settings import RequestSettings, with_request_settings
from .trust import Trust, project_files

INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
INSTRUCTIONS_LIMIT = 64 * 1024
Dollars = Annotated[float, Meta(ge=0)]
Tokens = Annotated[int, Meta(ge=1)]
ThemeName = Literal["auto", "dark", "light", "mono"]


class Misconfigured(UsageError):
    """A file or a variable holds a value that is not valid, or a needed setting is missing."""


class TargetSettings(RequestSettings, frozen=True, forbid_unknown_fields=True):
    """A target with a name that the user gave: another account, another host."""

    target: str
    base_url: str = ""
    key_variable: str = ""
    key_file: str = ""
    key_command: tuple[str, ...] = ()
    project: str = ""
    location: str = ""  # of a Vertex project
    resource: str = ""  # the name of an Azure resource
    api_version: str = ""  # of Azure's older API
    region: str = ""  # of AWS

    dialect: dict[str, Any] = field(default_factory=dict)  # how the server differs, as `turnout probe` found
    # What it is asked without, as sessions learn it from refusals; `why` and `until` come with such a table.
    without: tuple[Literal["reasoning", "options"], ...] = ()
    why: str = ""
    until: str = ""

    @property
    def address(self) -> dict[str, str]:
        """The words of the address that this target fills in."""
        return {name: getattr(self, name) for name in ("location", "resource", "api_version", "region")}

    @property
    def key(self) -> KeySource | None:
        if self.key_file:
            return KeyFile(self.key_file)
        return KeyCommand(self.key_command) if self.key_command else None


class PriceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens; cached input costs as much as other input unless `cached` is given."""

    input: Dollars
    output: Dollars
    cached: Dollars | None = None
    cache_write: Dollars | None = None


class ModelSettings(RequestSettings, frozen=True, forbid_unknown_fields=True):
    """Facts about a model, which is written `provider:model`, and what its requests get."""

    price: PriceSettings | None = None
    context: Tokens | None = None
    output: Tokens | None = None


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set in a file."""

    model: str = ""
    fallback: tuple[str, ...] = ()
    route: Route | Literal[""] = ""
    fallback_on: tuple[Literal["content_filter", "refusal", "empty"], ...] = ()
    approval: Mode = "ask"
    system: str = ""
    thinking: bool | None = None
    effort: str | None = None
    foreign_thinking: Literal["omit", "as_text"] | None = None
    theme: ThemeName = "auto"
    max_cost: Dollars | None = None
    subagents: bool = True
    network: bool = False
    taint: bool = True
    targets: dict[str, TargetSettings] = field(default_factory=dict)
    models: dict[str, ModelSettings] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    gateway: GatewaySettings = GatewaySettings()
    profiles: dict[str, dict[str, Any]] = field(default_factory=dict)


class SettingInForce(Struct, frozen=True):
    """One setting with its value and its source."""

    name: str
    value: Any
    source: str


class Config(Struct, frozen=True):
    """The settings in force, and the files that have no effect because they are not trusted."""

    settings: Settings
    sources: dict[str, str]
    untrusted: tuple[Path, ...]
    environment: Mapping[str, str]
    places: Places
    folder: Path

    @property
    def in_force(self) -> list[SettingInForce]:
        values = msgspec.structs.asdict(self.settings)
        return [
            SettingInForce(name, value, self.sources.get(name, "default")) for name, value in values.items()
        ]

    def target(self, name: str, base_url: str = "") -> Target:
        """A target by its name in a file, or as `provider:model`; at `base_url` if given."""
        if (named := self.settings.targets.get(name)) is not None:
            return self._place_target(Origin.parse(named.target), base_url, named, name)
        asked = Origin.parse(name)
        if asked.provider in self.settings.targets and asked.provider not in PROVIDERS and asked.model:
            named = self.settings.targets[asked.provider]  # another model of a server with a name
            origin = replace(Origin.parse(named.target), model=asked.model)
            return self._place_target(origin, base_url, named, asked.provider)
        origin = self._with_default_model(Origin.parse(full_target_name(name)))
        named = self.settings.targets.get(origin.endpoint)
        if named is not None and origin.provider == Origin.parse(named.target).provider:
            # another model of the same account
            asked = replace(Origin.parse(named.target), model=origin.model)
            return self._place_target(asked, base_url, named, origin.endpoint)
        return self._place_target(origin, base_url)

    def _place_target(
        self, origin: Origin, base_url: str, named: TargetSettings | None = None, endpoint: str = ""
    ) -> Target:
        """A target at the address and for the project that its settings or the environment give."""
        known = provider(origin.provider).at(origin.endpoint)
        settled = (named.base_url, named.project) if named is not None else ("", "")
        address = named.address if named is not None else {}
        place = base_url or settled[0] or self.environment.get(known.base_url_variable, "")
        project = settled[1] or self.environment.get(known.project_variable, "")
        found = find_target(
            origin,
            base_url=place,
            endpoint=endpoint,
            project=project,
            address=address,
            environment=self.environment if known.token_source != "aws" else with_region(self.environment),
        )
        if named is not None and named.dialect:
            found = with_dialect(found, named.dialect, endpoint)
        settings = [*self._settings_of_model(found), *([(f"[targets.{endpoint}]", named)] if named else [])]
        return with_request_settings(found, settings) if settings else found

    def _settings_of_model(self, place: Target) -> Iterator[tuple[str, ModelSettings]]:
        """What the files say about a model; names that it begins with count, the longest last."""
        model = normalize_model_name(place.model)
        for name in sorted(self.settings.models, key=len):
            origin = _model_at_provider(name)
            known = provider(origin.provider).name
            if known == place.origin.provider and model.startswith(normalize_model_name(origin.model)):
                yield f'[models."{name}"]', self.settings.models[name]

    def _with_default_model(self, origin: Origin) -> Origin:
        """For a provider without a model: its default model."""
        if origin.model:
            return origin
        known = provider(origin.provider).name
        if known not in DEFAULT_MODELS:
            raise UsageError(f"name a model of {known} too: {known}:MODEL")
        return replace(origin, model=DEFAULT_MODELS[known])

    def targets(self) -> list[str]:
        """Names to choose from: those of the files, then a model of each provider that there is a key for."""
        settled = [self.settings.model, *self.settings.fallback, *self.settings.targets]
        usual = [f"{name}:{model}" for name, model in DEFAULT_MODELS.items() if self.has_key(name)]
        return [name for name in dict.fromkeys([*settled, *usual]) if name]

    def source_of(self, name: str) -> str:
        """Where the name of a target comes from."""
        if (named := self.sources.get(f"targets.{name}")) is not None:
            return named
        if name == self.settings.model:
            return self.sources.get("model", "")
        if name in self.settings.fallback:
            return self.sources.get("fallback", "")
        return self.key_source(Origin.parse(full_target_name(name)).provider)

    def has_key(self, name: str) -> bool:
        """Whether the environment or a stored account holds a key of this provider."""
        return bool(self.key_source(name))

    def key_source(self, name: str) -> str:
        """Where the key of a provider comes from, in words; "" if there is none."""
        known = provider(name)
        if found := [each for each in known.key_variables if self.environment.get(each)]:
            return f"{found[0]} is set"
        stored = self.accounts.accounts_for(Origin(known.name, "", ""), known) if self.accounts else ()
        return f"signed in: {', '.join(account.name for account in stored)}" if stored else ""

    @property
    def accounts(self) -> Accounts | None:
        """The accounts that the user has signed in to."""
        return Accounts.of(self.environment)

    def keys(self) -> dict[str, KeySource]:
        """Keys of named targets; the usual variables are read by the session itself."""
        found: dict[str, KeySource] = {}
        for name, named in self.settings.targets.items():
            key = named.key or self.environment.get(named.key_variable, "")
            if key:
                found[account_name(self.target(name))] = key
        return found

    def set_facts(self) -> None:
        """Use the prices, windows and output limits of the files in this process."""
        for name, model in self.settings.models.items():
            origin = _model_at_provider(name)
            at = provider(origin.provider)
            limits = {"context": model.context, "output": model.output}
            if own := {fact: tokens for fact, tokens in limits.items() if tokens is not None}:
                set_facts(at.name, origin.model, **own)
            if model.price is None:
                continue
            # Anthropic's count of input leaves out what came from the cache; others' counts hold it.
            apart = at.serving_model(origin.model).speaks(origin.model).counts_cached_apart
            price = Price(**msgspec.structs.asdict(model.price), counts_cached_apart=apart)
            set_price(origin.model, price, provider=at.name)

    def default_model(self) -> str:
        """The model of the settings, else that of the first provider whose key is there."""
        if self.settings.model:
            return self.settings.model
        for name, model in DEFAULT_MODELS.items():
            if self.has_key(name):
                return f"{name}:{model}"
        raise Misconfigured(
            "no model: give one with -m provider:model, set `model` in the configuration, set a key "
            "such as ANTHROPIC_API_KEY, or sign in with `turnout login`"
        )

    def instructions(self) -> str:
        """The project's instructions: AGENTS.md or a similar file of the nearest folder that has one."""
        path = self.instructions_file
        if path is None:
            return ""
        with path.open("rb") as file:
            return file.read(INSTRUCTIONS_LIMIT).decode(errors="replace")

    @property
    def instructions_file(self) -> Path | None:
        """The nearest one. A link that leads out of the project is ignored: it may expose a private file."""
        folders = list(_up_to_the_project(self.folder))
        top = folders[-1].resolve()
        for path in (folder / name for folder in folders for name in INSTRUCTIONS):
            if path.is_file() and path.resolve().is_relative_to(top) and os.access(path, os.R_OK):
                return path
        return None

    def mcp_servers(self) -> dict[str, McpServer]:
        """The MCP servers of the user's file, and of the project's once those are trusted."""
        found: dict[str, McpServer] = {}
        own = self.places.config / "mcp.json"
        if own.is_file():
            found |= _servers(own.read_bytes(), own)
        for path in (self.folder / name for name in MCP_FILES):
            data = self.read_trusted(path)
            found |= _servers(data, path) if data is not None else {}
        return found

    def read_trusted(self, path: Path) -> bytes | None:
        """The content of a project file if it exists and is trusted."""
        try:
            return Trust(self.places).read(path)
        except OSError:
            return None

    @property
    def folder_sessions(self) -> FolderSessions:
        """Which sessions were opened in which folder."""
        return FolderSessions(self.places.state / "folders.json")

    @property
    def learned_steps(self) -> LearnedSteps:
        """What sessions learned from refusals."""
        lasting = {name: tuple(named.without) for name, named in self.settings.targets.items()}
        return LearnedSteps(self.places.state / "learned.toml", lasting)

    @property
    def grants(self) -> Grants:
        return Grants(self.places, self.folder)


MCP_FILES = (".mcp.json", ".turnout/mcp.json")


def _servers(data: bytes, path: Path) -> dict[str, McpServer]:
    try:
        return read_servers(data, str(path))
    except UsageError as error:
        raise Misconfigured(str(error)) from None


def _up_to_the_project(folder: Path) -> Iterator[Path]:
    """The folder and its parents, up to the root of the repository."""
    above = [folder, *folder.parents]
    for at, place in enumerate(above):
        if (place / ".git").exists():
            yield from above[: at + 1]
            return
    yield folder


def _model_at_provider(name: str) -> Origin:
    origin = Origin.parse(name)
    if not origin.model or origin.endpoint:
        raise Misconfigured(f'[models."{name}"]: write it as "provider:model", such as "openai:gpt-5.2"')
    try:
        provider(origin.provider)
    except UsageError as error:
        raise Misconfigured(f'[models."{name}"]: {error}') from None
    return origin


# Current ones: in the lists of the SDKs, without an announced end, and with rules that we know
# (`tests/providers/test_catalogue.py`). The newest model of a maker is not always among those.
DEFAULT_MODELS = {
    "anthropic": "claude-sonnet-5",
    "openai": "gpt-5.2",
    "gemini": "gemini-3.8-flash",
    "mistral": "mistral-large-latest",
    "kimi": "kimi-k3",
    "deepseek": "deepseek-v4-pro",
    "openrouter": "anthropic/claude-sonnet-5",
    "xai": "grok-4.7",
    "groq": "llama-3.3-70b-versatile",
    "qwen": "qwen3-max",
    "zai": "glm-5.3",
    "openai-responses": "gpt-5.6-sol",
}


def load_config(environment: Mapping[str, str], folder: Path, *, profile: str = "", **given: Any) -> Config:
    """Read everything that applies in this folder."""
    places = Places.of(environment)
    trust = Trust(places)
    layers = [_read_config(path) for path in [places.config / "config.toml"] if path.is_file()]
    contents = {path: trust.read(path) for path in project_files(folder)}
    project = folder / ".turnout" / "config.toml"
    if (data := contents.get(project)) is not None:
        layers.append((str(project), _project_level(_parse_config(str(project), data))))
    layers += [(name, {"model": value}) for name in ("TURNOUT_MODEL",) if (value := environment.get(name))]
    layers.append(("command line", {name: value for name, value in given.items() if value not in (None, ())}))
    values, sources = _merge_layers(layers, profile or environment.get("TURNOUT_PROFILE", ""))
    untrusted = tuple(path for path, data in contents.items() if data is None)
    settings = _settings(values)
    settings = replace(settings, rules=tuple(_at_home(rule, environment) for rule in settings.rules))
    return Config(settings, sources, untrusted, environment, places, folder)


def _read_config(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from None
    return str(path), _parse_config(str(path), data)


def _parse_config(source: str, data: bytes) -> dict[str, Any]:
    """The values of a file, after each of its settings and profiles was checked."""
    import tomllib  # most starts read no file

    try:
        values = tomllib.loads(data.decode())
        for each in (values, *msgspec.convert(values, Settings).profiles.values()):
            msgspec.convert(each, Settings)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Misconfigured(f"{source}: {error}") from None
    except msgspec.ValidationError as error:
        raise Misconfigured(f"{source}: {error}.{_hint(str(error))}") from None
    return values


def _hint(error: str) -> str:
    """The valid values, where the error is about a name or a choice."""
    if "unknown field" in error and "$" not in error:
        return f" The settings are {', '.join(Settings.__struct_fields__)}"
    choices = {"approval": get_args(Mode), "route": get_args(Route), "theme": get_args(ThemeName)}
    found = next((name for name in choices if error.endswith(f"`$.{name}`")), "")
    return f" It is one of {', '.join(choices[found])}" if found else ""


def _project_level(values: dict[str, Any]) -> dict[str, Any]:
    """A project's rules are marked as the project's, those of its profiles too.

    A project cannot say where the gateway sends what other programs ask: `gateway` is left out.
    """
    marked = {name: value for name, value in values.items() if name != "gateway"}
    if isinstance(rules := values.get("rules"), list):
        marked["rules"] = [{**rule, "level": "project"} for rule in rules if isinstance(rule, dict)]
    if isinstance(profiles := values.get("profiles"), dict):
        marked["profiles"] = {name: _project_level(each) for name, each in profiles.items()}
    return marked


def _merge_layers(
    layers: list[tuple[str, dict[str, Any]]], profile: str
) -> tuple[dict[str, Any], dict[str, str]]:
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    known = {name for _, layer in layers for name in layer.get("profiles", ())}
    if profile and profile not in known:
        raise Misconfigured(
            f"there is no profile {profile!r}; known are: {', '.join(sorted(known)) or 'none'}"
        )
    for source, layer in layers:
        chosen = layer.get("profiles", {}).get(profile, {}) if profile else {}
        for name, value in {**layer, **chosen}.items():
            if name == "rules":  # rules of every level count together: a denial anywhere is a denial
                value = [*values.get("rules", ()), *value]
            elif name in ("targets", "models"):
                sources |= {f"{name}.{each}": source for each in value}
                value = {**values.get(name, {}), **value}
            values[name] = value
            sources[name] = f"{source} (profile {profile})" if name in chosen else source
    return values, sources


def _at_home(rule: Rule, environment: Mapping[str, str]) -> Rule:
    """A rule about `~/…` with the path of the home folder: tools see absolute paths."""
    home = environment.get("HOME", "")
    if not home or not rule.path.startswith("~/"):
        return rule
    return replace(rule, path=home.rstrip("/") + rule.path.removeprefix("~"))


def _settings(values: dict[str, Any]) -> Settings:
    try:
        return msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:  # of the environment or the command line: files were looked at
        raise Misconfigured(f"configuration: {error}") from None
