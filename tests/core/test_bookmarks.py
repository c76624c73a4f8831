"""Headishes and bookmarks: what a name means, when a bookmark moves by itself, what a new message carries."""

from oasis.core import bookmarks
from oasis.core.schema import check_message, check_record
from oasis.errors import UsageError


def name(number):
    return "%025d" % number


def message(number, *parents, head=""):
    value = {"id": name(number), "role": "user", "content": "x", "continues": [name(one) for one in parents]}
    if head:
        value["head"] = head
    check_message(value)
    return value


def chat(*messages):
    return {value["id"]: value for value in messages}


def descends(messages, names, ancestor):
    return bookmarks.descends(names, ancestor, lambda one: messages.get(one, {}).get("continues", []))


def refusal(function, *arguments):
    try:
        function(*arguments)
    except UsageError as error:
        return error.message
    raise AssertionError("it was taken")


def test_25_letters_and_digits_are_an_id_in_any_case_and_are_not_looked_up():
    upper = "F5LXX1ZZ5PNORYNQGLHZMSP33"
    assert bookmarks.resolve(upper, {}) == upper.lower()
    assert bookmarks.resolve("z" * 25, {"z" * 25: name(1)}) == "z" * 25
    for other in ("a" * 24, "a" * 26, "a" * 24 + "-", "a" * 24 + "ä"):
        assert other[:24] in refusal(bookmarks.resolve, other, {})


def test_a_name_is_the_message_where_the_bookmark_stands():
    table = {"home": name(3), "gone": ""}
    assert bookmarks.resolve("home", table, name(9)) == name(3)
    assert "'work'" in refusal(bookmarks.resolve, "work", table)
    assert "'gone'" in refusal(bookmarks.resolve, "gone", table)
    assert "'Home'" in refusal(bookmarks.resolve, "Home", table)


def test_no_headish_is_the_newest_message():
    assert bookmarks.resolve("", {"home": name(3)}, name(9)) == name(9)
    assert "no message yet" in refusal(bookmarks.resolve, "", {}, "")


def test_names_that_mislead_are_refused():
    for wrong in ("", "a" * 25, "x" * 65, "a\nb", "a\x00", "\x1b[1m", " a", "a ", "a\u202eb"):
        assert "bookmark" in refusal(bookmarks.check_name, wrong)
        refusal(bookmarks.record, wrong, name(1))
        if wrong:
            refusal(bookmarks.head_of_turn, [], {}, {}, wrong)
    bookmarks.check_name("home wifi")
    bookmarks.check_name("Gäste-WLAN")


def test_a_record_sets_moves_and_removes():
    lines = [message(1), message(2, 1), bookmarks.record("home", name(1))]
    check_record(lines[-1])
    assert bookmarks.table(lines) == {"home": name(1)}
    lines.append(bookmarks.record("home", name(2).upper()))
    assert bookmarks.table(lines) == {"home": name(2)}
    lines.append(bookmarks.record("home", ""))
    check_record(lines[-1])
    assert bookmarks.table(lines) == {"home": ""}
    assert bookmarks.names(bookmarks.table(lines)) == []
    assert "id" in refusal(bookmarks.record, "home", "elsewhere")


def test_a_bookmark_goes_along_with_the_talk():
    lines = [message(1, head="home"), message(2, 1, head="home"), message(3, 2, head="home")]
    assert bookmarks.table(lines) == {"home": name(3)}


def test_a_bookmark_goes_along_through_messages_without_one():
    lines = [message(1, head="home"), message(2, 1), message(3, 9, 2), message(4, 3, head="home")]
    assert bookmarks.table(lines) == {"home": name(4)}


