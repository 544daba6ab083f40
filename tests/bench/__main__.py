# SPDX-License-Identifier: GPL-2.0
"""`make bench`: measures, prints a table with the targets, and writes build/bench.json: one flat
object of names and numbers. Values that could not be measured are absent. Arguments choose parts:
rates, sizes, stages, pipelines, worst, backbone, service, live, restart, filter, modules, export, fleet, merge, keep,
kafka, ap70; without arguments, all of them. Also ap70_levels, ap70_stages, kafka_sizing and steady, only if named."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from bench import (ap70, backbone, cable, consumers, export, filter as filters, fleet, frames, here, kafka, kafka_sizing,
                   keep, live, merge, modules, modules_overload, modules_rate, pipelines, rates, restart, service,
                   steady, stolen, worst)
from netns import testbed
from reference import captures

def seconds():
    try:
        return float(os.environ.get("BENCH_SECONDS") or 5)
    except ValueError:
        sys.exit(f"bench: BENCH_SECONDS={os.environ['BENCH_SECONDS']}: must be a number")


SECONDS = seconds()
ROUNDS = 7  # for filter costs: small differences
JSON = testbed.ROOT / "build/bench.json"
PARTS = ["rates", "sizes", "stages", "pipelines", "worst", "backbone", "service", "live", "restart", "filter",
         "modules", "export", "fleet", "merge", "keep", "kafka", "ap70"]
ON_REQUEST = ["ap70_levels", "ap70_stages", "kafka_sizing", "steady"]
SIZES = [64, 500, 1000, 1500]

# name: (at least or at most, the target)
TARGETS = {
    "rate_x_tcpdump": (">=", 3.0), "rate_x_tcpdump_bpf": (">=", 2.5),
    "rate_x_tcpdump_all": (">=", 1.2), "rate_x_tcpdump_pass": (">=", 1.3),
    "xsk_x_tcpdump": (">=", 1.3), "mmap_x_tcpdump": (">=", 1.0), "cpu_x_tcpdump": ("<=", 0.5),
    "user_ns_x_tcpdump": ("<=", 2.0), "share_of_limit": (">=", 0.5),
    "blast_lost_share_saluki": ("<=", 0), "insns_per_frame_wired": ("<=", 1200),
    "pipelines_2_x_1": (">=", 1.8),
    "worst_random_bytes_x_plain": ("<=", 1.1), "worst_collisions_bytes_x_plain": ("<=", 1.1),
    "worst_payload_bytes_x_plain": ("<=", 1.1), "worst_random_ns_x_plain": ("<=", 1.1),
    "worst_collisions_ns_x_plain": ("<=", 1.1), "worst_payload_ns_x_plain": ("<=", 1.1),
    "worst_mixed_ns_x_apart": ("<=", 1.2), "worst_mixed_bytes_x_apart": ("<=", 1.05),
    "backbone_share_hwsim_ch1": ("<=", 0.043), "backbone_share_kept_hwsim_ch1": ("<=", 0.078),
    "backbone_wired_x_plain": ("<=", 0.72), "backbone_wired_1_x_plain": ("<=", 0.65),
    "bytes_x_xz": ("<=", 1.4), "collector_frames_per_s": (">=", 2e6),
    "agent_anon_beyond_rings_kib": ("<=", 2048), "lone_frame_delay_ms": ("<=", 1200),
    "live_frame_ms": ("<=", 200), "live_x_16": (">=", 0.97), "live_missed_exact": (">=", 1.0),
    "capture_x_run": (">=", 0.9), "capture_cpu_x_run": ("<=", 1.2), "first_frame_s": ("<=", 1.5),
    "restart_lost_frames": ("<=", 0), "restart_duplicated_frames": ("<=", 0),
    "filter_reject_x_empty": ("<=", 1.2), "filter_cost_x_tcpdump": ("<=", 0.5),
    "module_protection_x_empty": ("<=", 0.25), "module_vs_userspace": ("<=", 1.0),
    "slot_x_empty": ("<=", 0.06),
    "modules4_lost_1mpps": ("<=", 0), "overload_lost": ("<=", 0),
    "overload_high_skipped": ("<=", 0), "overload_low_skipped_share": (">", 0),
    "ap70_binary_kib": ("<=", 500), "ap70_rss_kib": ("<=", 800),
    "ap70_insns_per_frame": ("<=", 3600), "ap70_insns_per_combo_all": ("<=", 780e3),
    "ap70_rate_x_bare": (">=", 0.5),
    "collector_ahead_x_1": (">=", 1.15),
    "collector_10000_x_1": (">=", 0.9), "collector_10000_x_1_junk": (">=", 0.9),
    "collector_10000_all_x_1": (">=", 0.9),
    "junk_x_empty": ("<=", 0.4), "overhead_bytes": ("<=", 32), "sensor_memory_kib": ("<=", 64),
    "setup_ms": ("<=", 1), "return_10000_s": ("<=", 15),
    "start_10000_wrong_clock_s": ("<=", 15), "collector_10000_listed_kib": ("<=", 186_144),
    "shroud_insns_x_plain": ("<=", 1.05), "board_cpu_share": ("<=", 0.01), "enrol_200_s": ("<=", 2),
    "scrape_10000_s": ("<=", 5),
    "page_10000_ms": ("<=", 1000),
    "merge_clock_p99_us": ("<=", 2.0), "merge_clock_p99_tsft_us": ("<=", 0.6), "merge_clock_p99_400_us": ("<=", 2.5),
    "merge_missed_first": ("<=", 0.0001), "merge_false_first": ("<=", 0),
    "merge_missed_ack": ("<=", 0.015), "merge_false_ack": ("<=", 0.0012),
    "merge_missed_ack_tsft": ("<=", 0), "merge_false_ack_tsft": ("<=", 0),
    "merge_frames_per_s": (">=", 1e6), "merge_memory_mib": ("<=", 128),
    "merge_memory_growth_10min": ("<=", 0.05), "merge_memory_growth_24h": ("<=", 0.05),
    "merge_outage_found": (">=", 0.975), "merge_outage_found_files": (">=", 1.0), "merge_order_ppm": ("<=", 20),
    "keep_cpu_s_per_m": ("<=", 1.0), "columns_ns_row": ("<=", 400), "columns_bytes_row": ("<=", 20),
    "find_address_s": ("<=", 2.0), "find_absent_s": ("<=", 0.5), "index_share": ("<=", 0.02),
    "duckdb_address_ms": ("<=", 100), "duckdb_absent_ms": ("<=", 20), "duckdb_month_ms": ("<=", 2000),
    "kafka_combos_per_s": (">=", 60_000), "kafka_ack_ms": ("<=", 50), "kafka_lost": ("<=", 0),
    "kafka_twice_in_files": ("<=", 0), "kafka_outage_lost": ("<=", 0), "kafka_sink_x_files": (">=", 0.8),
}


def say(line):
    print(line, flush=True)


def fresh(directory):
    """A folder of its own below, which programs without privileges can enter."""
    path = pathlib.Path(tempfile.mkdtemp(dir=directory))
    path.chmod(0o755)
    return path


class Bed:
    """A collector and a sensor in one namespace, and files for them."""

    def __init__(self, stack, directory):
        self.stack, self.directory = stack, directory
        self.keys = testbed.Keys(directory)
        self.keys.sensor("bench")
        self.out = directory / "out.pcapng"
        self.ns = testbed.Namespace()
        stack.callback(self.ns.close)

    def collector(self, cpu=None, options=()):
        self.out.unlink(missing_ok=True)
        c = testbed.Collector(self.ns, self.keys, self.out, options=options,
                              before=() if cpu is None else cable.on_cpu(cpu))
        self.stack.callback(c.kill)
        return c

    def _saluki(self, *options, cpu=None, **kwargs):
        command = [testbed.BUILD / "saluki", "run", "--to", "127.0.0.1:5600", "--key",
                   self.keys.sensor("bench"), *options]
        p = testbed.Process(self.ns, command if cpu is None else cable.on_cpu(cpu, *command),
                            None, **kwargs)
        self.stack.callback(p.kill)
        return p

    def reader(self, trace, options, **kwargs):
        return self._saluki("-r", trace, *options, **kwargs)

    def sensor(self, interface, *options):
        p = self._saluki("-i", interface, *options)
        p.expect("capturing by")
        return p

    def tun(self, trace, options=()):
        p = testbed.Player.tun(self.ns, "mon0", 803, trace, options)
        self.stack.callback(p.close)
        return p

    def stats(self, collector):
        return collector.sensor_stats("bench")

    def collector_cpu(self, collector):
        return consumers.cpu_seconds(testbed.with_children(collector.pid()))

    def balanced(self, collector):
        """Ends the collector; returns whether every frame was written and the ledger is zero."""
        collector.finish()
        s = self.stats(collector)
        return s["balance"] == 0 and s["written"] == s["exported"] == s["captured"]


# ---- parts -----------------------------------------------------------------------------------------


def climb(directory, size, names, rungs, blasts, rounds):
    """The ladder with frames of one size; a collector's frames are compared."""
    directory = fresh(directory)
    played = frames.sized(frames.real(), size)
    trace = directory / "frames.pcap"
    frames.write_pcap(trace, played)
    with contextlib.ExitStack() as stack:
        c = cable.Cable(stack, directory)
        ladder = rates.Ladder(c, trace, SECONDS, names, say)
        compared = rates.compare_frames(ladder, played)
        ladder.climb(rungs, blasts)
        ladder.compare_cpu(rounds)
    return ladder, compared


