#!/usr/bin/env python3
"""A second reader of the log and of signed documents, from docs/formats alone: no code of ours.
usage: verify_log.py KEY_FILE LOG REPOSITORY_ID OBJECT_ID
       verify_log.py --document KEY_FILE FILE DOMAIN REPOSITORY_ID
Prints the verdict of docs/formats/log.md, or "valid" or "invalid"; status 0 if nothing is amiss, else 1.
Standard library only. Sources: log.md, key.md, canonical-json.md."""
import hashlib
import hmac
import json
import re
import struct
import sys

BLOCK = 4096
FIRST = 3 * BLOCK
MAX_PAYLOAD = 1 << 20
MAX_BATCH_RECORDS = 1024
MAX_BATCH_BYTES = 4 << 20
MAX_LOG_BYTES = 1 << 30
MAX_DOCUMENT_BYTES = 16 << 20
MAX_DEPTH = 32


class Refused(Exception):
    """The verdict, and what to print after it."""

    def __init__(self, verdict, detail=""):
        super().__init__(verdict)
        self.verdict, self.detail = verdict, detail


# --- key.md ----------------------------------------------------------------------------------

def read_key(data):
    if len(data) == 64 and data[:8] == b"MACOKEY\0" and struct.unpack("<I", data[8:12])[0] > 1:
        raise Refused("unsupported", "key file of a later version")
    if (len(data) != 64 or data[:8] != b"MACOKEY\0" or data[8:16] != struct.pack("<II", 1, 0)
            or hashlib.sha256(data[:48]).digest()[:16] != data[48:]):
        raise Refused("bad-key")
    return data[16:48]


def subkey(key, domain):
    """HKDF-SHA-256 without salt, 32 bytes: RFC 5869."""
    extracted = hmac.digest(bytes(32), key, "sha256")
    return hmac.digest(extracted, domain + b"\1", "sha256")


def frame(domain, fields):
    parts = [struct.pack("<I", len(domain)), domain, struct.pack("<I", len(fields))]
    for field in fields:
        parts += [struct.pack("<Q", len(field)), field]
    return b"".join(parts)


# --- log.md ----------------------------------------------------------------------------------

class Head:
    def __init__(self, number, sequence, end, mac):
        self.number, self.sequence, self.end, self.mac = number, sequence, end, mac


class Record:
    """Fields of one record, and where it begins and ends."""

    def __init__(self, log, offset):
        self.good = False
        self.begin = offset
        fields = log.data[offset:offset + 32]
        if len(log.data) < offset + 64 or fields[:4] != b"REC1":
            return
        length, self.sequence, self.batch, self.left, zero = struct.unpack("<IQQII", fields[4:])
        self.end = offset + 64 + length
        self.mac = log.data[offset + 32:offset + 64]
        self.fields = fields
        self.payload = log.data[offset + 64:self.end]
        self.good = (zero == 0 and length <= MAX_PAYLOAD and self.left < MAX_BATCH_RECORDS
                     and self.end <= len(log.data) and self.end <= MAX_LOG_BYTES)


