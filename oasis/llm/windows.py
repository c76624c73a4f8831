"""How many tokens the model of a service takes at once: what the owner set, what the service says, or its family has.

A service is asked when a turn begins: at first, when its address or model is another one, after a day, and after it
refused a request for its length; who does not answer in time is asked again later. What it says is bounded. A refusal
teaches less, for a day or until the service says another number: then it has another model. Knows no chat and no turn.
"""

from __future__ import annotations

from oasis import providers
from oasis.config.settings import is_at_home
from oasis.errors import OasisError

if False:  # annotations only
    from oasis.config.shapes import Service
    from oasis.core.shapes import Any, Callable
    from oasis.llm.workers import Models

# Where nobody says it: of services in the cloud, and of servers at home, which often start with little.
CLOUD_TOKENS, HOME_TOKENS = 128_000, 8192
# No question with its answer fits into less; more than this no chat here has, and no router should send.
LEAST_TOKENS, MOST_TOKENS = 2048, 256_000
# Models of the cloud by how their names begin. Source: the services' own pages on their models.
FAMILIES = (
    ("gpt-3.5", 16_385), ("gpt-4o", 128_000), ("gpt-4-turbo", 128_000), ("gpt-4.", MOST_TOKENS), ("gpt-4-32k", 32_768),
    ("gpt-4-0613", 8192), ("gpt-4-0314", 8192), ("gpt-4-", 128_000), ("gpt-4", 8192), ("o1-mini", 128_000),
    ("gpt-5", MOST_TOKENS), ("o1", 200_000), ("o3", 200_000), ("o4", 200_000), ("claude", 200_000),
    ("gemini", MOST_TOKENS), ("gemma", HOME_TOKENS), ("open-mistral", 32_000), ("command-a", MOST_TOKENS),
    ("grok-4", MOST_TOKENS),
)  # fmt: skip
# A service that is asked has so long, and who failed is left alone for so long.
ANSWER_S, AGAIN_S = 5.0, 600.0
# A server at home may be started with another model or more memory under the same name.
DAY_S = 86400.0
# Of a refusal: digits of a number that could be one of tokens, and what stands so near before it.
_DIGITS, _BEFORE, _MOST_WORDS = 8, 5, ("max", "limit", "context", "n_ctx", ">")


class Windows:
    """What is known of the services of one daemon; `request(service)` is the part of a request that names one."""

    def __init__(
        self, models: Models, request: Callable[[Service], dict[str, Any]], now_s: Callable[[], float]
    ) -> None:
        self._models = models
        self._request = request
        self._now_s = now_s
        self._said: dict[tuple[str, ...], int] = {}
        self._most: dict[tuple[str, ...], tuple[int, float]] = {}  # beyond which a request was refused, and when
        self._asked_s: dict[tuple[str, ...], float] = {}

    def known(self, service: Service) -> Service:
        """Return a service with the number of tokens that it takes, as far as it is known without asking."""
        place, tokens = _place(service), service["context_tokens"]
        if not tokens:
            tokens = self._said.get(place) or _usual(service)
            most, since_s = self._most.get(place, (tokens, 0.0))
            tokens = min(tokens, most) if self._now_s() - since_s < DAY_S else tokens
        return {**service, "context_tokens": tokens}

    def asked(self, service: Service, is_cancelled: Callable[[], bool]) -> Service:
        """Return a service with what it says itself, where its profile tells how to ask and the owner set nothing."""
        place, now_s = _place(service), self._now_s()
        rest_s = DAY_S if place in self._said else AGAIN_S
        is_due = now_s - self._asked_s.get(place, -rest_s) >= rest_s
        if service["context_tokens"] or not is_due or not _entry(service).get("window"):
            return self.known(service)
        self._asked_s[place] = now_s
        request = {**self._request(service), "only": True}
        request["options"] = {**request["options"], "retries": 0, "connect_s": ANSWER_S}
        try:
            found = self._models.models(request, lambda: is_cancelled() or self._now_s() - now_s > ANSWER_S)
        except OasisError:
            return self.known(service)
        said = found[0].get("context_tokens", 0) if found else 0
        if said >= LEAST_TOKENS:
            said = min(said, _entry(service).get("num_ctx") or MOST_TOKENS)
            if self._said.get(place, said) != said:
                self._most.pop(place, None)
            self._said[place] = said
        return self.known(service)

    def smaller(self, service: Service, refusal: str) -> Service | None:
        """Return a service that refused a request for its length with less to take, None when it has no less.

        `refusal` is what it said: often it names what it takes.
        """
        tokens = service["context_tokens"]
        less = _named(refusal)
        if not LEAST_TOKENS <= less <= tokens - tokens // 16:
            less = tokens // 2
        if less < LEAST_TOKENS:
            return None
        self._most[_place(service)] = less, self._now_s()
        self._asked_s.pop(_place(service), None)
        return {**service, "context_tokens": less}


def _named(refusal: str) -> int:
    """Return the number of tokens that a refusal names as the most, 0 where it names none.

    Sources: the refusals of OpenAI and its kin ("maximum context length is 8192 tokens"), Anthropic ("210000 tokens >
    200000 maximum"), Gemini ("exceeds the maximum number of tokens allowed (8192)") and llama.cpp ("context size (8192
    tokens)").
    """
    words = refusal.lower().replace(",", " ").split()
    for at, word in enumerate(words):
        number = word.strip("().:;,`'\"")
        before = words[max(at - _BEFORE, 0) : at]
        if number.isdecimal() and len(number) < _DIGITS and any(one.startswith(_MOST_WORDS) for one in before):
            return int(number)
    return 0


def _place(service: Service) -> tuple[str, ...]:
    return (service["identifier"], service["profile"], service["base_url"], service["model"])


def _entry(service: Service) -> Any:
    return providers.profiles().get(service["profile"], {})


def _usual(service: Service) -> int:
    """Return what a model of this kind takes where nobody says it."""
    asked = _entry(service).get("num_ctx")
    if asked or service["is_local"] or (service["base_url"] and is_at_home(service["base_url"])):
        return int(asked or HOME_TOKENS)
    name = service["model"].rpartition("/")[2]
    return next((tokens for prefix, tokens in FAMILIES if name.startswith(prefix)), CLOUD_TOKENS)
