#!/usr/bin/env python3
"""Writes the golden log files from docs/formats/log.md alone: a second implementation, no code of ours.
Run once per format version; the files are committed and never regenerated for a released version."""
import hashlib
import hmac
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
KEY = bytes(range(32))
CONTEXT = [b"00112233445566778899aabbccddeeff", b"run/test", bytes(range(0xA0, 0xB0))]
FIRST = 12288


def hkdf(secret, info):
    prk = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    return hmac.new(prk, info + b"\1", hashlib.sha256).digest()


def mac(domain, *fields):
    data = struct.pack("<I", len(domain)) + domain + struct.pack("<I", len(fields))
    for field in fields:
        data += struct.pack("<Q", len(field)) + field
    return hmac.new(hkdf(KEY, b"maco.log/1"), data, hashlib.sha256).digest()


def header():
    repository, obj, log_id = CONTEXT
    out = b"MACOLOG\0" + struct.pack("<II", 1, FIRST) + log_id
    out += struct.pack("<HH", len(repository), len(obj)) + repository + obj
    out = out.ljust(4064, b"\0")
    return out + mac(b"maco.log.header/1", out)


def slot(head):
    number, sequence, end, last = head
    out = b"MACOHEAD" + struct.pack("<QQQ", number, sequence, end) + last
    return (out + mac(b"maco.log.head/1", *CONTEXT, out)).ljust(4096, b"\0")


def log(batches, heads):
    """The log with these batches; `heads` is how many of its heads were written."""
    previous = header()[-32:]
    states = [(0, 0, FIRST, previous), (1, 0, FIRST, previous)]
    records, sequence = b"", 0
    for number, batch in enumerate(batches, 2):
        for i, payload in enumerate(batch):
            sequence += 1
            fields = b"REC1" + struct.pack(
                "<IQQII", len(payload), sequence, number, len(batch) - 1 - i, 0)
            previous = mac(b"maco.log.record/1", *CONTEXT, fields, previous, payload)
            records += fields + previous + payload
        states.append((number, sequence, FIRST + len(records), previous))
    slots = [slot(s) for s in sorted(states[heads - 2:heads], key=lambda s: s[0] % 2)]
    return header() + b"".join(slots) + records


def main():
    batches = [[b"hello"], [b"", b"\0\1\2\xff"], [b"last"]]
    files = {
        "empty": log([], 2),
        "records": log(batches, 5),
        "head-lag": log(batches, 4),
        "torn-tail": log(batches, 4)[:-2],
    }
    for name, data in files.items():
        with open(os.path.join(HERE, f"log-v1-{name}.bin"), "wb") as out:
            out.write(data)


if __name__ == "__main__":
    main()
