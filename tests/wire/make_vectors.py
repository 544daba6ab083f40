# SPDX-License-Identifier: GPL-2.0
"""make_vectors.py: prints tests/wire/vectors.json: examples of everything in docs/wire.md, with
public keys and random numbers. They are frozen: a protocol version has exactly these. All values
are hexadecimal; numbers have 16 digits.

    cd tests && ../build/venv/bin/python -m wire.make_vectors
"""
import itertools
import json
import struct

from reference import captures

from wire import saluki_combo as sc
from wire import saluki_wire as sw

RUN, TIME = 0x1122334455667788, 1792000000123456789
INTERVAL = TIME // sw.INTERVAL_NS
INFO = b"application=saluki 6\nos=Linux\ninterface.0=wlan0\n"


def secret(name):
    return sw.H(b"test vector " + name.encode())


def keys(v):
    for name in ("s", "c", "e_s", "e_c", "renew_e_s", "renew_e_c", "request_e"):
        v[name] = secret(name)
        v[name.upper() if len(name) == 1 else name + "_public"] = sw.public(secret(name))
    v["preshared"] = secret("preshared")
    v["pair"] = sw.pair(v["s"], v["C"], True)
    v["pair_preshared"] = sw.pair(v["c"], v["S"], False, v["preshared"])


