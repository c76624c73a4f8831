"""A registry to try tools in: a source of functions, hands that note what is asked of them, and the owner's word."""

from oasis.tools.registry import Registry
from oasis.uci import model


class Source:
    """Tools from {name: (spec fields, function(arguments, operator, watch))}."""

    def __init__(self, name="mcp:demo", **tools):
        self.name = name
        self.tools = tools
        self._specs = [spec(tool, **fields) for tool, (fields, _) in tools.items()]

    def specs(self):
        return self._specs

    def call(self, name, arguments, operator, watch):
        return self.tools[name][1](arguments, operator, watch)


def spec(name, **fields):
    made = {"name": name, "description": "does %s" % name, "input_schema": {"type": "object"}, "class": "read"}
    return {**made, "enabled": True, **fields}


class Hands:
    """What a tool is given; `answer` is the owner's word on calls, None: yes."""

    def __init__(self, taint=(), answer=None):
        self.facts = None
        self.taint = list(taint)
        self.answer = answer
        self.asked, self.told, self.steps, self.asks = [], [], [], None
        self.stopped = False
        self.rehearses = False

    role = "owner"
    has_chats = is_model = False

    def is_home(self):
        return True

    def whose(self, text, arguments):
        return []

    def is_own(self, text):
        return True

    def masked(self, value):
        return value

    def is_cancelled(self):
        return self.stopped

    def progress(self, tool, text):
        self.steps.append((tool, text))

    def tell(self, text):
        self.told.append(text)

    def asking(self, is_asking):
        self.asks = is_asking

    def permit(self, tool, arguments, reasons, words):
        self.asked.append((tool["name"], arguments, reasons, words))
        return self.answer


class Store:
    """The package oasis as sections, written the way a cursor is."""

    def __init__(self, text=""):
        self.package = model.parse(text.encode(), "oasis")

    def sections(self):
        return list(self.package.sections)

    def changes(self, package):
        return []

    def stage(self, steps):
        from oasis.uci.model import preview

        data = model.file_text(self.package)
        data = data if isinstance(data, bytes) else data.encode()
        self.package = model.parse(preview({"oasis": data}, steps)["oasis"], "oasis")

    def commit(self, package):
        pass


def registry(*sources, text="", store=None):
    store = store or Store(text)
    return Registry(list(sources), store.sections, lambda: store)
