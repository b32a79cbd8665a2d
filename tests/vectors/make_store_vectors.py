#!/usr/bin/env python3
"""Writes the golden files of stores from docs/formats/ alone: a second implementation, no code of ours.
Run once per format version; the files are committed and never regenerated for a released version."""
import hashlib
import hmac
import json
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
KEY = bytes(range(32))
REPOSITORY = b"00112233445566778899aabbccddeeff"
FIRST = 12288


def hkdf(secret, info):
    prk = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    return hmac.new(prk, info + b"\1", hashlib.sha256).digest()


def mac(subkey, domain, *fields):
    data = struct.pack("<I", len(domain)) + domain + struct.pack("<I", len(fields))
    for field in fields:
        data += struct.pack("<Q", len(field)) + field
    return hmac.new(hkdf(KEY, subkey), data, hashlib.sha256).digest()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def signed(document, domain):
    document["mac"] = mac(domain, domain, REPOSITORY, canonical(document)).hex()
    return canonical(document)


def locator(**members):
    document = {"schema": "maco.store-locator/1", "store": "claims", "prepared": None,
                "retained": [], "archived": None}
    document.update(members)
    return signed(document, b"maco.store-locator/1")


def log(object_id, log_id, payloads):
    """A log with one batch for each payload; both heads on disk."""
    context = [REPOSITORY, object_id, log_id]
    header = b"MACOLOG\0" + struct.pack("<II", 1, FIRST) + log_id
    header += struct.pack("<HH", len(REPOSITORY), len(object_id)) + REPOSITORY + object_id
    header = header.ljust(4064, b"\0")
    last = mac(b"maco.log/1", b"maco.log.header/1", header)
    header += last
    records, heads = b"", [(0, 0, FIRST, last), (1, 0, FIRST, last)]
    for sequence, payload in enumerate(payloads, 1):
        fields = b"REC1" + struct.pack("<IQQII", len(payload), sequence, sequence + 1, 0, 0)
        last = mac(b"maco.log/1", b"maco.log.record/1", *context, fields, last, payload)
        records += fields + last + payload
        heads.append((sequence + 1, sequence, FIRST + len(records), last))
    slots = [b"", b""]
    for number, sequence, end, head_mac in heads[-2:]:
        out = b"MACOHEAD" + struct.pack("<QQQ", number, sequence, end) + head_mac
        out += mac(b"maco.log/1", b"maco.log.head/1", *context, out)
        slots[number % 2] = out.ljust(4096, b"\0")
    return header + slots[0] + slots[1] + records


def record(kind, generation, **members):
    return canonical({"schema": "maco.store-record/1", "kind": kind, "generation": generation,
                      "time_us": 1700000000000000 + generation, **members})


def save(name, data):
    with open(os.path.join(HERE, name), "wb") as out:
        out.write(data)


def main():
    retained = {"n": 3, "log_id": "33" * 16, "first_generation": 70, "last_generation": 90,
                "sequence": 22, "mac": "c3" * 32}
    archived = {"through": 2, "last_generation": 70, "mac": "c2" * 32}
    save("store-v1-locator.json",
         locator(active=4, active_log_id="44" * 16, prepared=5, retained=[retained],
                 archived=archived))
    rows = {"a": {"number": 1}, "ä\"\\": {"list": [1, "x", None]}}
    payloads = [
        record("base", 90, put={"a": rows["a"]}),
        record("base", 90, put={"ä\"\\": rows["ä\"\\"]}),
        record("base_end", 90, rows=2, sha256=hashlib.sha256(canonical(rows)).hexdigest()),
        record("delta", 91, put={"b": {"number": 2}}, delete=[]),
        record("delta", 92, put={"a": {"number": 3}}, delete=["b"]),
    ]
    log_id = bytes(range(0xA0, 0xB0))
    save("store-v1-journal.bin", log(b"store/claims/000003", log_id, payloads))
    save("store-v1-journal-locator.json",
         locator(active=3, active_log_id=log_id.hex(),
                 archived={"through": 2, "last_generation": 90, "mac": "c2" * 32}))


if __name__ == "__main__":
    main()