def set_up(v):
    v["interval"], v["day_end"] = INTERVAL, (INTERVAL // 720 + 1) * 720 - 1
    for name, interval in (("slots", v["interval"]), ("slots_day_end", v["day_end"]),
                           ("slots_next_day", v["day_end"] + 1)):
        v[name] = b"".join(sw.slots(v["pair"], interval))
    v["slot"] = v["slots"][8 * 17:8 * 18]
    v["r"] = secret("r")[:16]
    v["run"], v["time"], v["window"], v["info"] = RUN, TIME, 1024, INFO
    v["instance"], v["x"] = secret("instance")[:8], secret("x")[:16]
    for suffix, flags, length in (("", 0, 0), ("_padded", sw.PADDED, sw.PADDED_LEN)):
        hello = sw.Hello(v["e_s_public"], RUN, TIME, 1024, flags, INFO, 0, v["instance"])
        first = sw.m1(v["pair"], v["slot"], v["r"], hello)
        k1 = sw._k1(v["pair"], first, sw.DH(v["c"], v["e_s_public"]))
        second, k2 = sw.m2(v["pair"], v["c"], v["S"], first, v["e_c"],
                           sw.Welcome(b"", TIME + 5, 512, flags, 9), length, v["x"])
        v.update({"m1" + suffix: first, "k1" + suffix: k1, "m2" + suffix: second,
                  "k2" + suffix: k2, "answer_address" + suffix: sw.answer_address(k1)})
    v["welcome_time"], v["welcome_window"], v["sensor"] = TIME + 5, 512, 9
    v.update(sw.session_keys(v["k2"])._asdict())
    v["k2_renewed"] = sw.renewed(v["chain"], v["renew_e_s"], True, v["renew_e_c_public"])


def one_way(v):
    v["next"] = 0x99887766
    hello = sw.Hello(v["e_s_public"], RUN, TIME, 4096, sw.ONE_WAY, INFO, v["next"],
                     v["instance"])
    v["m1_one_way"] = sw.m1(v["pair"], v["slot"], v["r"], hello)
    v["k2_one_way"] = sw.one_way(v["pair"], v["e_s"], v["C"], v["e_s_public"], RUN)
    assert v["k2_one_way"] == sw.one_way(v["pair"], v["c"], v["e_s_public"], v["e_s_public"], RUN)


def requests(v):
    """A request for a cookie and its answer, and an m1 under the cookie."""
    r = secret("request r")[:16]
    v["request_time"], v["cookie"] = TIME + 77, secret("cookie")[:8]
    for suffix, length in (("", 122), ("_padded", sw.REQUEST_LEN)):
        request, k = sw.cookie_request(v["pair"], v["S"], v["C"], v["request_e"], r, length)
        opened = sw.request_open(v["c"], request)
        assert sw.request_proved(v["pair"], opened)
        v["request" + suffix], v["request_key" + suffix] = request, k
        v["request_answer" + suffix] = sw.request_answer(opened, v["request_time"], v["cookie"],
                                                         v["x"])
    v["request_dated"], v["request_key_dated"] = sw.cookie_request(
        v["pair"], v["S"], v["C"], v["request_e"], r, interval=INTERVAL)
    opened = sw.request_open(v["c"], v["request_dated"], INTERVAL)
    v["request_answer_dated"] = sw.request_answer(opened, v["request_time"], v["cookie"], v["x"])
    hello = sw.Hello(v["e_s_public"], RUN, TIME, 1024, 0, INFO, 0, v["instance"])
    v["m1_fresh"] = sw.m1(v["pair"], v["cookie"], v["r"], hello, sw.INIT_LEN)
    v["request_set_up"] = sw.set_up_request(v["S"], v["C"], v["request_e"], r, v["m1_fresh"],
                                            INTERVAL)


MESSAGES = {1: sw.number(sw.HEARD, 32), 2: sw.number(sw.PROBE, TIME), 7: bytes([sw.RENEW]) + bytes(32),
            8: sw.floor_write(2**40 + 3, 2**41 + 5), 63: b"\x05" + bytes(range(255)),
            2**32 - 1: b"\x06", 2**32 + 5: b"\x07last"}


def data(v):
    v["shroud_numbers"] = b"".join(map(sw.be64, MESSAGES))
    for padded in ("", "_padded"):
        tx = sw.Sender(v["up_address"], v["up_seal"], sw.PADDED_LEN if padded else 0)
        for i, (number, message) in enumerate(MESSAGES.items()):
            tx.next = number
            v[f"shroud_message_{i}"] = message
            v[f"shroud_datagram_{i}{padded}"] = tx.seal(message)
    tx = sw.Sender(v["down_address"], v["down_seal"])
    rx = sw.Receiver(v["down_address"], v["down_seal"], 256)
    order = [1, 3, 2, 40, 9, 100, 101, 90, 228]
    for number in order:
        tx.next = number
        got, _ = rx.open(tx.seal(sw.number(sw.CHALLENGE, number)))
        if number % 4:
            rx.keep(got)
    v["received_numbers"], v["received"] = b"".join(map(sw.be64, order)), rx.bits()


def messages(v):
    v["ack"] = sw.ack_write(sw.Ack(228, v["received"], 70000, 69990, 0x8000000000000005, 1))
    v["piece"] = sw.piece_write(sw.Piece(0x12345678, 1360, 1379, bytes(range(19))))
    totals = {name: 3**i for i, name in enumerate(sc.TOTALS_NAMES)}
    totals.update(seen=2**64 - 1, final=1)
    v["totals"] = sc.totals_write(totals)
    v["totals_interfaces"] = sc.totals_write(totals, [{"seen": 5, "filtered": 1, "captured": 4},
                                                      {"seen": 300, "ring_full": 300}])
    v["progress"] = sc.progress_write(sc.Progress(70000, TIME, -5000000, 300000))
    v["progress_most"] = sc.progress_write(sc.Progress(2**64 - 1, 2**64 - 1, -2**63, 2**64 - 1))


def hashed(frames):
    return sw.H(b"".join(
        struct.pack(">QLLHBB", f.time_ns, f.orig_len, len(f.data), f.linktype, f.interface,
                    f.direction) + f.data for f in frames))


def combos(v):
    frames = [sc.Frame(*f, 3, 1) for f in itertools.islice(captures.frames(captures.BUNDLED), 50)]
    frames += [sc.Frame(TIME, 1500, 1, bytes(range(60)), 7, 2),
               sc.Frame(TIME - 1, 700, 105, b"\x08\x02" + bytes(range(200)) * 3, 0, 0)]
    frames[20].direction |= sc.UNSETTLED
    v["dwell"] = sc.dwell_write(sc.Dwell(3, 5180, 80, 5210, TIME - 250000000, TIME, 49, 35000, 0, 2))
    v["dwell_failed"] = sc.dwell_write(sc.Dwell(3, 5975, 20, 5975, TIME, TIME, 0, 7000, 22, 1))
    v["dwell_up"] = sc.dwell_write(sc.Dwell(3, 2437, 20, 2437, TIME, TIME + 5000000000, 7, 0, 0, 0, 86400 * 10**9))
    v["said"] = sc.said_write(sc.Said(3, 1, TIME - 250000000, 70000, "worm-2_b", bytes(range(9))))
    v["said_most"] = sc.said_write(sc.Said(7, 2, 2**64 - 1, 2**64 - 1, "x" * 31, bytes(range(64))))
    v["said_least"] = sc.said_write(sc.Said(0, 0, 0, 0, "A", b""))
    steady = sc.Reading(86400 * 10**9, TIME - 86400 * 10**9, -123456789)
    slewed = steady._replace(monotonic_ns=steady.monotonic_ns + 10**8, raw_ns=steady.raw_ns - 50000)
    v["readings"] = sc.readings_write([steady, slewed, slewed._replace(realtime_ns=slewed.realtime_ns + 37 * 10**9)])
    v["readings_extreme"] = sc.readings_write([sc.Reading(2**64 - 1, 2**63 - 1, -2**63),
                                               sc.Reading(0, -2**63, 2**63 - 1)])
    events = [sc.Event(0, sc.DWELL, v["dwell"]), sc.Event(21, 300, b""),
              sc.Event(52, sc.DWELL, v["dwell_failed"]), sc.Event(52, 2**32 - 1, b"an event")]
    v["combo_count"], v["combo_first"] = 70000, 123456
    v["combo"] = sc.combo_write(frames, v["combo_first"], v["combo_count"], 9, events=events)
    v["combo_of_events"] = sc.combo_write([], v["combo_first"] + 52, v["combo_count"] + 1, 9,
                                          events=[sc.Event(0, *e[1:]) for e in events])
    v["combo_events"] = b"".join(struct.pack(">LLL", e.at, e.type, len(e.data)) + e.data
                                 for e in events)
    v["combo_frames"] = hashed(frames)


WIRED = ("bulk-4-vlan-1", "bulk-6", "names-4", "names-6-vlan-100", "control-4", "control-6",
         "links-4-plain", "secure-4", "mail-4-vlan-3-4", "mail-4-mpls-100", "bulk-4-pppoe")


def captures_of(name, count):
    return list(itertools.islice(captures.frames(captures.OWN.root / f"wired/{name}.pcap.zst"), count))


def random_bytes(n):
    return b"".join(sw.H(b"%d %d" % (n, i)) for i in range(n // 32 + 1))


def wired(v):
    """Ethernet frames of several protocols, the first 96 bytes of each: 20 of each file, in turn."""
    files = [captures_of(name, 20) for name in WIRED]
    frames = [sc.Frame(f.time_ns, f.orig_len, f.linktype, f.data[:96], 7, 2)
              for turn in itertools.zip_longest(*files) for f in turn if f]
    v["combo_wired"] = sc.combo_write(frames, v["combo_first"], v["combo_count"], 9)
    v["combo_wired_frames"] = hashed(frames)


def tails(v):
    """Frames of each kind with text, with random bytes, and with the same random bytes again."""
    tcp = next(f.data for f in captures_of("secure-4", 40) if len(f.data) > 200)
    heads = {1: tcp[:66], 105: b"\x08\x41" + bytes(62), 9: bytes(64),
             127: bytes((0, 0, 8, 0, 0, 0, 0, 0, 0x08, 0x41)) + bytes(54)}
    frames = [sc.Frame(TIME, 1500, linktype, head + tail, 7, 2)
              for n in (71, 72, 100, 600) for linktype, head in heads.items()
              for tail in (b"text" * 200, random_bytes(n), random_bytes(n + 1), random_bytes(n))
              for tail in [tail[:n]]]
    v["combo_tails"] = sc.combo_write(frames, v["combo_first"], v["combo_count"], 9)
    v["combo_tails_frames"] = hashed(frames)


def spool(v):
    """A sensor's forwarded records: the same file key for its collector, without a preshared key
    and with."""
    v["spool_key"], v["spool_e"] = secret("spool key"), secret("spool e")
    v["spool_e_public"] = sw.public(v["spool_e"])
    for suffix in ("", "_preshared"):
        told = sw.spool_hello(v["pair" + suffix], v["spool_e"], v["C"], v["spool_key"])
        v["spool_wrapped" + suffix] = told[32:]
        assert sw.spool_key(v["pair" + suffix], v["c"], told + INFO) == (v["spool_key"], INFO)
    hello = sw.Hello(v["e_s_public"], RUN, TIME, 1024, sw.SPOOL,
                     v["spool_e_public"] + v["spool_wrapped"] + INFO, 0, v["instance"])
    v["m1_spool"] = sw.m1(v["pair"], v["slot"], v["r"], hello)
    v["spool_combo"] = sc.combo_write([sc.Frame(TIME, 60, 1, bytes(range(60)), 7, 2)],
                                      v["combo_first"], v["combo_count"], 0)
    v["spool_record"] = sw.record(v["spool_key"], RUN, v["combo_count"], v["spool_combo"], v["x"])


def vectors():
    v = {}
    for part in (keys, set_up, one_way, requests, data, messages, combos, wired, tails, spool):
        part(v)
    return {name: value.hex() if isinstance(value, bytes) else f"{value:016x}"
            for name, value in v.items()}


def text():
    return json.dumps(vectors(), indent=1) + "\n"


if __name__ == "__main__":
    print(text(), end="")
