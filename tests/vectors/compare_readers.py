#!/usr/bin/env python3
"""Two readers, one answer: verify_log.py, written from the documents, and print-verdicts, which is ours.
usage: compare_readers.py PRINT_VERDICTS
On the golden files, on a log with each byte changed, cut at each byte, with records and heads moved, and on
logs that only an owner of the key could make. Prints how many; status 1 if the two differ. JRN-02, JRN-08."""
import collections
import itertools
import json
import os
import struct
import subprocess
import sys
import tempfile

import make_log_vectors as maker
import verify_log

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY, OBJECT, LOG_ID = maker.CONTEXT
FIRST = maker.FIRST
BLOCK = 4096
IN_ONE_GO = 500  # logs for one print-verdicts


def read(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def record(sequence, batch, left, payload, previous, reserved=0, magic=b"REC1", length=None):
    """A record with a right MAC over whatever fields it is given, and that MAC."""
    fields = magic + struct.pack("<IQQII", len(payload) if length is None else length, sequence, batch,
                                 left, reserved)
    mac = maker.mac(b"maco.log.record/1", *maker.CONTEXT, fields, previous, payload)
    return fields + mac + payload, mac


def chain(records, states=((0, 0), (1, 0))):
    """(record bytes, {batch: head}) of (sequence, batch, left, payload[, options]) in that order."""
    previous, out = maker.header()[-32:], b""
    heads = {number: (number, sequence, FIRST, previous) for number, sequence in states}
    for sequence, batch, left, payload, *options in records:
        data, previous = record(sequence, batch, left, payload, previous, **(options[0] if options else {}))
        out += data
        heads[batch] = (batch, sequence, FIRST + len(out), previous)
    return out, heads


def log(records, older, newer):
    """A log with these two heads, each in the slot of its number."""
    slots = sorted((older, newer), key=lambda head: head[0] % 2)
    return maker.header() + b"".join(map(maker.slot, slots)) + records


def plain(count, named):
    """`count` batches of one record, of which heads name `named`."""
    records, heads = chain([(n + 1, n + 2, 0, b"record %d" % n) for n in range(count)])
    return log(records, heads[named], heads[named + 1])


def golden():
    for name in ("empty", "records", "head-lag", "torn-tail"):
        yield f"golden {name}", read(f"log-v1-{name}.bin")


def changed_bytes(data, name):
    for offset in range(len(data)):
        flip = 1 << offset % 8
        yield f"{name}, byte {offset} changed", data[:offset] + bytes([data[offset] ^ flip]) + data[offset + 1:]


def cut(data, name):
    for size in itertools.chain(range(0, FIRST, 61), range(FIRST - 64, len(data))):
        yield f"{name}, cut at {size}", data[:size]


def pieces(data):
    """The records of a log that has no zeros after them."""
    out, offset = [], FIRST
    while offset < len(data):
        end = offset + 64 + struct.unpack("<I", data[offset + 4:offset + 8])[0]
        out.append(data[offset:end])
        offset = end
    return out


def moved_records(data, name):
    parts = pieces(data)
    for order in itertools.permutations(range(len(parts))):
        yield f"{name}, order {order}", data[:FIRST] + b"".join(parts[i] for i in order)
    for i, part in enumerate(parts):
        yield f"{name}, record {i} dropped", data[:FIRST] + b"".join(parts[:i] + parts[i + 1:])
        for at in range(len(parts) + 1):
            yield f"{name}, record {i} again at {at}", data[:FIRST] + b"".join(
                parts[:at] + [part] + parts[at:])


def put_back_heads(count):
    """Every pair of slots from all states that a log went through, with all its records."""
    records, heads = chain([(n + 1, n + 2, 0, b"record %d" % n) for n in range(count)])
    for even, odd in itertools.product(range(0, count + 2, 2), range(1, count + 2, 2)):
        whole = log(records, heads[even], heads[odd])
        yield f"heads {even} and {odd} of {count} batches", whole
        for size in (FIRST, len(whole) - 40, len(whole) - 80):
            yield f"heads {even} and {odd}, cut at {size}", whole[:size]
        yield f"heads {even} and {odd}, zeros", whole + bytes(5000)
        yield f"heads {even} and {odd}, a byte after zeros", whole + bytes(5000) + b"x"
        yield f"heads {even} and {odd}, early record changed", (
            whole[:FIRST + 64] + b"R" + whole[FIRST + 65:])


def other_logs():
    """Parts of a log of another object, under the same key."""
    here = plain(3, 3)
    context, maker.CONTEXT = maker.CONTEXT, [REPOSITORY, b"run/else", LOG_ID]
    there = plain(3, 3)
    maker.CONTEXT = context
    yield "another object", there
    for begin, end in ((0, BLOCK), (BLOCK, 2 * BLOCK), (2 * BLOCK, FIRST), (FIRST, len(here))):
        yield f"bytes {begin} to {end} of another object", here[:begin] + there[begin:end] + here[end:]


def owner_heads():
    """Heads with right MACs and wrong content."""
    records, heads = chain([(1, 2, 0, b"a"), (2, 3, 1, b"b"), (3, 3, 0, b"c"), (4, 4, 0, b"d")])
    for number, place in itertools.product((3, 4), range(1, 4)):
        for delta in (-(1 << 12), -65, -1, 1, 64, 65, 1 << 20, 1 << 30):
            head = list(heads[number])
            head[place] = (bytes([head[3][0] ^ delta & 255]) + head[3][1:] if place == 3
                           else (head[place] + delta) % (1 << 64))
            both = {3: heads[3], 4: heads[4], number: tuple(head)}
            yield f"head {number}, field {place} by {delta}", log(records, both[3], both[4])
    header_mac = heads[1][3]
    some = heads[3]
    for older, newer in (((0, 0, FIRST, some[3]), heads[1]), (heads[0], (1, 0, FIRST, some[3])),
                         ((1, 1, heads[2][2], heads[2][3]), heads[2]), ((1, 0, FIRST, some[3]), heads[2]),
                         ((0, 1, FIRST, header_mac), heads[1]), (heads[0], (1, 1, FIRST, header_mac)),
                         ((0, 0, FIRST - 1, header_mac), heads[1])):
        yield f"heads of an empty log that is not: {older[:3]} {newer[:3]}", log(records, older, newer)
    middle, _ = chain([(1, 2, 0, b"a"), (2, 3, 1, b"b")])
    before = (2, 2, FIRST + len(middle), middle[-33:-1])
    yield "P in the middle of batch H", log(records, before, heads[3])
    group, ends = chain([(1, 2, 1, b"a"), (2, 2, 0, b"b")])
    first = pieces(maker.header() + bytes(2 * BLOCK) + group)[0]
    yield "head 1 in the middle of batch 2", log(group, (1, 1, FIRST + len(first), first[32:64]), ends[2])
    yield "reserved bytes of a slot", (lambda whole: whole[:BLOCK + 96] + b"\1" + whole[BLOCK + 97:])(
        log(records, heads[3], heads[4]))


def owner_records():
    """Chains with right MACs that break a rule, under heads that name them."""
    good = [(1, 2, 0, b"a"), (2, 3, 1, b"b"), (3, 3, 0, b"c"), (4, 4, 0, b"d")]
    wrong = {
        "sequence repeats": {2: (2, 3, 0, b"c")}, "sequence skips": {2: (4, 3, 0, b"c")},
        "sequence from 0": {0: (0, 2, 0, b"a")}, "sequence from 2": {0: (2, 2, 0, b"a")},
        "batch skips": {3: (4, 5, 0, b"d")}, "batch repeats": {3: (4, 3, 0, b"d")},
        "first batch is 1": {0: (1, 1, 0, b"a")}, "first batch is 3": {0: (1, 3, 0, b"a")},
        "left does not count down": {1: (2, 3, 2, b"b")}, "left repeats": {2: (3, 3, 1, b"c")},
        "batch changes before left is 0": {2: (3, 4, 0, b"c")},
        "left of 1024": {1: (2, 3, 1024, b"b")}, "left of 1023": {1: (2, 3, 1023, b"b")},
        "a reserved byte": {2: (3, 3, 0, b"c", {"reserved": 1})},
        "another magic": {2: (3, 3, 0, b"c", {"magic": b"REC2"})},
        "payload shorter than L": {3: (4, 4, 0, b"d", {"length": 2})},
        "payload longer than L": {3: (4, 4, 0, b"dd", {"length": 1})},
        "payload of 1 MiB": {3: (4, 4, 0, bytes(1 << 20))},
        "payload above 1 MiB": {3: (4, 4, 0, bytes((1 << 20) + 1))},
    }
    for (name, change), named in itertools.product(wrong.items(), (2, 3, 4)):
        records, heads = chain([change.get(i, row) for i, row in enumerate(good)])
        last = max(heads)
        if named in heads and named - 1 in heads:
            yield f"{name}, named to {named}", log(records, heads[named - 1], heads[named])
        if last - 1 in heads:
            yield f"{name}, named to the last", log(records, heads[last - 1], heads[last])
    for count, size in ((1024, 0), (1025, 0), (5, 1 << 20), (4, (1 << 20) - 64), (4, (1 << 20) - 63)):
        rows = [(n + 1, 2, count - 1 - n, bytes(size)) for n in range(count)]
        records, heads = chain(rows)
        yield f"batch of {count} records of {size}", log(records, heads[1], heads[2])
        yield f"unnamed batch of {count} records of {size}", log(records, heads[0], heads[1])


def owner_headers():
    """Headers with right MACs and wrong content; the rest of the log fits to them."""
    for change in ({8: b"\2"}, {8: b"\0"}, {12: b"\1"}, {100: b"\1"}, {4063: b"\1"}, {32: b"\0\0"}, {34: b"\0\0"},
                   {32: b"\xff\xff"}, {0: b"m"}, {16: b"other log id"}):
        header = bytearray(maker.header()[:-32])
        for offset, data in change.items():
            header[offset:offset + len(data)] = data
        header = bytes(header) + maker.mac(b"maco.log.header/1", bytes(header))
        yield f"header with {change}", header + plain(2, 2)[BLOCK:]


def logs():
    yield from golden()
    small = read("log-v1-records.bin")
    for family in (changed_bytes, cut):
        yield from family(small, "records")
    tail = read("log-v1-head-lag.bin")
    yield from cut(tail + bytes(64), "head-lag")
    yield from ((name, data) for name, data in changed_bytes(tail + bytes(64), "head-lag")
                if int(name.split()[-2]) >= FIRST)
    yield from moved_records(plain(4, 4), "named")
    yield from moved_records(plain(4, 2), "half named")
    for count in range(1, 7):
        yield from put_back_heads(count)
    for family in (other_logs, owner_heads, owner_records, owner_headers):
        yield from family()


def sign(document, domain=b"maco.test/1"):
    text = verify_log.canonical(document).encode()
    data = verify_log.frame(domain, (REPOSITORY, text))
    mac = verify_log.hmac.digest(verify_log.subkey(maker.KEY, domain), data, "sha256").hex()
    return verify_log.canonical({**document, "mac": mac})


def documents():
    content = {"a": [1, -2, (1 << 64) - 1, -(1 << 63), 0], "\ufb03": "\U0001f600", "\U0001f600": "\x01\x7f\"\\\n",
               "o": {"": None, "t": True}}
    good = sign(content)
    yield "canonical", good.encode()
    yield "pretty", json.dumps(json.loads(good), indent=2).encode()
    yield "another order", json.dumps(dict(reversed(json.loads(good).items()))).encode()
    for offset in range(len(good.encode())):
        data = good.encode()
        yield f"byte {offset} changed", data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1:]
        yield f"cut at {offset}", data[:offset]
    yield "another domain", sign(content, b"maco.test/2").encode()
    yield "upper-case mac", good[:good.index('"mac":"') + 7].encode() + good[
        good.index('"mac":"') + 7:].upper().encode()
    mac = json.loads(good)["mac"]
    for extra in ('"a":1', '"z":1', '"mac":"' + mac + '"', '"\\u006dac":"' + mac + '"'):
        yield f"with {extra[:12]}", (good[:-1] + "," + extra + "}").encode()
    odd = {"n": 0}
    text = sign(odd)
    for number in ("0", "-0", "00", "0.0", "0e0", "+0", "-", "0x0", "NaN", "null", "false", '"0"', " 0 ", "\v0"):
        yield f"the number {number}", text.replace('"n":0', f'"n":{number}').encode()
    for number in ((1 << 64) - 1, 1 << 64, -(1 << 63), -(1 << 63) - 1):
        yield f"the integer {number}", sign({"n": number}).encode()
    for depth in (31, 32, 33):
        value = []
        for _ in range(depth - 2):
            value = [value]
        yield f"depth {depth}", sign({"n": value}).encode()
    for before, after in ((b"", b"\n"), (b"\xef\xbb\xbf", b""), (b" ", b"\t\r\n "), (b"", b"\0"), (b"", b"x"),
                          (b"", b"{}"), (b"/**/", b""), (b"\f", b"")):
        yield f"between {before} and {after}", before + text.encode() + after
    for string in (b"\\ud800", b"\\ud83d\\ude00", b"\\ude00\\ud83d", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\t", b"\\/",
                   b"\\x41", b"\\u00e9", b"\\u0000", b"\x7f", b"\\U0041", b"\\u 041", b"\\u+041"):
        yield f"the string {string}", sign({"s": "?"}).encode().replace(b'"?"', b'"' + string + b'"')
    for string, escaped in (("\U0001f600", b"\\ud83d\\ude00"), ("/", b"\\/"), ("\u00e9", b"\\u00E9"), ("\0", b"\\u0000")):
        data = sign({"s": string}).encode()
        raw = verify_log.canonical(string).encode()
        yield f"{escaped} for itself", data.replace(raw, b'"' + escaped + b'"')
    for other in (b"", b"[]", b"1", b'"mac"', b"{}", b'{"mac":1}', b'{"mac":""}', b"null"):
        yield f"the text {other}", other
    yield "an empty object", sign({}).encode()


