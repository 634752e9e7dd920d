"""Sign-in at GitHub with a code that the user types into a browser (RFC 8628), as a machine without IO.

The machine makes requests and reads their answers; a surface shows the code. Times are seconds on a
clock that only goes forward, so a wrong date on either side changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from urllib.parse import urlencode, urlsplit

from msgspec import Struct

from ..errors import ProviderError, TurnoutError
from .ports import Outgoing, Transport
from .shared_http import SharedHttp
from .small_request import SmallAnswer, read_object, send_small

GITHUB = "https://github.com"
# The public id of GitHub's own Copilot plugins, which is not a secret. GitHub exchanges the tokens of
# no other public client for Copilot tokens. A company with an app of its own sets the variable.
CLIENT_ID = "Iv1.b507a08c87ecfe98"
CLIENT_VARIABLE = "TURNOUT_GITHUB_CLIENT_ID"
GITHUB_VARIABLE = "TURNOUT_GITHUB_URL"
SLOWER = 5.0
"""Seconds by which the interval grows when the server says `slow_down` and names none (RFC 8628 3.5)."""
SHORTEST, LONGEST = 1.0, 60.0

_REASONS = {
    "access_denied": "the sign-in was denied in the browser; run `turnout login copilot` to try again",
    "expired_token": "the code has expired; run `turnout login copilot` to get a new one",
    "device_flow_disabled": "this GitHub does not allow sign-in by code; ask its administrator to allow it",
    "incorrect_client_credentials": "this GitHub does not know our client id; set TURNOUT_GITHUB_CLIENT_ID",
    "incorrect_device_code": "GitHub does not know the code any more; run `turnout login copilot` again",
}


class SignInFailed(TurnoutError):
    """The sign-in ended without an account. `reason` is GitHub's word for it."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class DeviceCode(Struct, frozen=True):
    """What the user needs: type `user_code` at `url`, within so many seconds."""

    user_code: str
    url: str
    expires_in: float


class DeviceLogin:
    """One sign-in. Ask for `code_request`, read the code, then poll until there is a token."""

    def __init__(self, github: str = GITHUB, client_id: str = CLIENT_ID) -> None:
        self.github = github.rstrip("/")
        self._client_id = client_id
        self._device_code = ""
        self._ends = 0.0
        self.interval = SLOWER

    @classmethod
    def of(cls, environment: Mapping[str, str], github: str = "") -> DeviceLogin:
        place = github or environment.get(GITHUB_VARIABLE, "") or GITHUB
        return cls(place, environment.get(CLIENT_VARIABLE, "") or CLIENT_ID)

    @property
    def code_request(self) -> Outgoing:
        return self._post("/login/device/code", {"client_id": self._client_id, "scope": "read:user"})

    def read_code(self, answer: SmallAnswer, now: float) -> DeviceCode:
        """The code for the user. Its time runs from now, by our clock."""
        read = read_object(answer)
        self._device_code = _text(read.get("device_code"))
        code = DeviceCode(
            user_code=_text(read.get("user_code")),
            url=_text(read.get("verification_uri")) or f"{self.github}/login/device",
            expires_in=_seconds(read.get("expires_in"), 900.0),
        )
        if answer.status >= 400 or not self._device_code or not code.user_code:
            raise _failure(_text(read.get("error")), f"HTTP {answer.status}")
        self._ends = now + code.expires_in
        self.interval = _seconds(read.get("interval"), SLOWER)
        return code

    @property
    def poll_request(self) -> Outgoing:
        grant = "urn:ietf:params:oauth:grant-type:device_code"
        asked = {"client_id": self._client_id, "device_code": self._device_code, "grant_type": grant}
        return self._post("/login/oauth/access_token", asked)

    def read_poll(self, answer: SmallAnswer) -> str:
        """The token once the user has agreed; "" while they have not."""
        read = read_object(answer)
        if token := _text(read.get("access_token")):
            return token
        match _text(read.get("error")):
            case "authorization_pending":
                return ""
            case "slow_down":
                self.interval = min(_seconds(read.get("interval"), self.interval + SLOWER), LONGEST)
                return ""
            case "" if answer.status >= 500 or answer.status == 429:
                return ""  # the server is busy; the code stays valid
            case word:
                raise _failure(word, f"HTTP {answer.status}")

    def check_time(self, now: float) -> None:
        """Raise once the code has expired."""
        if now >= self._ends:
            raise _failure("expired_token", "")

    def _post(self, path: str, fields: Mapping[str, str]) -> Outgoing:
        headers = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
        return Outgoing("POST", self.github + path, headers, urlencode(fields).encode())


