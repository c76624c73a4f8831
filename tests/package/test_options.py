"""The generator of the catalogue: made-up forms, scripts and configurations in, entries, marks and a report out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.package.conftest import REPOSITORY

pytest.importorskip("tree_sitter", reason="tree-sitter reads forms and scripts: make setup")

sys.path.insert(0, os.path.join(REPOSITORY, "package", "options"))
import forms
import generate
import marks
import scripts
from facts import Book, Facts

from oasis.catalogue import installed

VIEW = """
'use strict';
'require form';
'require tools.widgets as widgets';
var Speed = form.Value.extend({ validate: function() { return true } });
const ports = [ ['first', 'uinteger'], ['second', 'port'] ];
return view.extend({
  render: function(data) {
    let m, s, o, ss;
    m = new form.Map('made', _('Made up'), _('A text that nobody takes'));
    s = m.section(form.NamedSection, 'main', 'service', _('Service'));
    s.tab('general', _('General'));
    o = s.taboption('general', form.Flag, 'enabled', _('On'));
    o = s.taboption('general', form.Flag, 'loud', _('Loud'));
    o.enabled = 'yes'; o.disabled = 'no';
    o = s.taboption('general', form.Value, 'listen_port'); o.datatype = 'port';
    o = s.taboption('general', form.Value, 'mtu'); o.datatype = 'and(uinteger, min(68), max(9200))';
    o = s.taboption('general', form.Value, 'peer_address'); o.datatype = 'or(hostname, ip4addr("nomask"))';
    o = s.taboption('general', form.ListValue, 'mode'); o.value('fast', _('Fast')); o.value('slow', _('Slow'));
    o = s.taboption('general', form.ListValue, 'country');
    data.countries.forEach(function(one) { o.value(one.code, one.name) }); o.value('de'); o.value('fr');
    o = s.taboption('general', form.DynamicList, 'word'); o.datatype = 'list(string)';
    o = s.taboption('general', form.MultiValue, 'days'); o.value('mon'); o.value('tue');
    o = s.taboption('general', widgets.NetworkSelect, 'net'); o.multiple = true;
    o = s.taboption('general', widgets.DeviceSelect, 'port_of');
    o = s.taboption('general', widgets.ZoneSelect, 'zone');
    o = s.taboption('general', widgets.UserSelect, 'as_whom');
    o = s.taboption('general', form.FileUpload, 'upload');
    o = s.taboption('general', form.TextValue, 'lines');
    o = s.taboption('general', form.Value, 'login'); o.password = true;
    o = s.taboption('general', form.Value, 'lease'); o.datatype = 'file';
    o = s.taboption('general', Speed, 'speed');
    o = s.taboption('general', form.Value, '_shown'); o.ucioption = 'stored';
    o = s.taboption('general', form.Button, 'press');
    for (let pair of ports) { o = s.taboption('general', form.Value, 'of_' + pair[0]); o.datatype = pair[1]; }
    o = s.taboption('general', form.SectionValue, '_rules', form.GridSection, 'rule');
    ss = o.subsection;
    this.addRules(ss);
    data.each(function(one) { s.option(form.Value, one.name) });
    m = new form.JSONMap({ a: 1 });
    s = m.section(form.TypedSection, 'a');
    s.option(form.Value, 'never');
    return m.render();
  },
  addRules: function(section) {
    section.option(form.Value, 'from').datatype = 'macaddr';
    const names = { one: 'a', two: 'b' };
    Object.keys(names).forEach(key => { section.option(form.Flag, 'with_%s'.format(key)) });
  }
});
"""


def read_view(text, path="applications/luci-app-made/view.js", own="made"):
    book = Book()
    forms.read(text.encode(), path, own, book)
    book.settle()
    return book


def read_script(text, names=None, types=None):
    book = Book()
    book.names["made"] = names or {"main": "service"}
    for type_ in types or ("service",):
        book.section("made", type_)
    scripts.read(("#!/bin/sh /etc/rc.common\n" + text).encode(), "made.init", "made", book)
    book.settle()
    return book


def entry(book, name, type_="service"):
    return marks.entry("made", name, book.packages["made"][type_][name])


@pytest.mark.parametrize(
    "name, expected",
    [
        ("enabled", {"type": "bool"}),
        ("loud", {"values": ["no", "yes"]}),
        ("listen_port", {"type": "port"}),
        ("mtu", {"type": "and(uinteger,min(68),range(-2147483648,9200))"}),
        ("peer_address", {"type": "or(hostname,ip4addr(nomask))", "mark": "outward"}),
        ("mode", {"values": ["fast", "slow"]}),
        ("country", {"type": "scalar"}),  # some choices are made when the form is shown
        ("word", {"type": "scalar", "list": True}),
        ("days", {"values": ["mon", "tue"], "list": True}),
        ("net", {"type": "uciname", "list": True, "ref": "interface"}),
        ("port_of", {"type": "netdevname"}),
        ("zone", {"type": "name", "ref": "zone"}),
        ("as_whom", {"type": "string", "mark": "exec"}),
        ("upload", {"type": "string", "mark": "exec"}),
        ("lines", {"type": "string", "mark": "exec"}),
        ("login", {"type": "scalar", "mark": "secret:made-login"}),
        ("lease", {"type": "string", "mark": "exec"}),
        ("speed", {"type": "scalar"}),
        ("stored", {"type": "scalar"}),
        ("of_first", {"type": "uinteger"}),
        ("of_second", {"type": "port"}),
    ],
)
def test_every_kind_of_field_becomes_an_entry(name, expected):
    assert entry(read_view(VIEW), name) == expected


def test_sections_in_sections_and_functions_of_the_view_are_followed():
    rule = read_view(VIEW).packages["made"]["rule"]
    assert set(rule) == {"from", "with_one", "with_two"}
    assert rule["from"].datatypes == ["macaddr"]


def test_what_is_no_option_is_not_taken_and_no_text_either():
    book = read_view(VIEW)
    assert not {"press", "_shown", "_rules", "never"} & set(book.packages["made"]["service"])
    assert set(book.packages) == {"made"}
    kept = json.dumps(generate.entries(book, {}, {})[0])
    assert "nobody" not in kept and "Fast" not in kept


def test_names_that_are_made_as_the_view_runs_are_reported():
    unread = read_view(VIEW).unread
    assert [what for _, _, what in unread] == ["an option whose name is made as the view runs"]
    assert VIEW.split("\n")[unread[0][1] - 1].strip().startswith("data.each")


def test_a_form_that_names_its_package_by_a_variable_is_the_apps_own():
    view = "m = new form.Map(pkg.Name); s = m.section(form.NamedSection, 'main', pkg.Name); s.option(form.Flag, 'on');"
    assert set(read_view(view).packages["made"]["made"]) == {"on"}
    view = "m = new form.Map(name); m.section(form.TypedSection, 'x').option(form.Flag, 'on');"
    assert read_view(view, "modules/luci-mod-x/view.js", "").unread[0][2].startswith("a form for a package")


def test_a_protocol_handler_is_about_networks():
    view = "return network.registerProtocol('vpn', { renderFormOptions(s) { s.taboption('g', form.Value, 'mru') }})"
    assert set(read_view(view, "protocols/luci-proto-vpn/resources/protocol/vpn.js", "").packages["network"]) == {
        "interface"
    }


SERVICE = """
run() {
	config_load made
	config_get_bool on main on 0
	config_get {name} main {name}
	{use}
}
start_service() { run; }
"""


@pytest.mark.parametrize(
    "use, is_exec",
    [
        ('eval "x=$value"', True),
        ('sh -c "$value"', True),
        ("$value now", True),
        ('. "$value"', True),
        ("x=$($value)", True),
        ('echo hello > "$value"', True),
        ('[ -f "$value" ] && echo yes', True),
        ('mkdir -p "/tmp/$value"', True),
        ("procd_set_param command /usr/bin/made $value", True),
        ('args="-x $value"; procd_append_param command $args', True),
        ('procd_set_param user "$value"', True),
        ('procd_append_param command --name "$value"', False),
        ('echo "name $value" >> /tmp/made.conf', False),
        ('[ "$value" = "x" ] && echo yes', False),
        ("cat > /tmp/made.conf <<-EOF\n\tname $value\n\tEOF", False),
    ],
)
def test_how_a_script_uses_a_text_decides(use, is_exec):
    book = read_script(SERVICE.replace("{name}", "value").replace("{use}", use))
    assert entry(book, "value") == ({"type": "string", "mark": "exec"} if is_exec else {"type": "scalar"})
    assert entry(book, "on") == {"type": "bool"}


@pytest.mark.parametrize(
    "name", ["hook", "up_script", "pre_up", "exec", "command", "rootDir", "extra_args", "logfile", "user"]
)
def test_names_of_code_files_and_arguments_are_exec_whatever_the_script_does(name):
    assert entry(read_script(SERVICE.replace("{name}", name).replace("{use}", "true")), name)["mark"] == "exec"


@pytest.mark.parametrize("name", ["script_enabled", "run_command", "plugins", "sudo"])
def test_even_a_switch_that_is_named_like_code_is_exec(name):
    facts = Facts()
    facts.kinds.append("Flag")
    assert marks.entry("made", name, facts)["mark"] == "exec"


def test_numbers_choices_and_names_of_networks_stay_usable_where_they_are_passed_on():
    for kinds, datatypes, values in (([], ["port"], []), (["ListValue"], [], ["a", "b"]), (["NetworkSelect"], [], [])):
        facts = Facts()
        facts.kinds, facts.datatypes, facts.values, facts.uses = (
            list(kinds),
            list(datatypes),
            list(values),
            {"raw", "code"},
        )
        assert marks.entry("made", "thing", facts).get("mark", "") != "exec"


def test_a_password_that_is_code_too_stays_a_secret():
    book = read_script(SERVICE.replace("{name}", "password").replace("{use}", 'eval "$password"'))
    assert entry(book, "password") == {"type": "string", "mark": "exec", "secret": True}


def test_callbacks_wrappers_lists_and_validation_are_followed():
    book = read_script(
        """
