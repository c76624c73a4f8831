"""Taking one change back out of a file that others went on changing: all of it, nothing else, or a conflict."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oasis.change.history.reverse import GONE, OTHER, THERE, reverse
from oasis.uci import model
from oasis.uci.model import preview

BASE = b"""
config defaults
	option input 'REJECT'

config zone 'guest'
	option name 'guest'
	list network 'guest'
	list network 'iot'

config rule
	option name 'Allow-Ping'
	option src 'wan'
	option target 'ACCEPT'

config rule
	option name 'Allow-DHCP'
	option src 'wan'
	option target 'ACCEPT'

config redirect
	option name 'web'
	option dest_port '443'
"""


def step(text):
    """Return an operation from words: `set guest.name=x`, `add rule`, `delete guest`, `reorder guest=0`, …"""
    op, _, rest = text.partition(" ")
    if op == "add":
        return {"op": op, "package": "p", "type": rest}
    where, sign, value = rest.partition("=")
    section, _, option = where.partition(".")
    found = {"op": op, "package": "p", "section": section}
    if option:
        found["option"] = option
    if sign:
        key = {"reorder": "index", "rename": "name"}.get(op, "value" if option else "type")
        found[key] = int(value) if key == "index" else value
    return found


def changed(data, *texts):
    return preview({"p": data}, [step(text) for text in texts])["p"]


def shape(data):
    """Return what a file says: sections in order; the order of options says nothing."""
    return [
        (one.type, "" if one.anonymous else one.name, {str(key): value for key, value in one.options.items()})
        for one in model.parse(data, "p").sections
    ]


def back(before, after, now):
    """Return what the file is with the change taken back, and the conflicts."""
    steps, conflicts = reverse(*(model.parse(data, "p") for data in (before, after, now)))
    return (preview({"p": now}, steps)["p"] if steps else now), conflicts


CHANGES = {
    "an option": ["set @rule[0].target=DROP"],
    "a new option": ["set @rule[1].family=ipv4"],
    "an option removed": ["delete @redirect[0].dest_port"],
    "a list longer": ["add_list guest.network=lab"],
    "a list shorter": ["del_list guest.network=guest"],
    "a list removed": ["delete guest.network"],
    "a list made an option": ["set guest.network=guest"],
    "an option made a list": ["delete @rule[0].src", "add_list @rule[0].src=wan", "add_list @rule[0].src=lan"],
    "a section without a name": ["add rule", "set @rule[-1].name=new", "add_list @rule[-1].proto=tcp"],
    "a named section": ["set cellar=zone", "set cellar.name=cellar"],
    "the first section away": ["delete @defaults[0]"],
    "a section between others away": ["delete @rule[0]"],
    "a named section away": ["delete guest"],
    "two sections away": ["delete @rule[0]", "delete @rule[0]"],
    "all away": ["delete @defaults[0]", "delete guest", "delete @rule[0]", "delete @rule[0]", "delete @redirect[0]"],
    "the last section away": ["delete @redirect[0]"],
    "a section moved up": ["reorder @redirect[0]=0"],
    "a section moved down": ["reorder @defaults[0]=4"],
    "a section renamed": ["rename guest=visitors"],
    "a section named": ["rename @rule[0]=ping"],
    "a section of another type": ["set guest=forwarding"],
    "an option renamed": ["rename @rule[0].target=jump"],
    "one away and one edited": ["delete @rule[0]", "set @rule[0].target=DROP"],
    "one away, one new in its name": ["delete guest", "set guest=rule", "set guest.src=lan"],
    "much": ["set @rule[1].target=DROP", "delete @rule[0]", "add rule", "set @rule[-1].name=x", "reorder guest=0"],
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_taken_back(what):
    after = changed(BASE, *CHANGES[what])
    assert shape(after) != shape(BASE)
    result, conflicts = back(BASE, after, after)
    assert conflicts == []
    assert shape(result) == shape(BASE)


@pytest.mark.parametrize("what", CHANGES)
def test_what_others_added_stays(what):
    after = changed(BASE, *CHANGES[what])
    theirs = ["add ipset", "set @ipset[-1].name=bad", "set attic=include", "set attic.path=x"]
    result, conflicts = back(BASE, after, changed(after, *theirs))
    assert conflicts == []
    assert shape(result) == shape(changed(BASE, *theirs))


@pytest.mark.parametrize("what", CHANGES)
def test_taking_back_twice_does_nothing_more(what):
    after = changed(BASE, *CHANGES[what])
    steps, conflicts = reverse(*(model.parse(data, "p") for data in (BASE, after, BASE)))
    assert (steps, conflicts) == ([], [])


@pytest.mark.parametrize(
    "change, later, section, option, now, expected",
    [
        (["set guest.name=a"], ["set guest.name=b"], "guest", "name", "b", "a"),
        (["set guest.name=a"], ["delete guest.name"], "guest", "name", None, "a"),
        (["set guest.name=a"], ["delete guest"], "guest", "name", None, "a"),
        (["delete guest.name"], ["set guest.name=b"], "guest", "name", "b", None),
        (["add_list guest.network=a"], ["add_list guest.network=b"], "guest", "network",
         ["guest", "iot", "a", "b"], ["guest", "iot", "a"]),
        (["set @rule[1].target=DROP"], ["set @rule[1].target=REJECT"], "@rule[1]", "target", "REJECT", "DROP"),
        (["set @rule[1].target=DROP"], ["reorder @rule[1]=0", "set @rule[0].target=REJECT"], "@rule[0]", "target",
         "REJECT", "DROP"),
        (["set cellar=zone", "set cellar.name=x"], ["set cellar.name=y"], "cellar", "name", "y", "x"),
        (["set cellar=zone", "set cellar.name=x"], ["set cellar.input=DROP"], "cellar", "input", "DROP", None),
        (["set cellar=zone", "set cellar.name=x"], ["rename cellar=attic"], "attic", "", OTHER, THERE),
        (["set cellar=zone", "set cellar.name=x"], ["rename cellar=attic", "set attic.name=y"], "cellar", "", OTHER,
         THERE),
        (["set guest.input=DROP"], ["rename guest=attic", "delete attic.input"], "guest", "input", None, "DROP"),
        (["add rule", "set @rule[-1].name=x"], ["set @rule[-1].src=lan"], "@rule[2]", "src", "lan", None),
        (["add rule", "set @rule[-1].src=x"], ["set @rule[-1].src=lan"], "@rule[2]", "", OTHER, THERE),
        (["delete guest"], ["set guest=zone", "set guest.name=other"], "guest", "", OTHER, GONE),
        (["rename guest=visitors"], ["set guest=zone"], "guest", "", OTHER, GONE),
        (["rename guest=visitors"], ["rename visitors=friends"], "friends", "", "friends", "visitors"),
        (["set guest=rule"], ["set guest=redirect"], "guest", "", "redirect", "rule"),
        (["reorder guest=0"], ["reorder @redirect[0]=0"], "", "", OTHER, THERE),
    ],
)  # fmt: skip
def test_what_somebody_changed_since_is_a_conflict_and_left_alone(change, later, section, option, now, expected):
    after = changed(BASE, *change)
    later = changed(after, *later)
    result, conflicts = back(BASE, after, later)
    assert conflicts == [{"package": "p", "section": section, "option": option, "now": now, "expected": expected}]
    assert shape(result) == shape(later)


def test_the_rest_goes_back_beside_a_conflict():
    after = changed(BASE, "set guest.name=a", "set @rule[0].target=DROP", "delete @redirect[0]")
    now = changed(after, "set guest.name=b")
    result, conflicts = back(BASE, after, now)
    assert [item["option"] for item in conflicts] == ["name"]
    assert shape(result) == shape(changed(BASE, "set guest.name=b"))


def test_a_section_without_a_name_is_found_by_what_it_says_not_by_its_place():
    after = changed(BASE, "set @rule[1].target=DROP")
    theirs = ["delete @rule[0]", "set @rule[0].family=ipv6"]
    result, conflicts = back(BASE, after, changed(after, *theirs))
    assert conflicts == []
    assert shape(result) == shape(changed(BASE, *theirs))


def test_the_only_section_of_its_type_is_found_however_it_was_edited():
    base = b"\nconfig system\n\toption hostname 'a'\n\toption zone 'UTC'\n"
    after = changed(base, "set @system[0].hostname=b")
    result, conflicts = back(base, after, changed(after, "set @system[0].zone=JST", "set @system[0].log=9"))
    assert conflicts == []
    assert shape(result) == [("system", "", {"hostname": "a", "zone": "JST", "log": "9"})]


TWINS = b"\nconfig host\n\toption ip '1'\n\nconfig host\n\toption ip '1'\n\nconfig host\n\toption ip '1'\n"


def test_one_of_several_equal_sections_is_taken_back():
    after = changed(TWINS, "set @host[1].ip=2")
    result, conflicts = back(TWINS, after, after)
    assert conflicts == []
    assert shape(result) == shape(TWINS)


@pytest.mark.parametrize("later", [["delete @host[0]"], ["set @host[2].ip=7"], ["delete @host[1]"]])
def test_nobody_guesses_which_of_several_equal_sections_it_was(later):
    base = changed(TWINS, "set @host[0].ip=2")
    after = changed(base, "set @host[0].ip=1")
    now = changed(after, *later)
    _, conflicts = back(base, after, now)
    assert [(item["now"], item["expected"]) for item in conflicts] == [(OTHER, THERE)]


def test_an_edited_section_is_not_taken_for_its_neighbour():
    base = b"\nconfig host\n\toption mac 'a'\n\toption ip '1'\n\toption dns '1'\n\toption tag 'x'\n"
    after = changed(base, "set @host[0].ip=2")
    now = changed(after, "delete @host[0]", "add host", "set @host[0].mac=b", "set @host[0].ip=2", "set @host[0].dns=1",
                  "set @host[0].tag=x")  # fmt: skip
    result, conflicts = back(base, after, now)
    assert [item["option"] for item in conflicts] == ["ip"]
    assert result == now


def test_a_section_that_is_there_again_is_not_made_twice():
    after = changed(BASE, "delete @rule[0]", "delete guest")
    again = ["add rule", "set @rule[-1].name=Allow-Ping", "set @rule[-1].src=wan", "set @rule[-1].target=ACCEPT"]
    now = changed(after, *again)
    result, conflicts = back(BASE, after, now)
    assert conflicts == []
    assert [one[0] for one in shape(result)] == ["defaults", "zone", "rule", "redirect", "rule"]


# --- Any change, and anything done since.

OPTIONS = ["a", "b", "c", "d"]
VALUES = ["1", "2", "it's"]


@st.composite
def packages(draw):
    """Return sections as {id: (type, name, options)}; each says which one it is, as rules do by their name."""
    found = {}
    for number in range(draw(st.integers(1, 6))):
        name = draw(st.sampled_from(["", "s%d" % number]))
        options = draw(st.dictionaries(st.sampled_from(OPTIONS), values, max_size=3))
        found[number] = (draw(st.sampled_from(["rule", "zone"])), name, {"name": "n%d" % number, **options})
    return found


values = st.sampled_from(VALUES) | st.lists(st.sampled_from(VALUES), min_size=1, max_size=3)


def text(sections):
    lines = []
    for kind, name, options in sections.values():
        lines.append("config %s '%s'" % (kind, name) if name else "config %s" % kind)
        for option, value in options.items():
            for item in value if isinstance(value, list) else [value]:
                word = "list" if isinstance(value, list) else "option"
                lines.append("\t%s %s '%s'" % (word, option, item.replace("'", "'\\''")))
    return ("\n" + "\n".join(lines) + "\n").encode()


@st.composite
def edits(draw, ids, first_new):
    """Return a change as a list of (what, section id, …) that `edited` carries out."""
    found = []
    for number in range(draw(st.integers(1, 4))):
        what = draw(st.sampled_from(["put", "put", "drop", "delete", "add"] if ids else ["add"]))
        if what == "add":
            options = draw(st.dictionaries(st.sampled_from(OPTIONS), values, max_size=3))
            new = first_new + number
            name = draw(st.sampled_from(["", "s%d" % new]))
            kind = draw(st.sampled_from(["rule", "zone"]))
            found.append(("add", new, (kind, name, {"name": "n%d" % new, **options})))
        else:
            found.append((what, draw(st.sampled_from(ids)), draw(st.sampled_from(OPTIONS)), draw(values)))
    return found


def edited(sections, changes):
    found = dict(sections)
    for change in changes:
        what, one = change[:2]
        if what == "add":
            found[one] = change[2]
        elif one in found:
            kind, name, options = found[one]
            if what == "delete":
                del found[one]
            elif what == "put":
                found[one] = (kind, name, {**options, change[2]: change[3]})
            else:
                found[one] = (kind, name, {key: value for key, value in options.items() if key != change[2]})
    return found


def touched(before, after):
    """Return what differs: (section id, option) of edits, (section id, "") of whole sections."""
    found = set()
    for one in {**before, **after}:
        if one not in before or one not in after:
            found.add((one, ""))
            continue
        old, new = before[one][2], after[one][2]
        found |= {(one, option) for option in {**old, **new} if old.get(option) != new.get(option)}
    return found


def meets(ours, theirs):
    """Return whether two changes touch the same option, or one a whole section that the other touches at all."""
    return any(
        one[0] == other[0] and (one[1] == other[1] or "" in (one[1], other[1])) for one in ours for other in theirs
    )


def merged(base, after, now, ours):
    """Return base with only what came after the change."""
    result = {}
    for one in [*base, *[new for new in now if new not in base]]:
        if one in base and (one in now or (one, "") in ours):
            kind, name, options = now.get(one, base[one])
            options = {key: value for key, value in options.items() if (one, key) not in ours}
            options.update({key: value for key, value in base[one][2].items() if (one, key) in ours})
            result[one] = (kind, name, options)
        elif one not in base and one not in after:
            result[one] = now[one]
    return result


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_taking_back_any_change_leaves_exactly_what_was_done_since(data):
    base = data.draw(packages())
    after = edited(base, data.draw(edits(sorted(base), 100)))
    now = edited(after, data.draw(edits(sorted(after), 200)))
    ours, theirs = touched(base, after), touched(after, now)
    assume(not meets(ours, theirs))
    result, conflicts = back(text(base), text(after), text(now))
    assert conflicts == []
    assert shape(result) == shape(text(merged(base, after, now, ours)))


def is_met(base, after, now, item):
    """Return whether something of a change is neither as it made it nor as it was before."""
    one, option = item
    if not option:
        return one in after and one in now and now[one] != after[one]
    before, made = base[one][2].get(option), after[one][2].get(option)
    current = now[one][2].get(option) if one in now else None
    return current not in (before, made) or (one not in now and before is not None)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_there_is_a_conflict_just_when_something_of_the_change_was_changed_again(data):
    base = data.draw(packages())
    after = edited(base, data.draw(edits(sorted(base), 100)))
    now = edited(after, data.draw(edits(sorted(after), 200)))
    ours = touched(base, after)
    # A new section may be one that is gone, edited beyond recognition: nobody knows, so that is one as well.
    assume(not any(one >= 200 for one in now) or all(one in now for one, _ in ours if one in after))
    _, conflicts = back(text(base), text(after), text(now))
    assert bool(conflicts) == any(is_met(base, after, now, item) for item in ours)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_change_of_any_file_is_taken_back_when_nothing_was_done_since(data):
    """Equal sections, moved, renamed and retyped ones too."""
    kinds = st.sampled_from(["rule", "zone", "host"])
    plain = st.tuples(kinds, st.just(""), st.dictionaries(st.sampled_from(OPTIONS), values, max_size=2))
    sections = data.draw(st.lists(plain, min_size=1, max_size=5))
    named = data.draw(st.lists(st.tuples(kinds, st.sampled_from(["x", "y"])), max_size=2, unique_by=lambda one: one[1]))
    base = text(dict(enumerate([*sections, *[(kind, name, {"a": "1"}) for kind, name in named]])))
    after = base
    for _ in range(data.draw(st.integers(1, 5))):
        stand = model.parse(after, "p").sections
        if not stand:
            break
        at = data.draw(st.integers(0, len(stand) - 1))
        one = stand[at]
        call = one.name
        more = [f"set {call}.a=9", f"delete {call}", f"reorder {call}={data.draw(st.integers(0, 5))}", "add rule"]
        if not any(other.name == "z" for other in stand):
            more.append(f"rename {call}=z")
        if not one.anonymous:
            more.append(f"set {call}={data.draw(kinds)}")
        after = changed(after, data.draw(st.sampled_from(more)))
    result, conflicts = back(base, after, after)
    assert conflicts == []
    assert shape(result) == shape(base)
