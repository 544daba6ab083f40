# SPDX-License-Identifier: GPL-2.0
"""A second implementation of saluki-kafka's side of --source (wire/put.h): messages of the log, and a connection that
sends them and takes DONE."""
import collections
import hashlib
import select
import socket
import time

from netns import testbed
from wire import saluki_combo as sc
from wire import saluki_put as sp

Message = collections.namedtuple("Message", "topic key header value")


class Record:
    """What the log says of a sensor."""

    def __init__(self, name="lib", ident=1, words=(), interface="mon0", **lines):
        said = {"application": "saluki test", "change": 1, "interface.0": interface, "snaplen.0": 32768, **lines}
        self.name, self.ident = name, ident
        self.text = (f"name={name}\nid={ident}\n" + "".join(f"{w}\n" for w in words)).encode() + sc.info_write(said)
        self.hash = int.from_bytes(hashlib.blake2b(self.text, digest_size=16).digest()[:8], "big")
        self.message = Message(sp.SENSORS, f"{name}/{self.hash:016x}".encode(), b"", self.text)


class Run:
    """A sensor's run, and its messages."""

    def __init__(self, record, run):
        self.record, self.run, self.count, self.first = record, run, 0, 0

    def named(self, kind, frames, value):
        r = self.record
        first = self.first if kind == sp.COMBO else 0
        name = sp.Name(kind, r.ident, frames, self.run, self.count, first, r.hash)
        return Message(sp.COMBOS, r.name.encode(), sp.name_write(name), value)

    def combo(self, frames, codec=sc.ZSTD, events=()):
        value = sc.combo_write(frames, self.first, self.count, self.record.ident, codec, events)
        m = self.named(sp.COMBO, len(frames), value)
        self.count += 1
        self.first += len(frames)
        return m

    def combos(self, frames, each=20, **kwargs):
        return [self.combo(frames[i:i + each], **kwargs) for i in range(0, len(frames), each)]

    def totals(self, final=0, **more):
        t = {"seen": self.first, "captured": self.first, "exported": self.first, "combos": self.count, "final": final}
        return self.named(sp.TOTALS, 0, sc.totals_write({**t, **more}))

    def progress(self, before_ns, ahead_ns=0, round_trip_ns=0):
        return self.named(sp.PROGRESS, 0, sc.progress_write(sc.Progress(self.first, before_ns, ahead_ns, round_trip_ns)))


class Get:
    """A connection to --source."""

    def __init__(self, path, greet=True):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(20)
        self.socket.connect(str(path))
        self.next, self.done = 1, []
        self.sent = {}
        if greet:
            self.socket.send(sp.hello(sp.SOURCE))
            assert self.socket.recv(100) == sp.hello(sp.SOURCE)

    def close(self):
        self.socket.close()

    def send(self, *messages):
        """A message counts as sent when the socket has taken it."""
        for m in messages:
            self.socket.send(sp.put_write(sp.Put(self.next, m.topic, 0, m.key, m.header, m.value)))
            self.sent[self.next] = m
            self.next += 1

    def say(self, **lines):
        self.socket.send(sp.state(**lines))

    def look(self, seconds=0.0):
        """Takes what has come. Returns whether anything has."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return False
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionResetError("the collector has closed the connection")
        self.done += sp.done_read(data)
        return True

    def await_done(self, seconds=20):
        """Waits until each message that was sent has its DONE, once and in order."""
        until = time.monotonic() + seconds
        while len(self.done) < len(self.sent):
            if not self.look(max(0, until - time.monotonic())):
                raise TimeoutError(f"no DONE for {set(self.sent) - set(self.done)}")
        assert self.done == sorted(self.sent)


class Collector(testbed.Process):
    """A collector with --source."""

    def __init__(self, ns, folder, write, options=(), ready="taking combos from", **kwargs):
        self.socket, self.stats_file = folder / "source", folder / "stats.json"
        self.stats_file.unlink(missing_ok=True)
        super().__init__(ns, [testbed.BUILD / "saluki-collector", "--source", self.socket, "-w", write, "--stats-file",
                              self.stats_file, *options], ready, **kwargs)

    def get(self, **kwargs):
        return Get(self.socket, **kwargs)

    stats = testbed.Collector.stats
    sensor_stats = testbed.Collector.sensor_stats
