"""Names of hosts with and without the codec that a router may lack; another Python is without unicodedata here."""

import os
import subprocess
import sys
import types

import pytest

from oasis.worker import transport

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What a router without python3-codecs has: no unicodedata.
WITHOUT = """
import sys
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name == "unicodedata":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Lacking())
sys.modules.pop("unicodedata", None)
sys.path.insert(0, %r)
from oasis.worker import transport
assert transport.prepare() is False
%s
"""


def without(code):
    argv = [sys.executable, "-ISB", "-c", WITHOUT % (REPOSITORY, code)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_whole_codec_is_used_where_it_is():
    assert transport.prepare() is True
    assert "bücher.example".encode("idna") == b"xn--bcher-kva.example"


def test_names_in_ascii_are_encoded_without_it():
    assert without("print('api.example.com'.encode('idna').decode('idna'))") == "api.example.com"
    assert without("import socket; print(len(socket.getaddrinfo('127.0.0.1', 80)) > 0)") == "True"
    assert without("import socket; print(len(socket.getaddrinfo('localhost', 80)) > 0)") == "True"


def test_tls_takes_names_without_it():
    code = "import ssl; c = ssl.create_default_context(); a, b = ssl.MemoryBIO(), ssl.MemoryBIO()\n"
    assert without(code + "print(c.wrap_bio(a, b, server_hostname='api.example').server_hostname)") == "api.example"


def test_other_letters_are_no_address_without_it():
    code = "from oasis.errors import SettingsError\nfrom oasis.worker import transport\ntry:\n    transport.split('http://bücher.example/v1')\n"
    assert "is no address" in without(code + "except SettingsError as error:\n    print(error.message)")


def answer(status, where):
    return types.SimpleNamespace(status=status, headers={"location": where})


@pytest.mark.parametrize("where", ["http://[", "http://ex\u2100mple/", "//other.example/"])
def test_a_redirect_to_what_is_no_address_is_not_followed(where):
    assert transport.moved("http://host/v1", answer(307, where)) == ""


def test_a_redirect_within_the_host_is_followed():
    assert transport.moved("http://host/v1/chat", answer(308, "/v2/chat")) == "http://host/v2/chat"
    assert transport.moved("http://host/v1/chat", answer(302, "/v2/chat")) == ""