add() {
	local cfg="$1" name="$2" flag="$3"; local value; config_get value "$cfg" "$name"
	procd_append_param command "$flag" "$value"
}
each() { local entry="$1"; procd_append_param command --one "$entry"; }
peer() { local cfg=$1; add "$cfg" host --host; add "$cfg" port --port; config_list_foreach "$cfg" allowed each; }
checked() { uci_load_validate made service "$1" "$2" 'size:range(1,9):3' 'kind:or("a", "b"):a' 'store:directory:/tmp'; }
start_made() { echo $size; }
start_service() {
	config_load "made"
	config_foreach peer peer
	config_foreach checked service start_made
	token="$(uci -q get made.@service[0].token)"
	echo "$token"
}
"""
    )
    assert set(book.packages["made"]["peer"]) == {"host", "port", "allowed"}
    assert book.packages["made"]["peer"]["allowed"].is_list
    assert entry(book, "size") == {"type": "range(1,9)"}
    assert entry(book, "kind") == {"values": ["a", "b"]}
    assert entry(book, "store") == {"type": "string", "mark": "exec"}
    assert entry(book, "token") == {"type": "scalar", "mark": "secret:made-token"}


def test_a_section_without_a_type_is_reported():
    book = read_script("start() { config_load made; config_get x other thing; }")
    assert ("made", 0, "section other has no type: thing") in book.unread


def test_a_protocol_of_netifd_is_read():
    book = read_script(
        "proto_vpn_init_config() { proto_config_add_string 'hub:host'; proto_config_add_boolean fast; }\n"
        "proto_vpn_setup() { json_get_vars hub; proto_run_command x /usr/bin/vpn $hub; }\nadd_protocol vpn\n"
    )
    assert marks.entry("network", "hub", book.packages["network"]["interface"]["hub"])["mark"] == "exec"
    assert marks.entry("network", "fast", book.packages["network"]["interface"]["fast"]) == {"type": "bool"}
    assert book.protocols == {"vpn"}


@pytest.fixture
def tree(tmp_path):
    """Return checkouts of a LuCI and a feed with one package."""
    view = tmp_path / "luci/applications/luci-app-made/htdocs/luci-static/resources/view/made.js"
    package = tmp_path / "feed/net/made"
    (package / "files").mkdir(parents=True)
    view.parent.mkdir(parents=True)
    view.write_text(VIEW)
    (package / "Makefile").write_text(
        "PKG_NAME:=made\ndefine Package/made\nendef\ndefine Package/made/install\n"
        "\t$(INSTALL_CONF) ./files/$(PKG_NAME).config \\\n\t\t$(1)/etc/config/made\n"
        "\t$(INSTALL_BIN) ./files/made.init $(1)/etc/init.d/maded\nendef\n"
    )
    (package / "files/made.config").write_text(
        "# a config file\nconfig service 'main'\n\toption enabled '0'\n\toption folder '/var/made'\n"
        "#\toption quiet '1'\n\toption words 'one two'\n\n#config peer\n#\toption key 'abc'\n"
    )
    (package / "files/made.init").write_text(
        "#!/bin/sh /etc/rc.common\n" + SERVICE.replace("{name}", "word").replace("{use}", 'eval "$word"')
    )
    return tmp_path


def test_a_checkout_is_read_as_a_whole(tree):
    book, apps = generate.read(str(tree / "luci"), [str(tree / "feed")])
    assert apps == ["luci-app-made"]
    made, kept = generate.entries(book, {}, {})
    options = made["made"]["service"]["options"]
    assert options["folder"] == {"type": "string", "mark": "exec"}  # its default is a path
    assert options["quiet"] == {"type": "integer"}  # an example
    assert options["words"]["list"]
    assert options["word"] == {"type": "string", "mark": "exec"}  # the form alone did not say it
    assert made["made"]["peer"]["options"]["key"]["mark"] == "secret:made-key"
    assert kept == [] and book.services == {"made": {"maded"}}
    lines = generate.report(book, made, kept, {})
    assert any("an option whose name is made as the view runs" in line for line in lines)


def test_a_mark_of_code_never_gets_lost_when_it_is_made_again(tree):
    book, _ = generate.read(str(tree / "luci"), [str(tree / "feed")])
    first = generate.entries(book, {}, {})[0]
    assert first["made"]["service"]["options"]["word"]["mark"] == "exec"
    (tree / "feed/net/made/files/made.init").unlink()  # nothing tells it any more
    book, _ = generate.read(str(tree / "luci"), [str(tree / "feed")])
    assert generate.entries(book, {}, {})[0]["made"]["service"]["options"]["word"] == {"type": "scalar", "list": True}
    again, kept = generate.entries(book, {}, first)
    assert again["made"]["service"]["options"]["word"] == {"type": "string", "mark": "exec"}
    assert kept == ["made.service.word"]
    assert "  made.service.word" in generate.report(book, again, kept, {})


def test_a_review_wins_over_rules_and_over_what_was_there(tree):
    book, _ = generate.read(str(tree / "luci"), [str(tree / "feed")])
    first = generate.entries(book, {}, {})[0]
    looked = {"service.word": {"type": "phrase", "list": True}, "service.mtu": "exec", "service.loud": None,
              "rule": "exec", "service.new": "port", "service.login": "exec"}  # fmt: skip
    made, kept = generate.entries(book, {"made": {"options": looked}}, first)
    options = made["made"]["service"]["options"]
    assert options["word"] == {"type": "phrase", "list": True} and kept == []
    assert options["mtu"] == {"type": "string", "mark": "exec"} and options["new"] == {"type": "port"}
    assert options["login"] == {"type": "string", "mark": "exec", "secret": True}
    assert "loud" not in options and made["made"]["rule"]["mark"] == "exec"
    assert json.loads(generate.text(made["made"], True, ["made"]))["reviewed"] is True


def test_sections_that_are_code_are_so_with_all_their_options():
    book = read_view(
        "m = new form.Map('made'); s = m.section(form.TypedSection, 'hook');"
        " s.option(form.Value, 'server').datatype = 'host';"
    )
    made = generate.entries(book, {}, {})[0]["made"]["hook"]
    assert made["mark"] == "exec" and made["options"]["server"]["mark"] == "exec"


@pytest.mark.parametrize(
    "theirs, ours",
    [
        ("string", "scalar"), ("or(port, string)", "scalar"),
        ("list(neg(or(uciname,hostname)))", "neg(or(uciname,hostname))"),
        ("range(68, 9200)", "range(68,9200)"), ("max(5)", "range(-2147483648,5)"), ("file", "!"),
        ("or(file, port)", "!"), ("ip4addr('nomask')", "ip4addr(nomask)"), ("ufloat", "float"),
        ("cidr", "or(cidr4,cidr6)"),
        ('or("auto", uinteger)', "or('auto',uinteger)"),
        ("and(minlength(3), maxlength(20))", "and(scalar,maxlength(20))"),
        ("range(1-500)", "scalar"), ("unheard(of)", "scalar"), ("or(-1, port)", "or('-1',port)"), ("host(0)", "host"),
        ("(((", "scalar"), ("", "scalar"),
    ],
)  # fmt: skip
def test_datatypes_are_those_of_oasis(theirs, ours):
    assert marks.datatype(theirs) == ours


@pytest.mark.parametrize(
    "text", ["", "(", "m = new form.Map(", "s.option(form.Value", "\x00\xff", "return " + "[" * 200]
)
def test_a_damaged_view_or_script_is_no_reason_to_stop(text):
    assert read_view(text).packages == {}
    read_script(text)


def test_the_command_writes_files_that_are_the_same_the_next_time(tree):
    """The real command in a copy, since it writes beside itself."""
    (tree / "package").mkdir()
    for folder in ("package/options", "oasis"):
        shutil.copytree(os.path.join(REPOSITORY, folder), tree / folder)
    argv = [sys.executable, str(tree / "package/options/generate.py"), "--luci", str(tree / "luci")]
    argv += ["--feed", str(tree / "feed")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads((tree / "oasis/catalogue/generated/made.json").read_text())["types"]["service"]["options"]
    again = subprocess.run([*argv, "--check"], capture_output=True, text=True, timeout=120)
    assert again.returncode == 0 and "0 of 2 files would change" in again.stdout, again.stdout + again.stderr


def test_entries_that_are_in_the_catalogue_are_of_its_form_and_keep_the_rules():
    """Of all that is checked in: marks that are code by name, and every verdict of the review."""
    with open(generate.REVIEW, encoding="utf-8") as file:
        review = json.load(file)["packages"]
    seen = 0
    for package, types in generate.stored(generate.FOLDER).items():
        looked = review.get(package, {}).get("options", {})
        for type_, whole in types.items():
            for name, one in whole["options"].items():
                long = {"type": one} if isinstance(one, str) else one
                assert set(long) <= {"type", "values", "list", "mark", "ref", "secret", "bound"}, (package, name)
                is_code = installed.is_code(name) or whole.get("mark") == "exec"
                if is_code and f"{type_}.{name}" not in looked:
                    assert long["mark"] == "exec", (package, type_, name)
                    seen += 1
        for place, verdict in looked.items():
            type_, _, name = place.partition(".")
            if verdict == "exec":
                found = types[type_]["options"][name] if name else types[type_]
                assert found["mark"] == "exec", (package, place)
    assert seen > 100
