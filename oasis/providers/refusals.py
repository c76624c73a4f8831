"""Parameters that a model does not take: which one a service's 400 names, and how the request looks without it.

    named(words, codes, value) -> NAME, or NAME=OTHER when the service says what it is called instead; "" for none
    without(request, names) -> the request without them

Only what the answer can do without is ever left out: a limit, a temperature, how much to think; never the messages,
the model or the tools. Knows the error bodies of all services, because they imitate each other.
Source: error bodies of OpenAI and Azure (`param`), Anthropic, Gemini, Groq, Mistral and vLLM (`detail[].loc`), xAI,
Ollama and llama.cpp.
"""

from __future__ import annotations

import re

from oasis.core import jsonl

# Name in a body -> how services call it in their words, beside that name itself.
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "max_tokens": (),
    "max_completion_tokens": (),
    "max_output_tokens": (),
    "temperature": (),
    "top_p": (),
    "top_k": (),
    "seed": (),
    "stream_options": ("include_usage",),
    "parallel_tool_calls": (),
    "reasoning_effort": ("reasoningeffort", "reasoning effort"),
    "reasoning": ("reasoning.effort", "reasoning.summary"),
    "include": ("encrypted content",),
    "thinking": ("budget_tokens",),
    "think": ("thinking",),
    "thinkingConfig": ("thinking_config", "thinkinglevel", "thinkingbudget", "thinking level", "thinking budget"),
    "chat_template_kwargs": ("enable_thinking",),
    "verbosity": (),
    "frequency_penalty": (),
    "presence_penalty": (),
    "prompt_cache_key": (),
    "service_tier": (),
}
_OTHERS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
# Where vendors keep them, beside the body itself.
_PLACES = ("generationConfig", "options")

# What makes a 400 that names a parameter one that refuses it; a value that is too large is for a person to correct.
_REFUSING = re.compile(
    r"not support|unsupported|unrecogni[sz]ed|unknown (?:name|field|parameter|argument)|not permitted|not allowed"
    r"|extra_forbidden|deprecated|unexpected|cannot find field|may only be|no longer|not available"
)
_FIRST_CHARS = 2000  # of the words that are searched; a page of them refuses nothing


def named(words: str, codes: str, value: object) -> str:
    """Return the parameter that an error object refuses, "" for none.

    `words` and `codes` are those of the object (faults.words_of).
    """
    text = (words + " " + codes)[:_FIRST_CHARS].lower()
    if not _REFUSING.search(text):
        return ""
    said = _pointed_at(value).lower()
    name = _first(said) if said else _first(text)
    other = _OTHERS.get(name, "")
    return f"{name}={other}" if other and re.search(rf"\b{other}\b", text.replace(name, "", 1)) else name


def _pointed_at(value: object) -> str:
    """Return what the object itself says it is about: OpenAI's `param`, the last step of FastAPI's `loc`."""
    if not isinstance(value, dict):
        return ""
    inner = value.get("error")
    source = inner if isinstance(inner, dict) else value
    detail = source.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):
        steps = detail[0].get("loc")
        return ".".join([str(step) for step in steps[1:]]) if isinstance(steps, list) else ""
    parameter = source.get("param")
    return parameter if isinstance(parameter, str) else ""


def _first(text: str) -> str:
    """Return the known parameter that a text names first; of two at one place the longer."""
    best = (len(text) + 1, 0, "")
    for name, others in _PARAMETERS.items():
        for spelling in (name.lower(), *others):
            found = re.search(rf"\b{re.escape(spelling)}\b", text)
            if found:
                best = min(best, (found.start(), -len(spelling), name))
    return best[2]


def has(request: dict[str, object], name: str) -> bool:
    """Tell whether a request says anything of a parameter, as `named` gives it."""
    return without(request, [name]) is not request


def without(request: dict[str, object], names: list[str]) -> dict[str, object]:
    """Return a request that leaves parameters out, or calls them otherwise; the very same when it has none of them."""
    raw = request["body"]
    if not names or not isinstance(raw, bytes) or not raw:
        return request
    body = jsonl.loads(raw, max_bytes=len(raw))
    if not isinstance(body, dict):
        return request
    dropped = [name for name in names if _drop(body, *name.partition("=")[::2])]
    if not dropped:
        return request
    return {**request, "body": jsonl.dumps(body).encode("utf-8")}


def _drop(body: dict[str, object], name: str, other: str) -> bool:
    is_found = False
    # Anthropic and DeepSeek call `thinking` what Ollama calls `think`; services say either.
    for field in (name, *{"think": ("thinking",), "thinking": ("think",)}.get(name, ())):
        for place in (body, *[body[key] for key in _PLACES if key in body]):
            if isinstance(place, dict) and field in place:
                value = place.pop(field)
                is_found = True
                if other:
                    place[other] = value
    return is_found