def part_rates(directory):
    say(f"rates: {len(frames.real())} distinct real frames as they come, {SECONDS:g} s a rung")
    ladder, compared = climb(directory, None, list(consumers.ALL), rates.LADDER, 9, 3)
    out = rates.figures(ladder, "")
    return {**out, **rates.compare(ladder, out), "frames_compared": compared}


def part_sizes(directory):
    out = {}
    for size in SIZES:
        say(f"rates: the same frames cut or filled up to {size} bytes")
        ladder, _ = climb(directory, size, ["saluki", "saluki_bpf", "tcpdump", "dumpcap",
                                            "netsniff_ng"], rates.COARSE, 1, 1)
        out.update(rates.figures(ladder, f"_{size}"))
    return out


def stages(directory, trace, *options, card_segments=True):
    """Sends over a path whose far end drops all. Without `card_segments`, the kernel must cut
    datagrams from a buffer before the driver gets them."""
    with contextlib.ExitStack() as stack:
        c = cable.Cable(stack, fresh(directory))
        c.attached(c.collector, "discard", "exp1")
        if not card_segments:
            c.sensor.run("ethtool", "-K", "exp0", "tx-udp-segmentation", "off")
        lines = c.sensor.run(*cable.on_cpu(cable.CONSUMER_CPU, testbed.BUILD / "tests/stages", trace,
                                           *cable.COLLECTOR.split(":"), *options),
                             stdout=subprocess.PIPE).stdout
    return {name: float(ns) for name, ns in map(str.split, lines.splitlines())}


