# SPDX-License-Identifier: GPL-2.0
"""saluki-kafka with a real broker (tests/kafka). put alone, with a feeder; a collector with --sink, beside one that
writes files; and all programs of the way, each with its CPU time.

The measured program has one CPU; the broker, the swarm and the feeder have the other. Rates are per second of CPU time
too: what others do on the machine changes them little."""
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess

from bench import consumers, kafka_kills
from bench.cable import CONSUMER_CPU, GENERATOR_CPU, on_cpu
from kafka import jars, way
from kafka.broker import Broker
from netns import testbed
from netns.conftest import Bed
from netns.test_swarm import Swarm
from reference import captures

CAPTURE = "dot11-other/192-school.pcap.zst"
WIDE = "wired/secure-4.pcap.zst"  # whole frames: combos of 12 kB
PAPER_BYTES = 2000  # of a combo in the design
FED, ROUNDS = 150_000, 3  # messages of one round
ACK_RATE, ACK_S = 1000, 20
PAIRS, PAIR_COMBOS = 5, 100  # of each sensor
CARRIED = 200  # the same
SENSORS = 200
PARTITIONS = 12


@contextlib.contextmanager
def children_on(cpu):
    """Programs that are started meanwhile stay on this CPU, with all their threads."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_seconds(pid):
    """The CPU time of a process and its children, with all threads that have ended."""
    total = 0
    for p in testbed.with_children(pid):
        fields = pathlib.Path(f"/proc/{p}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def started_broker(stack, directory, cpu=GENERATOR_CPU):
    try:
        jars.folder()
    except jars.Missing as why:
        raise RuntimeError(str(why)) from why
    with children_on(cpu) if cpu is not None else contextlib.nullcontext():
        return stack.enter_context(Broker(directory / "broker")).start()


def whole_capture(directory, name):
    path = directory / pathlib.Path(name).stem
    path.write_bytes(captures.file_bytes(captures.OWN.root / name))
    return path


def kept_capture(directory, name):
    """A capture as sensors export it: cut by `--keep headers`."""
    whole = whole_capture(directory, name)
    kept = whole.with_suffix(".kept")
    testbed.saluki("capture", "-q", "-r", whole, "-w", kept, "--keep", "headers", check=True)
    kept.chmod(0o644)
    return kept


def new_bed(stack, directory, name, sensors=SENSORS):
    """A namespace, keys and a list of the swarm's sensors, in a folder of its own."""
    folder = directory / name
    folder.mkdir()
    folder.chmod(0o755)
    bed = Bed(stack, folder)
    testbed.saluki("--count", sensors, "--sensors-file", bed.keys.sensors, program="saluki-swarm", check=True)
    return bed


def dropped(broker, prefix):
    for topic in way.TOPICS:
        broker.delete_topic(f"{prefix}.{topic}")


# ---- put alone ---------------------------------------------------------------------------------------------------

def fed(directory, broker, messages, size, rate=0):
    """What kafka_feed says of so many messages, and the CPU seconds of all of put's threads."""
    prefix, socket = f"fed-{size}-{rate}-{messages}", directory / "feed"
    way.make_topics(broker, prefix, PARTITIONS)
    feed = subprocess.Popen([*on_cpu(GENERATOR_CPU, testbed.BUILD / "tests/kafka_feed", socket), str(messages),
                             str(size), str(SENSORS), str(rate)], stdout=subprocess.PIPE, text=True)
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: (feed.kill(), feed.wait(), feed.stdout.close(), socket.unlink(missing_ok=True)))
        testbed.wait_for(socket.exists, "the feeder")
        put = way.Kafka(stack, "put", socket, broker, prefix, before=on_cpu(CONSUMER_CPU))
        said = feed.stdout.read()
        cpu = cpu_seconds(put.pid())
        if feed.wait():
            raise RuntimeError(f"the feeder failed: {put.finish()[1]}")
        way.stop(put)
    if sum(log_bytes(broker, prefix)) < messages * size:
        raise RuntimeError("the log does not have all that put has confirmed")
    dropped(broker, prefix)
    return {**json.loads(said), "cpu_s": cpu}


