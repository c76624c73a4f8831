"""Feeding helpers for decoder tests: the same events whole, byte by byte and at every cut."""

from oasis import providers
from oasis.providers import wire

STREAM = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


def options(profile, **more):
    return {"profile": {**providers.profiles()[profile], "id": profile}, "stream": True, "model": "m-1", **more}


def plain(read, status, headers, body, asked):
    """Return what `models_read` or `embed_read` makes of a plain answer."""
    return read(wire.answer_of(status, headers, body, asked), asked)


def decode(raw, profile="compatible", status=200, headers=None, pieces=None, **more):
    """Return the events of one way to cut an answer; the default is one piece."""
    asked = options(profile, **more)
    decoder = providers.load(asked["profile"]["vendor"]).Decoder(status, STREAM if headers is None else headers, asked)
    events = []
    for piece in [raw] if pieces is None else pieces:
        events.extend(decoder.feed(piece))
    events.extend(decoder.close())
    return events


def joined(events):
    """Return the events with neighbouring texts joined, since cuts may move between them."""
    out = []
    for event in events:
        plain = event["type"] in ("delta", "thinking") and "provider_metadata" not in event
        if out and plain and out[-1]["type"] == event["type"] and "provider_metadata" not in out[-1]:
            out[-1] = {"type": event["type"], "text": out[-1]["text"] + event["text"]}
        else:
            out.append(event)
    return out


def at_every_cut(raw, **how):
    """Return the events of an answer, and check that no cut changes them."""
    whole = joined(decode(raw, **how))
    assert joined(decode(raw, pieces=[raw[i : i + 1] for i in range(len(raw))], **how)) == whole
    step = max(1, len(raw) // 60)
    for cut in range(0, len(raw), step):
        assert joined(decode(raw, pieces=[raw[:cut], raw[cut:]], **how)) == whole, cut
    assert [event["type"] for event in whole if event["type"] in ("done", "error")] == [whole[-1]["type"]]
    return whole


def cut_off_everywhere(raw, **how):
    """Check that an answer that breaks off after any byte is an error without a call, or the whole one."""
    whole = joined(decode(raw, **how))
    assert whole[-1]["type"] == "done"
    short = 0
    for end in range(len(raw)):
        events = joined(decode(raw[:end], **how))
        if events[-1]["type"] == "done" and end < len(raw):
            assert events == whole, end
            continue
        short += 1
        code = error_of(events)["code"]
        assert code in ("truncated", "empty_answer", "bad_answer"), (end, code)
        assert not calls_of(events), end
    assert short > len(raw) // 2


def sse(*chunks, end="\n", done=True):
    """Return a stream of JSON texts (or lines that begin with `:`) as server-sent events."""
    text = "".join([(chunk if chunk.startswith(":") else "data: " + chunk) + end + end for chunk in chunks])
    return (text + ("data: [DONE]" + end + end if done else "")).encode("utf-8")


def text_of(events):
    return "".join([event["text"] for event in events if event["type"] == "delta"])


def calls_of(events):
    return [event for event in events if event["type"] == "tool_use"]


def error_of(events):
    assert [event["type"] for event in events].count("error") == 1, events
    assert events[-1]["type"] == "error"
    return events[-1]["error"]