def instructions(directory, trace, count):
    """Instructions in user space per frame, of the sensor's stages from append to send, by
    callgrind. The first pass over the frames also makes tables."""
    total = []
    for passes in (2, 4):
        out = directory / "callgrind.out"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
                        "--collect-atstart=no", "--toggle-collect=do_append_close",
                        "--toggle-collect=do_compress", "--toggle-collect=do_seal_send",
                        testbed.BUILD / "tests/stages", trace, "127.0.0.1", "9", "1", "headers",
                        "14336", str(passes)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        total.append(int(re.search(r"^summary: (\d+)", out.read_text(), re.M)[1]))
    return (total[1] - total[0]) / 2 / count


def part_stages(directory):
    """Nanoseconds per frame, and whether compression pays for itself, for 802.11 as in the paper
    and for wired frames."""
    out = {}
    wired = directory / "wired.pcap"
    frames.write_pcap(wired, frames.real())
    wifi = directory / "wifi.pcap"
    wifi.write_bytes(captures.file_bytes(captures.more_real().root /
                                         "hwsim/hwsim-all-groundtruth.pcap.zst"))
    for trace, suffix in ((wifi, ""), (wired, "_wired")):
        ns = stages(directory, trace)
        say(f"stages, ns a frame, {trace.stem}: " +
            ", ".join(f"{k} {v:.1f}" for k, v in ns.items()))
        out.update({f"ns_{k}{suffix}": v for k, v in ns.items()
                    if v > 0 and not k.startswith("bytes")})  # a difference may be lost in noise
        out[f"compress_pays{suffix}"] = ((ns["compress"] + ns["seal"] + ns["send"]) /
                                         (ns["seal_stored"] + ns["send_stored"]))
        soft = stages(directory, trace, card_segments=False)
        say(f"    send {ns['send']:.1f}, one by one {ns['send_mmsg']:.1f}; by a card that does not "
            f"segment {soft['send']:.1f}, {soft['send_mmsg']:.1f}")
        out[f"ns_send_soft{suffix}"] = soft["send"]
        out[f"send_gso_x_mmsg{suffix}"] = ns["send"] / ns["send_mmsg"]
        out[f"send_gso_soft_x_mmsg{suffix}"] = soft["send"] / soft["send_mmsg"]
    out["insns_per_frame_wired"] = instructions(directory, wired, len(frames.real()))
    return out


