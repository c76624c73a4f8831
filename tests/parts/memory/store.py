"""A library on a folder of its own, with vectors by a model that is a list of words."""

import random
from types import SimpleNamespace

from oasis.core.ids import Xid
from oasis.errors import ProviderError
from oasis.parts.memory.documents import Library, Vectors
from oasis.parts.memory.ranking import packed
from tests.change.kit import FailingFiles

IDS = Xid(lambda: 1_790_000_000, random.Random(1).randbytes)


class Swift(FailingFiles):
    """Files of a disk that this host need not wait for; the n-th step fails."""

    def sync(self, handle):
        self._step()

    def sync_folder(self, path):
        self._step()


class Meanings:
    """An embedder: the direction of each word that means something, so that synonyms are near."""

    GROUPS = (("wifi", "wireless", "wlan"), ("password", "key", "secret"), ("internet", "wan", "uplink"), ("camera",))

    def __init__(self, name="s/m1", dims=8, is_local=True):
        self.name = name
        self.is_local = is_local
        self.dims = dims
        self.fault = ""
        self.asked = 0

    def vector(self, text):
        found = [0.0] * self.dims
        for place, group in enumerate(self.GROUPS):
            found[place] += sum(text.lower().count(word) for word in group)
        return found

    def service(self):
        return {"name": self.name} if self.name else None

    def rows(self, texts, is_cancelled=lambda: False, told=lambda done, total: None):
        found = []
        for text in texts if self.name else ():
            if self.fault:
                raise ProviderError(self.fault)
            self.asked += 1
            found.append(packed(self.vector(text)))
        return found


class Shelf:
    """A library, and what it is made of."""

    def __init__(self, folder, files=None, limit=1 << 20, free=1 << 30):
        self.files = files or Swift()
        self.folder = str(folder) + "/documents"
        self.limit, self.free = limit, free
        self.embedder = Meanings("")
        clock = SimpleNamespace(unix_s=lambda: 1_790_000_000)
        kit = SimpleNamespace(free_bytes=lambda where: self.free, new_id=IDS.next, clock=clock)
        vectors = Vectors(self.files, self.folder)
        self.library = Library(kit, vectors, lambda: self.limit, lambda: self.embedder)

    def add(self, title, *chunks, **more):
        return self.library.add({"title": title, "kind": "text", "source": "test", "chars": 1, **more}, list(chunks))

    def titles(self, query, mode="fused", limit=5):
        found = self.library.search(query, limit, mode)
        names = [source["title"] for source in found["sources"]]
        return [names[passage["source"] - 1] for passage in found["passages"]]

    def texts(self, name):
        """Return the texts of a document's chunks, in their order."""
        return [text for _, text in sorted(self.library.texts(name).items())]
