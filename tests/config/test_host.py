"""The layers above UCI on a host that is no router, and that a router has none."""

import os
import subprocess
import sys

import pytest

from oasis.config.settings import Settings, found
from oasis.errors import OasisError, SettingsError, UsageError
from oasis.llm.services import Book
from oasis.system.files import Files
from oasis.system.root import Root
from tests.oasisd import copy_root

KEY = "sk-env-00112233"
TOML = """
[main]
worker_max = 5
archive_gzip = false
budget_cost = 2.5

[[service]]
name = "OpenAI"
model = "gpt-5"
temperature = 0.2

[[service]]
name = "Ollama"
identifier = "home"
model = "tiny"
thinking = 500

[[alias]]
name = "nano"
target = ["home", "openai/small"]

[[price]]
model = "gpt-5"
input = 1.25
output = "10"
"""


@pytest.fixture
def root(tmp_path):
    return copy_root(str(tmp_path / "router"))


def layered(root, text=TOML, **environment):
    with open(root + "/oasis.toml", "w") as handle:
        handle.write(text)
    return Settings(Root(root), Files(), environment)


def test_the_file_lies_above_uci_and_the_environment_above_the_file(root):
    settings = layered(root, OASIS_WORKER_MAX="7", OASIS_APPROVAL="all", OASIS_ROOT=root)
    assert settings.number("worker_max", 2) == 7 and settings.choice("approval", ("risky", "all")) == "all"
    assert settings.number("archive_gzip", 1) == 0 and settings.number("worker_idle_s", 1) == 60
    assert settings.main()["budget_cost"] == "2.5"


@pytest.mark.part("offline")
def test_services_and_aliases_of_the_file_come_first(root):
    settings = layered(root, OPENAI_API_KEY=KEY)
    assert [item["identifier"] for item in settings.services()] == ["openai", "home", "offline"]
    assert settings.service()["options"] == {"temperature": 0.2}
    assert settings.service("home")["options"] == {"thinking": 500}
    assert [item["model"] for item in settings.chain("nano")] == ["tiny", "small"]


def test_keys_are_taken_out_of_the_environment_and_stay_out_of_every_file(root):
    environment = {"OPENAI_API_KEY": KEY, "OASIS_LLM_API_KEY": "sk-active", "HOME": "/"}
    settings = Settings(Root(root), Files(), environment)
    assert environment == {"HOME": "/"}
    assert not os.path.exists(root + "/etc/oasis/keys.json") and settings.key("offline") == "sk-active"
    settings = layered(root, OPENAI_API_KEY=KEY)
    assert settings.key("openai") == KEY and settings.key("home") == ""
    assert any(key == KEY for key in settings.keys())  # noqa: SIM118
    settings.set_key("home", "sk-home")
    with open(root + "/etc/oasis/keys.json") as handle:
        assert KEY not in handle.read()
    settings.set_key("openai", "sk-kept")
    assert settings.key("openai") == "sk-kept"


@pytest.mark.parametrize(
    "text, where",
    [
        ("[main]\nworker = 1\n", ":2: main has no setting 'worker'"),
        ('[main]\nworker_max = "5"\n', ":2: worker_max is not a whole number"),
        ("[main]\nworker_max = %s\n" % ("9" * 5000), ":2: "),
        ("[main]\nworker_max = true\n", ":2: worker_max is not a whole number"),
        ("[main]\napproval = 5\n", ":2: approval is not a text"),
        ("[main]\nenabled = 1\n", ":2: enabled is not true or false"),
        ('[[service]]\nname = "x"\napi_key = "y"\n', ":3: service has no setting 'api_key'"),
        ("[[alias]]\nname = 'a'\ntarget = [1]\n", ":3: target is not a text or a list of texts"),
        ("[[alias]]\ntarget = 'a'\n", ":1: [[alias]] needs a name"),
        ("[service]\nname = 'x'\n", ":1: no settings are called service"),
        ("[[main]]\n", ":1: no settings are called main"),
        ("[llm]\n", ":1: no settings are called llm"),
        ("loose = 1\n", ":1: no settings are called that, outside of a table"),
        ("[main\n", ":1: this is no [table], [[table]] or key = value"),
    ],
)
def test_what_nobody_knows_is_an_error_that_names_file_and_line(root, text, where):
    with pytest.raises(SettingsError) as caught:
        layered(root, text)
    assert caught.value.message.startswith(root + "/oasis.toml" + where)


@pytest.mark.parametrize(
    "name, text",
    [
        ("OASIS_WORKER_MAX", "many"),
        ("OASIS_WORKER_MAX", "9" * 5000),
        ("OASIS_NOTHING", "1"),
        ("OASIS_ENABLED", "maybe"),
    ],
)
def test_a_variable_that_is_no_setting_is_named(root, name, text):
    with pytest.raises(SettingsError, match="the variable " + name):
        layered(root, "", **{name: text})


def test_a_file_that_is_named_must_be_there(root):
    with pytest.raises(SettingsError, match="OASIS_CONFIG"):
        layered(root, "", OASIS_CONFIG=root + "/elsewhere.toml")


@pytest.mark.part("offline")
def test_what_is_set_in_the_file_is_not_changed_elsewhere(root):
    settings = layered(root, OPENAI_API_KEY=KEY)
    book = Book(settings, None, None, None, None)
    for work in (
        lambda: book.service_change("home", model="x"),
        lambda: book.service_delete("home"),
        lambda: book.service_select("offline"),
        lambda: book.alias_set("nano", ["offline"]),
        lambda: book.alias_delete("nano"),
    ):
        with pytest.raises(UsageError, match=r"is set in .*oasis\.toml"):
            work()


def daemon(root, **environment):
    """Start oasisd with a wrong file or variable; return its error."""
    code = "import sys; sys.path.insert(0, %r); from oasis.daemon.main import main; sys.exit(main([]))" % os.getcwd()
    env = {"PATH": "/usr/bin:/bin", "OASIS_ROOT": root, **environment}
    done = subprocess.run([sys.executable, "-IS", "-c", code], env=env, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def test_the_daemon_does_not_start_with_a_file_that_it_does_not_understand(root):
    with open(root + "/oasis.toml", "w") as handle:
        handle.write("[main]\nworker_max = 'two'\n")
    status, words = daemon(root)
    assert status == 3 and "oasis.toml:2: worker_max is not a whole number" in words


def test_a_router_has_no_layers():
    environment = {"OPENAI_API_KEY": KEY, "OASIS_NOTHING": "1"}
    assert found(Files(), "/", environment) is None
    assert environment == {"OPENAI_API_KEY": KEY, "OASIS_NOTHING": "1"}


def test_a_damaged_key_file_is_still_told(root):
    os.makedirs(root + "/etc/oasis", exist_ok=True)
    with open(root + "/etc/oasis/keys.json", "w") as handle:
        handle.write("{")
    with pytest.raises(OasisError, match="damaged"):
        layered(root, OPENAI_API_KEY=KEY).key("openai")