def test_a_bookmark_does_not_jump_to_another_branch():
    lines = [
        message(1, head="home"),
        message(2, 1, head="home"),
        message(3, 1, head="home"),
        message(4, 3, head="home"),
    ]
    assert bookmarks.table(lines) == {"home": name(2)}
    lines.append(bookmarks.record("home", name(3)))
    assert bookmarks.table(lines) == {"home": name(3)}
    lines.append(message(5, 4, head="home"))
    assert bookmarks.table(lines) == {"home": name(5)}
    lines.append(message(6, 2, head="home"))
    assert bookmarks.table(lines) == {"home": name(5)}


def test_a_removed_bookmark_does_not_come_back_by_itself():
    lines = [message(1, head="home"), bookmarks.record("home", ""), message(2, 1, head="home")]
    assert bookmarks.table(lines) == {"home": ""}
    lines.append(bookmarks.record("home", name(1)))
    lines.append(message(3, 2, head="home"))
    assert bookmarks.table(lines) == {"home": name(3)}


def test_titles_and_other_records_leave_bookmarks_alone():
    lines = [{"title": "x"}, {"type": "archived", "archived": True}, message(1, head="home"), {"type": "newer"}]
    assert bookmarks.table(lines) == {"home": name(1)}


def test_a_new_turn_takes_the_explicit_bookmark_else_that_of_the_last_it_continues():
    messages = chat(message(1, head="first"), message(2, head="second"), message(3))
    table = {"first": name(1), "second": name(2)}
    assert bookmarks.head_of_turn([name(1), name(2)], messages, table) == ("second", False)
    assert bookmarks.head_of_turn([name(2), name(1)], messages, table) == ("first", False)
    assert bookmarks.head_of_turn([name(1), name(3)], messages, table) == ("", False)
    assert (
        bookmarks.head_of_turn([name(9)], messages, table) == bookmarks.head_of_turn([], messages, table) == ("", False)
    )
    assert bookmarks.head_of_turn([name(1), name(2)], messages, table, "third") == ("third", False)


def test_an_explicit_bookmark_from_another_branch_asks_for_a_record():
    messages = chat(message(1), message(2, 1, head="home"), message(3, 1), message(4, 2))
    table = {"home": name(2), "old": ""}
    assert bookmarks.head_of_turn([name(3)], messages, table, "home") == ("home", True)
    assert bookmarks.head_of_turn([name(4)], messages, table, "home") == ("home", False)
    assert bookmarks.head_of_turn([name(2)], messages, table, "home") == ("home", False)
    assert bookmarks.head_of_turn([name(3), name(4)], messages, table, "home") == ("home", False)
    assert bookmarks.head_of_turn([name(3)], messages, table, "old") == ("old", True)


def test_a_removed_bookmark_is_not_handed_on():
    messages = chat(message(1, head="home"))
    assert bookmarks.head_of_turn([name(1)], messages, {"home": ""}) == ("", False)


def test_a_cycle_does_not_hold_up_who_looks_for_an_ancestor():
    messages = chat(message(1, 2), message(2, 1))
    assert not descends(messages, [name(2)], name(9))
    assert descends(messages, [name(2)], name(1))


def follow(table, messages, line):
    """Move the bookmark that a message carries, as the documentation of bookmarks has it."""
    head = line.get("head", "")
    below = [line["id"] == table.get(head)]
    below += [descends(messages, line.get("continues", []), table.get(head))]
    if head and (head not in table or (table[head] and any(below))):
        table[head] = line["id"]


def test_reading_all_lines_and_following_each_new_one_give_the_same_table():
    state = 5
    for seed in range(120):
        lines, table, messages = [], {}, {}
        for number in range(1, 30):
            state = (state * 48271 + seed) % 2147483647
            if state % 7 == 0:
                line = bookmarks.record("abc"[state // 7 % 3], name(state // 3 % number) if state // 5 % 4 else "")
                table[line["name"]] = line["target"]
            else:
                parents = [state // (11 + one) % number for one in range(state % 3)]
                line = message(number, *parents, head=["", "a", "b", "c"][state // 13 % 4])
                follow(table, messages, line)
                messages[line["id"]] = line
            lines.append(line)
            assert bookmarks.table(lines) == table, (seed, number)
