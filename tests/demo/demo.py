#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`make run`: a sensor and a collector at work, and a table of what they do.

Without --interface everything happens in network namespaces of its own: a virtual monitor interface
on which a real 802.11 trace is played again and again, a sensor that captures it, a cable, and a
collector at the other end. With --interface the sensor captures a real one.
"""
import argparse
import os
import pathlib
import signal
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "netns"))
from testbed import (BUILD, ROOT, Collector, Host, Keys, Namespace, Player, Process, Sensor,
                     private_mounts, veth, wait_for)

TRACE = pathlib.Path(__file__).with_name("hwsim.pcap.zst")
LOSSES = (("ring_full", "ring"), ("copy_failed", "copy"), ("dropped_send", "send"),
          ("dropped_shutdown", "stop"), ("lost_missing", "network"), ("lost_disk", "disk"))
HEADER = ("   time   heard/s    kept/s   exported     bytes      saving   losses\n"
          "           frames    frames      KB/s   a frame")


def private_directory():
    """Keys and statistics are in memory visible only to this process and its children: even after
    SIGKILL none is left."""
    directory = ROOT / "build/demo"
    directory.mkdir(parents=True, exist_ok=True)
    private_mounts()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "none", directory], check=True)
    return directory


def unpack(directory):
    trace = directory / "hwsim.pcap"
    subprocess.run(["zstd", "-qdf", TRACE, "-o", trace], check=True)
    return trace


def losses(now):
    named = [f"{name} {now[key]}" for key, name in LOSSES if now[key]]
    return ", ".join(named) or "none"


def row(before, now, started):
    """Rates over the last second; bytes per frame and saving over the whole run."""
    seconds = now["at"] - before["at"] or 1
    rate = {k: (now[k] - before[k]) / seconds for k in ("seen", "captured", "received_bytes")}
    a_frame = now["received_bytes"] / now["written"] if now["written"] else 0
    saving = 100 - 100 * now["received_bytes"] / now["seen_bytes"] if now["seen_bytes"] else 0
    return (f"{now['at'] - started:6.0f} s {rate['seen']:9.0f} {rate['captured']:9.0f} "
            f"{rate['received_bytes'] / 1000:10.2f} {a_frame:9.1f} {saving:9.1f} %   {losses(now)}")


def next_stats(collector, after):
    """Waits for the collector's next statistics, which come once a second."""
    return wait_for(lambda: (s := collector.stats())["time"] > after and s, "statistics")


def show(collector, name, seconds):
    """One row per second, until the time is over or the user presses Ctrl-C."""
    wait_for(collector.stats_file.exists, "the collector's statistics")
    stats = collector.stats()
    started = stats["time"]
    before = None
    rows = 0
    while stats["time"] < started + seconds:
        stats = next_stats(collector, stats["time"])
        now = next((s for s in stats["sensors"] if s["name"] == name), None)
        if not now:
            continue
        now["at"] = stats["time"]
        if before:
            if rows % 20 == 0:
                print(HEADER)
            print(row(before, now, started), flush=True)
            rows += 1
        before = now


def free_address():
    """saluki-web's own address, or another port if that is taken."""
    for port in (5680, 0):
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return "{}:{}".format(*s.getsockname())
            except OSError:
                pass
    raise OSError("127.0.0.1 has no free port")


def demo(args, directory):
    out = pathlib.Path(args.out or ROOT / "build/run")
    out.mkdir(parents=True, exist_ok=True)
    keys = Keys(directory)
    key = keys.sensor("demo")
    open_things = []
    try:
        if args.interface:
            sensor_host = collector_host = Host()
            interface, to, listen = args.interface, "127.0.0.1:15600", "127.0.0.1:15600"
        else:
            sensor_host, collector_host = Namespace(), Namespace()
            open_things += [sensor_host, collector_host]
            veth(sensor_host, "uplink", collector_host, "backbone")
            sensor_host.run("ip", "address", "add", "192.0.2.1/24", "dev", "uplink")
            collector_host.run("ip", "address", "add", "192.0.2.2/24", "dev", "backbone")
            player = Player.tun(sensor_host, "mon0", 803, unpack(directory), ["--loop"])
            open_things.append(player)
            interface, to, listen = "mon0", "192.0.2.2:5600", "192.0.2.2:5600"
        live, board, page = out / "live", out / "board", free_address()
        collector = Collector(collector_host, keys, out, listen, ["--live", live, "--board", board],
                              start_new_session=True)
        open_things.append(collector)
        web = Process(Host(), [BUILD / "saluki-web", "--board", board, "--listen", page], "listening on",
                      start_new_session=True)
        open_things.append(web)
        sensor = Sensor(sensor_host, key, interface, to, ready=None, stderr=None,
                        start_new_session=True)
        open_things.append(sensor)
        if not args.interface:
            player.go()
            print("A real 802.11 trace on a virtual monitor interface. Ctrl-C ends it.")
        look(live, page)
        try:
            show(collector, "demo", args.seconds or float("inf"))
        except KeyboardInterrupt:
            print()
        status, _ = sensor.finish()
        collector.finish()
        status = report(collector, status)
        look(live)
        return status
    finally:
        for thing in reversed(open_things):
            getattr(thing, "kill", thing.close if hasattr(thing, "close") else None)()


def look(live, page=None):
    """How to see the sensor, and the frames while they are written."""
    command = f"{os.path.relpath(BUILD / 'saluki-live')} --collector ./{os.path.relpath(live)}"
    if page:
        print(f"\nThe page about the sensor, and its metrics: http://{page}/ and http://{page}/metrics")
    print(f"""
To look live while 'make run' runs, type in another terminal, as root:
  {command} -n
  {command} -w - | wireshark -k -i -
""", flush=True)


def report(collector, status):
    ledger = collector.sensor_stats("demo")
    if not ledger:
        print("the collector heard nothing from the sensor", file=sys.stderr)
        return status or 1
    lost = ledger["lost_missing"] + ledger["lost_disk"]
    print(f"""
The ledger, from the capture hook to the file:
  seen      {ledger['seen']:9} = filtered {ledger['filtered']} + ring_full {ledger['ring_full']} """
          f"""+ copy_failed {ledger['copy_failed']} + captured {ledger['captured']}
  captured  {ledger['captured']:9} = exported {ledger['exported']} + dropped """
          f"""{ledger['dropped_send'] + ledger['dropped_shutdown']}
  exported  {ledger['exported']:9} = written {ledger['written']} + lost {lost}
  balance   {ledger['balance']:9}   {'every frame is accounted for' if not ledger['balance'] else 'FRAMES ARE MISSING'}

The capture, for Wireshark or tshark: {collector.stats()['file']}""", flush=True)
    return status or (1 if ledger["balance"] else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interface", help="capture this interface instead of the trace")
    parser.add_argument("--seconds", type=float, help="end by itself after this long")
    parser.add_argument("--out", help="folder for the pcapng (default build/run)")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    return demo(args, private_directory())


if __name__ == "__main__":
    sys.exit(main())
