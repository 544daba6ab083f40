# SPDX-License-Identifier: GPL-2.0
"""Several sensors hear the bundled captures: their stamps are late at times, and their TSFT is of several clocks."""
import random

import pytest

from merge import replay
from merge.identity import Malformed, identify, radiotap
from merge.kinds import BAD_FCS
from merge.program import check, rows, run
from reference import captures

RADIOTAP = 127
TRACES = [captures.BUNDLED, *sorted((captures.OWN.root / "hwsim").iterdir()),
          *sorted((captures.OWN.root / "radiotap").iterdir())]
SECOND_NS = 10**9


def alone(frame):
    """Frames with a wrong FCS are not compared."""
    try:
        return identify(frame.data, frame.orig_len).kind == BAD_FCS
    except Malformed:
        return True


def merged(folder, stream, *options):
    (folder / "in.pcapng").write_bytes(stream)
    run("-q", *options, "-w", folder / "u.pcapng", folder / "in.pcapng")
    return check(folder / "u.pcapng")


@pytest.mark.parametrize("offset_ns", [0, 1_500_000_000], ids=["together", "apart"])
@pytest.mark.parametrize("path", TRACES, ids=lambda p: p.name.partition(".")[0] + "-" + p.parent.name)
def test_two_sensors_hear_a_capture(folder, path, offset_ns):
    """Each transmission has both, in one part, but for the sensors of school-sensors on two floors."""
    heard = [(name, frame) for name, frame in replay.frames(path) if frame.linktype == RADIOTAP]
    found = merged(folder, replay.heard(heard, [0, offset_ns]))
    wrong = sum(alone(frame) for _, frame in heard)
    assert found["receptions"] == 2 * len(heard) and found["balance"] == 0
    assert found["several"] >= len(heard) - wrong and found["alone"] <= 2 * wrong
    assert found["parts"] == len({name.partition(":")[0] for name, _ in heard})


# ---- TSFT ------------------------------------------------------------------------------------------


def with_tsft(frame, tsft_us):
    """The frame with another TSFT in its place."""
    at = 4
    while frame.data[at + 3] & 0x80:
        at += 4
    at = (at + 4 + 7) // 8 * 8
    return frame._replace(data=frame.data[:at] + tsft_us.to_bytes(8, "little") + frame.data[at + 8:])


def even(path=captures.OWN.root / "hwsim/hwsim-ch1.pcap.zst"):
    """Frames with a TSFT that is their stamp."""
    heard = [f for f in captures.frames(path) if not alone(f) and "tsft" in radiotap(f.data)[1]]
    begin = heard[0].time_ns - 100_000_000_000
    return [with_tsft(f, (f.time_ns - begin) // 1000) for f in heard], begin


def test_late_stamps_are_no_reset(folder):
    """One frame of each hundred is stamped 60 ms late, and so comes behind others with a later TSFT. The last ones are
    not: what comes then tells."""
    heard, _ = even()
    picked, streams, end = random.Random(5), [], heard[-1].time_ns - SECOND_NS
    for _ in range(2):
        late = [f._replace(time_ns=f.time_ns + 60_000_000 * (f.time_ns < end and picked.random() < .01))
                for f in heard]
        streams.append(sorted(late, key=lambda f: f.time_ns))
    found = merged(folder, together(streams))
    assert found["parts"] == 1 and found["joins"] == 1
    assert found["several"] == len(heard) and found["alone"] == 0


def together(streams):
    """A stream of sensors that have heard different frames, or at other times."""
    order = sorted((f.time_ns, n, at) for n, frames in enumerate(streams) for at, f in enumerate(frames))
    return b"".join([replay.pcapng.section(), *(replay.interface(f"s-{n + 1}", n + 1, "wlan0")
                                                for n in range(len(streams))),
                     *(replay.packet(n, streams[n][at]) for _, n, at in order)])


@pytest.mark.parametrize("back_ms", [200, 5_000, 99_000])
def test_a_reset_begins_another_clock(folder, back_ms):
    """The second sensor's TSFT goes back in the middle. Its frames before and after are merged with the first's."""
    heard, begin = even()
    middle = heard[len(heard) // 2].time_ns
    reset = [with_tsft(f, (f.time_ns - begin) // 1000 - back_ms * 1000 * (f.time_ns >= middle)) for f in heard]
    found = merged(folder, together([heard, reset]))
    assert found["joins"] == 2 and found["parts"] == 1 and found["steps"] == 0
    assert found["several"] == len(heard)


@pytest.mark.parametrize("every_ms", [200, 500])
def test_a_radio_that_resets_its_tsft_again_and_again_follows_its_stamps(folder, every_ms):
    """As some do with each change of the channel. Frames near the first resets may stay alone."""
    heard, begin = even()
    hops = [with_tsft(f, (f.time_ns - begin) // 1000 % (every_ms * 1000)) for f in heard]
    found = merged(folder, together([heard, hops]))
    assert found["parts"] <= 2 and found["joins"] <= 5
    assert found["several"] > .9 * len(heard)
    mixed = {}
    for row in rows(folder / "u.pcapng"):
        mixed.setdefault(row["transmission"], set()).add(row["stamp_ns"])
    assert max(map(len, mixed.values())) == 1  # both sensors' stamps of a transmission are equal