def part_pipelines(directory):
    trace = directory / "wired.pcap"
    frames.write_pcap(trace, frames.real())
    return pipelines.measure(fresh(directory), trace, SECONDS, say)


def part_worst(directory):
    say(f"worst: {worst.COUNT} frames for which templates find nothing, with --keep all")
    return worst.measure(directory, lambda trace: stages(directory, trace, "1", "all"), say)


def with_bed(directory, part):
    with contextlib.ExitStack() as stack:
        return part(Bed(stack, fresh(directory)))


def part_backbone(directory):
    say("backbone: hwsim traces, live at their own speed")
    with contextlib.ExitStack() as stack:
        beds = [Bed(stack, fresh(directory)) for _ in backbone.TRACES]
        out = backbone.measure(beds, say)
    out["bytes_x_xz"] = out["bytes_x_xz_hwsim_ch1"]
    return out | backbone.wired(directory, lambda trace, level: stages(directory, trace, level,
                                                                       "all"), say)


def part_service(directory):
    say("service:")
    bundled = directory / "bundled.pcap"
    bundled.write_bytes(captures.file_bytes(captures.BUNDLED))
    out = with_bed(directory, lambda bed: service.memory(bed, bundled, say))
    first = next(captures.frames(captures.BUNDLED))
    out.update(with_bed(directory, lambda bed: service.lone_frame(bed, first, say)))
    out.update(with_bed(directory, lambda bed: service.collector_rate(bed, frames.real(), say)))
    return out


def part_live(directory):
    say("live:")
    out = with_bed(directory, lambda bed: live.lone_frames(bed, next(captures.frames(captures.BUNDLED)), say))
    out.update(with_bed(directory, lambda bed: live.missed(bed, frames.real(), say)))
    out.update(with_bed(directory, lambda bed: live.viewers_cost(bed, frames.real(), say)))
    out.update(with_bed(directory, lambda bed: here.compare(bed, directory / "here.pcap", say)))
    out.update(with_bed(directory, lambda bed: here.starts(bed, say)))
    return out


def part_filter(directory):
    say(f"filter: what it costs at {filters.LOAD:,} frames/s")
    trace = directory / "frames.pcap"
    frames.write_pcap(trace, frames.real())
    with contextlib.ExitStack() as stack:
        return filters.measure(cable.Cable(stack, fresh(directory)), trace, SECONDS, ROUNDS, say)


def part_modules(directory):
    say(f"modules: what they cost, {modules.ROUNDS} rounds")
    trace = directory / "wired.pcap"
    frames.write_pcap(trace, modules.frames())
    with contextlib.ExitStack() as stack:
        ns = testbed.Namespace()
        stack.callback(ns.close)
        out = modules.measure(ns, trace, say)
    say(f"modules: frames of {modules_rate.SIZE} bytes, {', '.join(modules_rate.NAMES)}")
    frames.write_pcap(trace, frames.sized(frames.real(), modules_rate.SIZE))
    with contextlib.ExitStack() as stack:
        c = cable.Cable(stack, fresh(directory))
        out |= modules_rate.measure(c, trace, SECONDS, say)
    say("modules: twice as many frames as one CPU has time for")
    with contextlib.ExitStack() as stack:
        c = cable.Cable(stack, fresh(directory))
        return out | modules_overload.measure(c, trace, SECONDS, say)