def ours(program, arguments, files):
    data = b"".join(struct.pack("<I", len(file)) + file for file in files)
    done = subprocess.run([program, *arguments], input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().splitlines()


def compare(program, arguments, cases, second):
    """How often each verdict was given, and how often the two readers differ."""
    verdicts, differ = collections.Counter(), 0
    while batch := list(itertools.islice(cases, IN_ONE_GO)):
        lines = ours(program, arguments, [data for _, data in batch])
        if len(lines) != len(batch):
            raise RuntimeError("print-verdicts gave another number of lines")
        for (name, data), line in zip(batch, lines):
            expected = second(data)
            verdicts[expected.split()[0]] += 1
            if line != expected:
                differ += 1
                print(f"{name}: ours says '{line}', the second reader '{expected}'")
    return verdicts, differ


def main(program):
    key = maker.KEY
    with tempfile.TemporaryDirectory(prefix="maco-readers.") as scratch:
        of_logs, differ = compare(
            program, [scratch, key.hex(), REPOSITORY, OBJECT], logs(),
            lambda data: verify_log.verify_log(key, data, REPOSITORY, OBJECT)[0])
    of_documents, also = compare(
        program, ["--documents", key.hex(), "maco.test/1", REPOSITORY], documents(),
        lambda data: "valid" if verify_log.verify_document(key, data, b"maco.test/1", REPOSITORY)
        else "invalid")
    for name, file, domain, repository in (
            ("repository-v1.json", "key-v1.bin", b"maco.repository/1", b""),
            ("evidence-v1-publishable.json", "evidence-v1-key.bin", b"maco.evidence/1", None)):
        data = read(name)
        repository = json.loads(data)["repository"].encode() if repository is None else repository
        if not verify_log.verify_document(verify_log.read_key(read(file)), data, domain, repository):
            differ += 1
            print(f"{name}: the second reader does not take it")
    print(f"logs: {of_logs.total()}, {dict(of_logs)}")
    print(f"documents: {of_documents.total()}, {dict(of_documents)}")
    missing = set("clean head-lag torn-tail truncated changed damaged-head no-head stale-head bad-header "
                  "unsupported".split()) - set(of_logs)
    if missing or len(of_documents) != 2:
        print(f"never given, so the comparison shows less than it should: {missing}")
    print(f"the two readers differ {differ + also} times")
    return 1 if differ or also or missing or len(of_documents) != 2 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