async def sign_in_by_device(
    login: DeviceLogin,
    show_code: Callable[[DeviceCode], None],
    *,
    transport: Transport | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] | None = None,
) -> str:
    """Drive a sign-in to its end: the GitHub token. `show_code` tells the user what to do."""
    clock, send_by = clock or asyncio.get_running_loop().time, transport or SharedHttp()
    try:
        answer = await send_small(send_by, login.code_request)
    except OSError as error:
        raise _failure("", f"{login.github} cannot be reached ({error or 'no answer in time'})") from error
    show_code(login.read_code(answer, clock()))
    while True:
        await sleep(login.interval)
        login.check_time(clock())
        try:
            answer = await send_small(send_by, login.poll_request)
        except OSError:  # a network that comes and goes; the code stays valid
            continue
        if token := login.read_poll(answer):
            return token


class CopilotSeat(Struct, frozen=True):
    """A token for Copilot, how many seconds it may be used, and the address that it is for."""

    token: str
    seconds: float
    api: str

    def __repr__(self) -> str:
        return f"CopilotSeat({self.api!r}, {self.seconds:.0f} s)"


def seat_request(github: str, github_token: str) -> Outgoing:
    """The request that exchanges a GitHub token for a Copilot token."""
    headers = {"accept": "application/json", "authorization": f"token {github_token}"}
    return Outgoing("GET", f"{_api_of(github)}/copilot_internal/v2/token", headers, b"")


def read_seat(answer: SmallAnswer, now: float) -> CopilotSeat:
    """The seat of an answer. `now` is the wall clock, for servers that name only the end of a token."""
    if answer.status in (401, 403, 404):
        raise ProviderError(_refusal_words(answer.status), kind="auth", status=answer.status)
    read = read_object(answer)
    token, endpoints = _text(read.get("token")), read.get("endpoints")
    if answer.status >= 400 or not token:
        raise ProviderError(
            f"GitHub gave no Copilot token (HTTP {answer.status}); retry in a minute",
            kind="server",
            status=answer.status,
        )
    api = _text(endpoints.get("api")) if isinstance(endpoints, dict) else ""
    return CopilotSeat(token, _lifetime(read, answer, now), api.rstrip("/") if _is_safe(api) else "")


def _is_safe(api: str) -> bool:
    """Whether a token may be sent there: over TLS, or without leaving this machine."""
    place = urlsplit(api)
    return place.scheme == "https" or place.hostname in ("127.0.0.1", "localhost", "::1")


def _lifetime(read: Mapping[str, object], answer: SmallAnswer, now: float) -> float:
    """Seconds for which a token is used: as told, or the end minus the server's own time of day."""
    if (told := _seconds(read.get("refresh_in"), 0.0)) > 0:
        return told
    from email.utils import parsedate_to_datetime

    with suppress(KeyError, TypeError, ValueError):  # no date: our own clock is all there is
        now = parsedate_to_datetime(answer.headers["date"]).timestamp()
    return max(_seconds(read.get("expires_at"), now + 1500.0) - now - 60.0, 30.0)


def _refusal_words(status: int) -> str:
    if status == 401:
        return "GitHub does not accept the stored sign-in any more; run `turnout login copilot` again"
    return "this GitHub account has no Copilot seat; get one at GitHub, or sign in with another account"


def _api_of(github: str) -> str:
    """The API of a GitHub: of github.com, of a company's ghe.com, or of a server of one's own."""
    place = urlsplit(github)
    if place.netloc == "github.com" or place.netloc.endswith(".ghe.com"):
        return f"{place.scheme}://api.{place.netloc}"
    return f"{github.rstrip('/')}/api/v3"


def _failure(word: str, otherwise: str) -> SignInFailed:
    told = _REASONS.get(word) or f"GitHub did not sign you in ({word or otherwise}); try again later"
    return SignInFailed(told, word)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _seconds(value: object, usual: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return usual
    return max(float(value), SHORTEST)
