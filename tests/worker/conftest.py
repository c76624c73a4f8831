import pytest

from tests.worker.misbehaving import Server


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()