def rates(directory, broker, size, say):
    found = [fed(directory, broker, FED + n, size) for n in range(ROUNDS)]
    for f in found:
        say(f"    put, {size:,} bytes: {f['per_s']:,.0f}/s; {f['messages'] / f['cpu_s']:,.0f} per CPU second "
            f"({f['cpu_s'] / f['messages'] * 1e6:.1f} us each), at {f['cpu_s'] / f['seconds']:.0%} of its CPU")
    return {"": statistics.median(f["messages"] / f["cpu_s"] for f in found),
            "_wall": statistics.median(f["per_s"] for f in found)}


def put_alone(directory, broker, size, say):
    fed(directory, broker, FED // 3, size)  # the broker's JIT compiler
    out = {}
    for bytes_, end in ((size, ""), (PAPER_BYTES, f"_{PAPER_BYTES}")):
        out |= {f"kafka_combos_per_s{end}{k}": v for k, v in rates(directory, broker, bytes_, say).items()}
    paced = fed(directory, broker, ACK_RATE * ACK_S, size, ACK_RATE)
    say(f"    DONE at {ACK_RATE:,}/s: {paced['ack_ms_median']:.1f} ms (median), {paced['ack_ms_99']:.1f} (99 %), "
        f"{paced['ack_ms_max']:.1f} (max)")
    return out | {"kafka_ack_ms": paced["ack_ms_median"], "kafka_ack_ms_99": paced["ack_ms_99"],
                  "kafka_ack_ms_max": paced["ack_ms_max"]}


# ---- a collector with a sink, and with files ---------------------------------------------------------------------

def received(directory, name, trace, combos, sink):
    """(CPU seconds of the receiving process, the swarm's report, what the stand-in for put has taken)"""
    with contextlib.ExitStack() as stack:
        bed = new_bed(stack, directory, name)
        path = bed.tmp_path / "sink" if sink else None
        collector = bed.collector(sink=path, options=["--live", "none"] if not sink else [],
                                  before=on_cpu(CONSUMER_CPU))
        confirm = None
        if sink:
            confirm = subprocess.Popen(on_cpu(GENERATOR_CPU, testbed.BUILD / "tests/kafka_confirm", str(path)),
                                       stdout=subprocess.PIPE, text=True)
            stack.callback(lambda: (confirm.kill(), confirm.communicate()))
        with children_on(GENERATOR_CPU):
            swarm = Swarm(bed, "-r", trace, "--combos", combos)
        status, report = swarm.report()
        cpu = consumers.cpu_seconds([testbed.receiving(collector.pid())])
        if status or collector.finish()[0]:
            raise RuntimeError(f"not all combos are settled: {report}")
        taken = json.loads(confirm.communicate(timeout=60)[0]) if sink else None
    shutil.rmtree(bed.tmp_path)
    return cpu, report, taken


def combo_size(directory, trace):
    """Mean bytes and frames of a sensor's first combos."""
    _, report, taken = received(directory, "size", trace, 20, True)
    return taken["bytes"] / report["combos_settled"], report["frames"] / report["combos"]


def sink_beside_files(directory, trace, say):
    ratios, ns = [], {True: [], False: []}
    for n in range(PAIRS):
        for sink in (True, False):
            cpu, report, _ = received(directory, f"pair-{n}-{sink}", trace, PAIR_COMBOS, sink)
            ns[sink].append(cpu / report["frames"] * 1e9)
        ratios.append(ns[False][-1] / ns[True][-1])
        say(f"    collector, CPU ns a frame: with --sink {ns[True][-1]:.0f}, with files {ns[False][-1]:.0f}; "
            f"rate {ratios[-1]:.2f}")
    return {"kafka_sink_x_files": statistics.median(ratios), "kafka_sink_frames_per_s": 1e9 / statistics.median(ns[True])}


# ---- the whole way -----------------------------------------------------------------------------------------------

def written(source):
    with contextlib.suppress(FileNotFoundError):
        return sum(s["written"] for s in json.loads(source.stats_file.read_text())["sensors"])
    return 0


def log_bytes(broker, prefix):
    """Of each partition."""
    return [sum(f.stat().st_size for f in p.glob("*.log")) for p in broker.data.glob(f"{prefix}.combos-*")]


def into(bed, broker, prefix, trace, collectors, sensors, each):
    """Sensors send all to collectors with sinks. CPU seconds by program, and the reports of the swarms."""
    running = []
    for n in range(collectors):
        sink, cpu = bed.tmp_path / f"sink-{n}", (CONSUMER_CPU - n) % 2
        collector = bed.collector(sink=sink, listen=f"127.0.0.1:{5600 + n}", stats=n == 0, before=on_cpu(cpu))
        running.append((collector, way.Kafka(bed.stack, "put", sink, broker, prefix, before=on_cpu(cpu))))
    before, share = cpu_seconds(broker.process.pid), sensors // collectors
    swarms = [Swarm(bed, "-r", trace, "--combos", each, "--count", share, "--first", 1 + n * share,
                    to=f"127.0.0.1:{5600 + n}") for n in range(collectors)]
    reports = [swarm.report() for swarm in swarms]
    if any(status for status, _ in reports):
        raise RuntimeError(f"not all combos are settled: {reports}")
    used = {"broker_in": cpu_seconds(broker.process.pid) - before,
            "collector": sum(cpu_seconds(c.pid()) for c, _ in running),
            "put": sum(cpu_seconds(p.pid()) for _, p in running)}
    for collector, put in running:
        put.finish()
        collector.finish()
    return used, [report for _, report in reports]


def out_of(bed, broker, prefix, frames):
    """One collector with --source writes all that is in the log."""
    path = bed.tmp_path / "source.sock"
    before = cpu_seconds(broker.process.pid)
    source = way.Source(bed, path, bed.tmp_path / "files", "-C", "100M", before=on_cpu(CONSUMER_CPU))
    get = way.Kafka(bed.stack, "get", path, broker, prefix, "--group", prefix, before=on_cpu(CONSUMER_CPU))
    testbed.wait_for(lambda: written(source) == frames, "all frames", 180, 0.2)
    used = {"broker_out": cpu_seconds(broker.process.pid) - before, "get": cpu_seconds(get.pid()),
            "source": cpu_seconds(source.pid())}
    get.finish()
    source.finish()
    return used, sum(f.stat().st_size for f in source.out.glob("*.pcapng"))


def carry(directory, broker, name, trace, collectors=1, sensors=SENSORS, each=CARRIED,
          partitions=PARTITIONS):
    """Carries combos into the log and back. CPU seconds by program, and how much was carried."""
    with contextlib.ExitStack() as stack:
        bed = new_bed(stack, directory, name, sensors)
        way.make_topics(broker, name, partitions)
        used, reports = into(bed, broker, name, trace, collectors, sensors, each)
        frames = sum(r["frames"] for r in reports)
        back, pcapng = out_of(bed, broker, name, frames)
    logs = log_bytes(broker, name)
    carried = {"frames": frames, "combos": sum(r["combos"] for r in reports), "log_bytes": sum(logs),
               "fullest": max(logs) * len(logs) / sum(logs), "pcapng_bytes": pcapng,
               "seconds": max(r["seconds"] for r in reports)}
    dropped(broker, name)
    shutil.rmtree(directory / name)
    return {**used, **back, **carried}


def whole_way(directory, broker, trace, say):
    c = carry(directory, broker, "carried", trace)
    say(f"    {c['combos']:,} combos with {c['frames']:,} frames, CPU us a combo: " + ", ".join(
        f"{k} {c[k] / c['combos'] * 1e6:.1f}" for k in ("collector", "put", "broker_in", "broker_out", "get", "source")))
    return {"kafka_get_combos_per_s": c["combos"] / c["get"], "kafka_source_frames_per_s": c["frames"] / c["source"]}


def measure(directory, say):
    trace = kept_capture(directory, CAPTURE)
    size, frames = combo_size(directory, trace)
    say(f"    combos of {CAPTURE} with --keep headers: {size:,.0f} bytes, {frames:.0f} frames")
    out = {"kafka_combo_bytes": size, "kafka_combo_frames": frames}
    with contextlib.ExitStack() as stack:
        broker = started_broker(stack, directory)
        out |= put_alone(directory, broker, round(size), say)
        out |= sink_beside_files(directory, trace, say)
        out |= whole_way(directory, broker, trace, say)
    shutil.rmtree(directory / "broker")
    return out | kafka_kills.measure(directory, whole_capture(directory, WIDE), say)
