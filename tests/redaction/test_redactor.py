"""The redactor: what it holds, in which forms it finds it, and what stands in its place."""

import contextlib
import io
import os

import pytest

from oasis.errors import OasisError, StoreError, UsageError
from oasis.redaction.redactor import Masked, Redactor, walk, written_forms
from oasis.system.files import Files

KEY = b"k" * 32


@pytest.fixture
def router(tmp_path):
    class Router:
        def __init__(self):
            self.redactor = Redactor(Files(), str(tmp_path), KEY, lambda: ["sk-service-key-1"])

        def write(self, package, text):
            (tmp_path / package).write_text(text)

    return Router()


def wifi(key):
    return f"config wifi-iface 'a'\n\toption ssid 'Home'\n\toption key '{key}'\n"


def test_secrets_are_known_by_their_place_whatever_their_length(router):
    router.write("wireless", wifi("the-old-key"))
    router.write(
        "rpcd", "config login\n\toption username 'root'\n\toption password '1'\n\tlist token 'x'\n\tlist token 'y'\n"
    )
    router.write("broken", "config 'no")
    held = router.redactor.held()
    assert ("wireless", "a", "wifi-iface", "key", "the-old-key") in held
    assert [(one[0], one[3], one[4]) for one in held if one[0] == "rpcd"] == [
        ("rpcd", "password", "1"), ("rpcd", "token", "x"), ("rpcd", "token", "y"),
    ]  # fmt: skip


def test_accounts_and_tokens_in_addresses_and_service_keys_are_masked_and_have_no_placeholder(router):
    router.write("x", "config a 'a'\n\toption url 'https://me:pass-word-1@h/u?a=1&token=tok-12345678&b=2'\n")
    text = "pass-word-1 and tok-12345678 and sk-service-key-1"
    assert router.redactor.hide(text, "chat") == router.redactor.text(text) == "******** and ******** and ********"


@pytest.mark.parametrize("value", ["the-old-key", 'it\'s "so" \\ long', "grüße/an+alle", "日本語のパスワード"])
def test_a_value_is_found_in_every_form_that_quoting_gives_it(router, value):
    router.write("wireless", wifi(value.replace("'", "'\\''")))
    assert router.redactor.held()[0][4] == value
    for form in written_forms(value):
        shown = router.redactor.text(f"a{form}b")
        assert shown == "a********b", form


def test_short_values_are_not_looked_for(router):
    router.write("wireless", wifi("1234567"))
    assert router.redactor.text("1234567") == "1234567"


def test_a_secret_inside_another_one_does_not_cut_it(router):
    router.write("wireless", wifi("secret-1") + wifi("my-secret-1-long").replace("'a'", "'b'"))
    assert router.redactor.text("x my-secret-1-long y secret-1") == "x ******** y ********"


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(router, tmp_path):
    router.write("wireless", wifi("the-old-key"))
    assert router.redactor.text("the-old-key the-new-key") == "******** the-new-key"
    reads = []

    class Counting(Files):
        def read(self, path):
            reads.append(os.path.basename(path))
            return Files.read(self, path)

    router.redactor = Redactor(Counting(), str(tmp_path), KEY, list)
    for _ in range(3):
        router.redactor.text("x")
    assert reads == ["wireless"]
    router.write("wireless", wifi("the-new-key!"))
    assert router.redactor.text("the-old-key the-new-key!") == "the-old-key ********"
    os.remove(tmp_path / "wireless")
    assert router.redactor.text("the-new-key!") == "the-new-key!"


def test_a_placeholder_names_one_value_of_an_option_in_one_chat(router):
    router.write("wireless", wifi("the-old-key") + wifi("the-old-key").replace("'a'", "'b'"))
    one, two = router.redactor.held()
    first = router.redactor.placeholder("chat1", one)
    assert router.redactor.named("chat1", first) == one
    assert router.redactor.named("chat2", first) is None
    assert router.redactor.placeholder("chat1", two) == first != router.redactor.placeholder("chat2", one)
    assert router.redactor.placeholder("chat1", (*one[:3], "sae_password", one[4])) != first
    again = Redactor(Files(), router.redactor._confdir, KEY, list)
    assert again.placeholder("chat1", one) == first
    other = Redactor(Files(), router.redactor._confdir, b"o" * 32, list)
    assert other.placeholder("chat1", one) != first
    router.write("wireless", wifi("the-new-key"))
    assert router.redactor.named("chat1", first) is None
    assert router.redactor.hide("the-new-key", "chat1") == router.redactor.placeholder(
        "chat1", router.redactor.held()[0]
    )


def test_what_the_owner_enters_has_a_placeholder_in_every_chat_and_is_hidden_everywhere(router):
    name = router.redactor.keep("entered-secret", "r1")
    assert name != router.redactor.keep("entered-secret", "r2"), "nobody who knows the value can make it up"
    assert router.redactor.named("any chat", name)[4] == "entered-secret"
    assert router.redactor.text("it is entered-secret") == "it is ********"
    assert "entered-secret" not in router.redactor.hide("it is entered-secret", "chat1")
    again = Redactor(Files(), router.redactor._confdir, KEY, list)
    assert again.named("any chat", name) is None, "kept in memory alone"


def test_only_so_many_secrets_are_kept_and_none_that_is_too_long(router):
    names = [router.redactor.keep(f"secret number {number}", str(number)) for number in range(40)]
    assert router.redactor.named("", names[0]) is None and router.redactor.named("", names[-1]) is not None
    for value in ("", "x" * 5000, "a\x00b"):
        with pytest.raises(UsageError):
            router.redactor.keep(value, "r")


def test_hiding_keeps_the_shape_keys_and_what_has_nothing_to_hide(router):
    router.write("wireless", wifi("internet"))
    value = {"internet": {"up": True, "n": 5, "none": None}, "list": ["the internet", ["internet"]], "plain": ["x"]}
    hidden = router.redactor.hide(value)
    assert hidden == {
        "internet": {"up": True, "n": 5, "none": None},
        "list": ["the ********", ["********"]],
        "plain": ["x"],
    }
    assert hidden["plain"] is value["plain"] and hidden["internet"] is value["internet"]
    assert router.redactor.hide({"a": ["b"]}) == {"a": ["b"]}


def test_an_error_is_masked_whatever_it_tells(router):
    router.write("wireless", wifi("the-old-key"))
    error = OasisError("bad the-old-key", "not the-old-key")
    error.conflicts = [{"now": "the-old-key"}]
    assert error.masked(router.redactor.hide) is error
    assert "the-old-key" not in repr(vars(error)) + str(error) + repr(error.args)
    assert error.code == "error" and error.conflicts == [{"now": "********"}]


def test_the_log_is_masked_and_says_when_it_cannot_tell():
    out = io.StringIO()
    log = Masked(out, lambda text: text.replace("secret", "********"))
    assert log.write("a secret\n") == len("a secret\n")
    log.flush()
    assert out.getvalue() == "a ********\n"

    def fail(text):
        raise StoreError("no")

    Masked(out, fail).write("a secret\n")
    assert out.getvalue().endswith("a secret: store)\n") and "a secret\n" not in out.getvalue()


def test_a_log_that_cannot_be_written_breaks_nothing_off():
    written = []
    for buffering in (1, 8192):
        with contextlib.suppress(OSError), open("/dev/full", "w", buffering=buffering) as full:
            print("x" * 20000, file=Masked(full, str), flush=True)
            written.append(buffering)
    assert written == [1, 8192]


def test_walking_changes_texts_alone():
    assert walk({"a": ("x", 1, True, None, 2.5)}, str.upper) == {"a": ["X", 1, True, None, 2.5]}
