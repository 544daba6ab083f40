# SPDX-License-Identifier: GPL-2.0
"""The constructed radiotap headers (radiotaps.py): tshark, the reference for trim and the second
implementation of forms read the content from which they were made."""
import struct

import pytest

from netns.compare import tshark_fields
from reference import captures, radiotaps, trim
from reference.test_reference import write_pcap
from wire import saluki_combo

MADE = list(radiotaps.every())
HONEST = [m for m in MADE if m.name.split(":", 1)[0] in radiotaps.HONEST]


def field(made, bit):
    """The first place of a field; None without."""
    return next((at for b, at in made.head.fields if b == bit), None)


def test_there_are_enough():
    assert len(HONEST) > 350 and len(MADE) > 450 and len({m.bytes for m in MADE}) > 440
    assert sum(m.bad_fcs for m in MADE) > 50 and sum(m.malformed for m in MADE) > 50


def first(row):
    """Of repeated fields."""
    return [value.split(",")[0] for value in row]


def test_tshark_reads_what_was_made(tmp_path):
    frames = [captures.Frame(10**18, len(m.bytes), 127, m.bytes) for m in HONEST]
    write_pcap(tmp_path / "all.pcap", 127, frames)
    rows = tshark_fields(tmp_path / "all.pcap", "radiotap.length", "radiotap.mactime",
                         "radiotap.flags.badfcs", "radiotap.flags.datapad", "wlan.fc", "wlan.ra")
    assert len(rows) == len(HONEST)
    compared = 0
    for made, (length, clock, bad, padded, control, receiver) in zip(HONEST, (first(r) for r in rows)):
        at = made.head.length
        assert length == str(len(made.head.bytes)) == str(at), made.name
        assert (clock == "1234605616436508552") == (field(made, 0) is not None), made.name
        if field(made, 1) is not None:
            assert (bad == "1", padded == "1") == (
                made.bad_fcs, bool(made.head.flags & radiotaps.PADDED)), made.name
        # tshark reads no frame if the header says that there is none, or that it is bad; and before
        # 4.2 it took the first TLV's value for its type.
        if len(made.bytes) > at and not made.bad_fcs and not field(made, 26) and not tlvs(made):
            compared += 1
            assert control == f"0x{made.bytes[at]:02x}{made.bytes[at + 1]:02x}", made.name
            assert receiver == made.bytes[at + 4:at + 10].hex(":"), made.name
    assert compared > 250


def test_the_reference_for_trim_keeps_what_it_should():
    for made in MADE:
        kept, lied = trim.keep(made.bytes, len(made.bytes), 127, trim.EVERYTHING, True)
        assert (kept, lied) == (made.kept, made.malformed), made.name


@pytest.mark.parametrize("bit,name", [(0, "clock"), (1, "flags"), (20, "aggregate"), (22, "stamp")])
def test_the_second_implementation_finds_fields(bit, name):
    found = 0
    for made in HONEST:
        if not looked_into(made):
            continue
        places = saluki_combo.Places(made.bytes, 127)
        assert getattr(places, name) == field(made, bit), made.name
        found += field(made, bit) is not None
    assert found > 5


def present(made):
    at = 4
    words = [struct.unpack_from("<I", made.bytes, at)[0]]
    while words[-1] & radiotaps.MORE:
        at += 4
        words.append(struct.unpack_from("<I", made.bytes, at)[0])
    return words


def tlvs(made):
    return bool(present(made)[-1] & radiotaps.TLV)


def looked_into(made):
    return made.head.length <= 255 and len(present(made)) <= saluki_combo.WORDS_MAX


def test_the_second_implementation_finds_signals():
    for made in HONEST:
        if not looked_into(made):
            continue
        places = saluki_combo.Places(made.bytes, 127)
        wanted = [at for b, at in made.head.fields if b in (5, 7, 12)][:saluki_combo.SIGNALS_MAX]
        assert places.signals == wanted, made.name