class Log:
    def __init__(self, key, data, repository, obj):
        self.data = data
        self.key = subkey(key, b"maco.log/1")
        self.read_header(repository, obj)

    def mac(self, domain, *fields):
        return hmac.digest(self.key, frame(domain, fields), "sha256")

    def read_header(self, repository, obj):
        header = self.data[:BLOCK]
        if len(header) < BLOCK or header[:8] != b"MACOLOG\0":
            raise Refused("bad-header")
        version, first = struct.unpack("<II", header[8:16])
        if version > 1:
            raise Refused("unsupported", "log of a later version")
        self.log_id = header[16:32]
        lengths = struct.unpack("<HH", header[32:36])
        ids = header[36:36 + sum(lengths)]
        self.context = (ids[:lengths[0]], ids[lengths[0]:], self.log_id)
        self.header_mac = header[BLOCK - 32:]
        if (version != 1 or first != FIRST or not 1 <= lengths[0] <= 64 or not 1 <= lengths[1] <= 255
                or self.context[:2] != (repository, obj)
                or any(header[36 + sum(lengths):BLOCK - 32])
                or self.header_mac != self.mac(b"maco.log.header/1", header[:BLOCK - 32])):
            raise Refused("bad-header")

    def read_slot(self, slot):
        block = self.data[BLOCK * (1 + slot):BLOCK * (2 + slot)]
        if len(block) < BLOCK or block[:8] != b"MACOHEAD" or any(block[96:]):
            return None
        head = Head(*struct.unpack("<QQQ", block[8:32]), block[32:64])
        if (head.number % 2 != slot or not FIRST <= head.end <= MAX_LOG_BYTES
                or block[64:96] != self.mac(b"maco.log.head/1", *self.context, block[:64])):
            return None
        return head

    def read_heads(self):
        """Heads P and H, or the verdict that there are none."""
        even, odd = self.read_slot(0), self.read_slot(1)
        if not even or not odd:
            if not even and not odd:
                raise Refused("no-head")
            raise Refused("damaged-head")
        p, h = sorted((even, odd), key=lambda head: head.number)
        for head in (p, h):
            if head.number < 2 and (head.sequence, head.end, head.mac) != (0, FIRST, self.header_mac):
                raise Refused("damaged-head")
        if h.number != p.number + 1 or p.end > h.end or p.sequence > h.sequence:
            raise Refused("damaged-head")
        if h.end > len(self.data):
            raise Refused("truncated", f"at {len(self.data)}")
        return p, h

    def good_record(self, record, before):
        return record.good and record.mac == self.mac(
            b"maco.log.record/1", *self.context, record.fields, before, record.payload)

    def batches_from(self, head, stop=MAX_LOG_BYTES):
        """Whole batches that continue the chain from `head` to `stop`: the list of records of each."""
        offset, sequence, number, before = head.end, head.sequence, head.number, head.mac
        while True:
            number += 1
            batch = []
            while not batch or batch[-1].left > 0:
                record = Record(self, offset)
                if (not record.good or record.end > stop or record.sequence != sequence + 1 or record.batch != number
                        or (batch and record.left != batch[-1].left - 1)
                        or record.end - (batch[0] if batch else record).begin > MAX_BATCH_BYTES
                        or not self.good_record(record, before)):
                    # What there is of a batch that is not whole.
                    self.rest = batch
                    return
                batch.append(record)
                offset, sequence, before = record.end, record.sequence, record.mac
            yield batch

    def check_named(self, p, h):
        """Rule 4: up to H.end the records are exactly those that P and H speak of."""
        at = Head(1, 0, FIRST, self.header_mac)
        batches = self.batches_from(at, h.end)
        while at.number < h.number:
            batch = next(batches, None)
            if batch is None:
                raise Refused("changed", f"at {self.rest[-1].end if self.rest else at.end}")
            last = batch[-1]
            at = Head(last.batch, last.sequence, last.end, last.mac)
            for head in (p, h):
                if at.number == head.number and vars(at) != vars(head):
                    raise Refused("changed", f"at {last.begin}")

    def verdict(self):
        """The word and its number, as log.md has them under "Verdicts"."""
        p, h = self.read_heads()
        self.check_named(p, h)
        end, lag = h.end, 0
        for batch in self.batches_from(h):
            lag += 1
            if lag > 2:
                raise Refused("stale-head")
            end = batch[-1].end
        if any(self.data[end:]):
            raise Refused("torn-tail", f"at {end}")
        return f"head-lag {lag}" if lag else "clean"


def verify_log(key, data, repository, obj):
    """The line to print, and whether all is well."""
    try:
        return Log(key, data, repository, obj).verdict(), True
    except Refused as refused:
        return f"{refused.verdict} {refused.detail}".strip(), False


# --- canonical-json.md -----------------------------------------------------------------------

def refuse(*_):
    raise ValueError("a number that is no integer")


def integer(text):
    value = int(text)
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError("an integer that is out of range")
    return value


def members(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a name twice")
    return out


def check_depth(text):
    depth = 0
    for token in re.findall(r'"(?:\\.|[^"\\])*"|[\[\]{}]', text, re.S):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token, 0)
        if depth > MAX_DEPTH:
            raise ValueError("nested too deeply")


def parse(data):
    if len(data) > MAX_DOCUMENT_BYTES or b"\0" in data or data.startswith(b"\xef\xbb\xbf"):
        raise ValueError("size, NUL or byte-order mark")
    text = data.decode("utf-8")
    check_depth(text)
    return json.loads(text, parse_float=refuse, parse_constant=refuse, parse_int=integer,
                      object_pairs_hook=members)


NAMED = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def canonical_string(text):
    text.encode("utf-8")  # refuses half a surrogate pair
    return '"' + "".join(NAMED.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text) + '"'


def canonical(value):
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return canonical_string(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-8"))
    return "{" + ",".join(canonical_string(name) + ":" + canonical(value[name]) for name in names) + "}"


def verify_document(key, data, domain, repository):
    try:
        document = parse(data)
        mac = document.pop("mac") if isinstance(document, dict) else None
        if not isinstance(mac, str) or not re.fullmatch(r"[0-9a-f]{64}", mac):
            return False
        text = canonical(document).encode("utf-8")
    except (ValueError, KeyError, RecursionError):
        return False
    made = hmac.digest(subkey(key, domain), frame(domain, (repository, text)), "sha256")
    return made.hex() == mac


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main(arguments):
    document = arguments[:1] == ["--document"]
    if len(arguments) != 4 + document or arguments[0].startswith("-") != document:
        print(__doc__, file=sys.stderr)
        return 2
    key_file, path, first, second = arguments[document:]
    try:
        key = read_key(read(key_file))
    except Refused as refused:
        print(f"{refused.verdict} {refused.detail}".strip())
        return 1
    if document:
        good = verify_document(key, read(path), first.encode(), second.encode())
        line = "valid" if good else "invalid"
    else:
        line, good = verify_log(key, read(path), first.encode(), second.encode())
    print(line)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