def part_restart(directory):
    say(f"restart: SIGKILL under {restart.RATE:,} frames/s, again and again")
    trace = directory / "frames.pcap"
    frames.write_pcap(trace, frames.real())
    with contextlib.ExitStack() as stack:
        return restart.measure(cable.Cable(stack, fresh(directory)), trace,
                               max(SECONDS, restart.SECONDS_MIN), say)


def part_export(directory):
    say(f"export: Tryst and Shroud, with {export.SENSORS:,} sensors")
    trace = directory / "frames.pcap"
    frames.write_pcap(trace, frames.real())
    return export.measure(fresh(directory), trace, say)


def part_fleet(directory):
    say(f"fleet: {export.SENSORS:,} sensors")
    return fleet.measure(fresh(directory), say)


def part_keep(directory):
    say("keep: simulated airs of a building with 100 sensors")
    return keep.measure(fresh(directory), say)


def part_kafka(directory):
    say("kafka: saluki-kafka with a real broker")
    return kafka.measure(fresh(directory), say)


def part_kafka_sizing(directory):
    say("kafka_sizing: CPU time of each program, with one collector and with two")
    return kafka_sizing.measure(fresh(directory), say)


def part_merge(directory):
    say(f"merge: simulated air, with seed {merge.seed()}")
    return merge.measure(fresh(directory), say)


def part_ap70(directory):
    say("ap70: instructions and memory in the virtual AP70")
    return ap70.measure(directory, ap70.trace(), say)


def part_ap70_levels(directory):
    say("ap70_levels: what zstd's levels cost in the virtual AP70, and give")
    return ap70.levels(directory, ap70.trace(), say)


def part_ap70_stages(directory):
    say("ap70_stages: what the sensor's stages take in the virtual AP70, of a frame")
    return ap70.stages(directory, ap70.trace(), say, os.environ.get("AP70_STAGES", "").split())


def part_steady(directory):
    say(f"steady: bytes per second at a steady rate, in {steady.SECONDS} s")
    return steady.measure(lambda: fresh(directory), say)


def table(out):
    say(f"\n{'figure':44}{'measured':>14}   aimed at")
    for name in sorted(out):
        aim = TARGETS.get(name)
        value = out[name]
        text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        verdict = ""
        if aim:
            held = {">=": value >= aim[1], "<=": value <= aim[1], "<": value < aim[1],
                    ">": value > aim[1]}[aim[0]]
            verdict = f"   {aim[0]} {aim[1]:,g}  {'yes' if held else 'NO'}"
        say(f"{name:44}{text:>14}{verdict}")
    for name in TARGETS:
        if name not in out:
            say(f"{name:44}{'-':>14}   not measured")


def run_part(part):
    """A part's results, and the share of the CPUs' time that a hypervisor took; none if the part
    failed, which is printed: the others continue."""
    before = stolen.ticks()
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        try:
            out = globals()[f"part_{part}"](pathlib.Path(directory)) or {}
        except (RuntimeError, OSError, EOFError, subprocess.SubprocessError) as e:
            say(f"{part}: FAILED: {e}")
            return None
    share = stolen.share(before, stolen.ticks())
    say(f"    the hypervisor took {share:.2%} of the CPUs' time")
    return {**out, f"stolen_share_{part}": share}


def main(parts):
    unknown = set(parts) - set(PARTS + ON_REQUEST)
    if unknown:
        print(f"bench: {' '.join(unknown)}: no such part; there are "
              f"{' '.join(PARTS + ON_REQUEST)}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is cleaned up
    testbed.private_mounts()
    say(f"captures: {captures.more_real().root}")
    out, failed = {}, False
    try:
        for part in parts or PARTS:
            figures = run_part(part)
            failed |= figures is None
            out.update(figures or {})
            JSON.write_text(json.dumps(out, indent=1, sort_keys=True) + "\n")
    except KeyboardInterrupt:
        say("interrupted; what was measured before is kept")
        failed = True
    table(out)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
