"""Looking for model servers: which machines are asked."""

from types import SimpleNamespace

from oasis.api.methods import Methods


def test_only_machines_with_addresses_of_a_home_are_asked():
    """A neighbour on the line of the provider is none of ours, and the firewall need not say which line that is."""
    asked = []

    def web(request, is_cancelled):
        asked.extend(request["places"])
        return {"servers": [], "asked": len(request["places"])}

    addresses = ["192.168.1.9", "10.0.0.4", "172.31.0.2", "203.0.113.1", "100.64.0.1", "172.32.0.1", "8.8.8.8",
                 "10.example.org", ""]  # fmt: skip
    devices = [{"ip": address, "name": "x", "present": True} for address in addresses]
    devices.append({"ip": "192.168.1.10", "name": "gone", "present": False})
    services = SimpleNamespace(facts=SimpleNamespace(devices=lambda: devices), models=SimpleNamespace(web=web))
    methods = SimpleNamespace(_services=services, _settings=SimpleNamespace(services=list))
    assert Methods.setup_find(methods) == {"servers": [], "asked": 4}
    assert asked == ["127.0.0.1", "192.168.1.9", "10.0.0.4", "172.31.0.2"]
