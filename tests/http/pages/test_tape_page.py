"""docs/tape.md says how to check a tape. Whoever follows its words with nothing but a standard
library comes to the same links and signatures."""

import base64
import json
import re
import struct
from hashlib import sha256
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.documents import DOCS
from tests.pushing import ORDER, RESULT, Model

NUMBER = re.compile(r"^\| (\d+) \| `([\w-]+)` \|", re.MULTILINE)


class Line(msgspec.Struct):
    seq: int
    kind: str
    time: float
    received_at: float
    run_id: str | None
    backtest_id: str | None
    body: msgspec.Raw
    salt: str | None
    link: str | None
    nonce: str | None


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def root(body: bytes, salt: bytes) -> bytes:
    fields = json.loads(body)
    leaves = [
        sha256(salt[16 * place : 16 * place + 16] + compact([key, fields[key]])).digest()
        for place, key in enumerate(sorted(fields))
    ]
    return sha256(b"".join(sorted(leaves))).digest()


def frame(line: Line, numbers: dict[str, int], content: bytes) -> bytes:
    head = struct.pack(">QQ", line.seq, numbers[line.kind])
    times = struct.pack(">dd", line.time, line.received_at)
    salted = b"\1" if line.salt else b"\0"
    ids = compact([line.run_id, line.backtest_id])
    return head + times + salted + struct.pack(">Q", len(content)) + ids + content


def link(previous: bytes, group: list[Line], numbers: dict[str, int]) -> bytes:
    nonce = bytes.fromhex(group[-1].nonce) if group[-1].nonce else None
    digests: list[bytes] = []
    runs = 0
    gathered: list[bytes] = []

    def close() -> None:
        nonlocal runs, gathered
        if gathered:
            blind = b"" if nonce is None else sha256(nonce + struct.pack(">Q", runs)).digest()
            digests.append(sha256(blind + b"".join(gathered)).digest())
            runs, gathered = runs + 1, []

    for line in group:
        body = bytes(line.body)
        if line.salt is None:
            gathered.append(frame(line, numbers, body))
            continue
        close()
        content = root(body, base64.b64decode(line.salt))
        digests.append(sha256(frame(line, numbers, content)).digest())
    close()
    rule = b"tapeline 3" if nonce is not None else b"tapeline 2"
    return sha256(rule + previous + b"".join(digests)).digest()


def test_the_words_of_the_page_lead_to_the_links_and_signatures(model: Model) -> None:
    model.push("/v1/live/log", {"line": "first", "type": "stdout"})
    model.push("/v1/live/spot-market", {**ORDER, "note": {"b": [1, 2.5], "a": "ü"}})
    batch = [
        {"path": "/v1/live/log", "body": {"line": "one"}},
        {"path": "/v1/live/log", "body": {"line": "two"}},
        {"path": "/v1/live/update-trade", "body": {"id": "o1", "status": "filled"}},
        {"path": "/v1/live/log", "body": {"line": "three"}},
    ]
    model.push("/v1/batch", batch)
    model.push("/v1/backtest/result", RESULT)
    page = (model.owner.get(f"/api/models/{model.id}/tape")).content.splitlines()
    everything = [json.loads(one) for one in page]
    lines = [msgspec.json.decode(raw, type=Line) for raw, one in zip(page, everything, strict=True)
             if "kind" in one]  # fmt: skip
    kinds = (DOCS / "reference" / "event-kinds.md").read_text("utf-8")
    numbers = {name: int(number) for number, name in NUMBER.findall(kinds)}
    previous, group = bytes(32), []
    for line in lines:
        group.append(line)
        if line.link is not None:
            previous = link(previous, group, numbers)
            assert previous.hex() == line.link, line.seq
            group = []
    assert not group
    seals = model.get("/tape/seals")
    assert (seals["seq"], seals["link"]) == (lines[-1].seq, previous.hex())
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(seals["public_key"]))
    for one in seals["items"]:
        said = compact(["tapeline", model.id, one["seq"], one["link"], repr(one["at"])])
        key.verify(bytes.fromhex(one["signature"]), said)
    assert seals["items"][0]["seq"] == lines[-1].seq
