# SPDX-License-Identifier: GPL-2.0
"""One VM in which topologies run, one after the other. In: the topologies, each with its folder's
name. Out: the guest's folders, for outcome.py to read."""
import pathlib

from netns import testbed
from vm import guest, kernels, machine
from wifi import programs, topology

KERNEL = "6.1"
MODULES = ("mac80211_hwsim", "ctr", "ccm", "cmac", "gcm", "sch_ingress", "cls_bpf")
PROGRAMS = [*(testbed.ROOT / "build" / p for p in (
                "saluki", "tests/saluki-without-nl80211", "saluki-collector", "tests/play", "tests/lesser_driver.so",
                "tests/asks_at.so", "tests/replug", "tests/switches")),
            *map(pathlib.Path, ("/bin/dash", "/bin/grep", "/sbin/ip", "/sbin/iw", "/usr/bin/tcpdump"))]
INIT = pathlib.Path(__file__).parent / "init"
# Monitoring modules, for topologies that load them: /lib/saluki/NAME.o.
MONITORING = ("airtime", "deauth", "rogueap")
POLICY = """[Module *]
Key = {key}
Interface = *
Show = radiotap, mac, ssid
Helper = map_lookup_elem, map_update_elem
Map = array, hash, percpu_array, lru_hash
MapMemory = 2M
Instructions = 30000
Events = 1000
Priority = 100
"""


def _grouped(t, text):
    """The sensors file with the topology's groups."""
    groups = {s.name: f" group={s.group}" for s in t.sensors if s.group}
    lines = [line + groups.get(line.split(" ")[0], "") for line in text.splitlines()]
    return "".join(f"{line}\n" for line in [*lines, *t.groups])


def _monitoring(root, folder):
    """Signed modules, and a policy that grants them."""
    key = folder / "sign.key"
    key.touch(mode=0o600)
    key.write_text(testbed.saluki("module", "genkey", check=True).stdout)
    public = testbed.saluki("module", "pubkey", input=key.read_text(), check=True).stdout.strip()
    policy = folder / "modules.conf"
    policy.write_text(POLICY.format(key=public))
    guest.install(policy, root, "etc/saluki/modules.conf")
    for name in MONITORING:
        guest.install(testbed.BUILD / f"modules/{name}.o", root, f"lib/saluki/{name}.o")
        testbed.saluki("module", "sign", "--key", key, root / f"lib/saluki/{name}.o", check=True)
    (root / "var/lib").mkdir(parents=True)


def _base(root, chosen):
    tree, seconds = programs.tree()
    print(f"{tree.name}: " + (f"fetched in {seconds:.0f} s" if seconds else "in the cache"))
    for t, name in chosen.items():
        data = root / "data" / name
        topology.write(t, data)
        keys = testbed.Keys(data)
        for s in t.sensors:
            keys.sensor(s.name)
        keys.sensors.write_text(_grouped(t, keys.sensors.read_text()))
    for name, file in programs.RULES.items():
        guest.install(tree / file, root, name)
    _monitoring(root, root.parent)
    return machine.base(root, INIT, [*PROGRAMS, *(tree / p for p in programs.PROGRAMS)],
                        [tree / folder for folder in programs.LIBRARIES])


def run(folder, chosen, seconds):
    """{topology: the folder with its results}; chosen: {topology: the folder's name}. Raises
    RuntimeError if the VM failed."""
    tree, fetched = kernels.tree(KERNEL)
    print(f"Linux {KERNEL}: {tree.name}, {f'fetched in {fetched:.0f} s' if fetched else 'in the cache'}")
    base = _base(folder / "base", chosen)
    # One CPU: frames reach all radios, and hwsim0, in the same order. Mitigations cost an emulated
    # kernel a fifth of its time.
    vm = machine.Machine(folder / "vm", tree, base, MODULES, {}, cpus=1, append="mitigations=off")
    try:
        wrong = vm.finish(seconds)
    finally:
        vm.end()
    if wrong:
        raise RuntimeError(wrong)
    print(f"{len(chosen)} topologies in one VM: {vm.seconds:.0f} s")
    return {t: vm.out / name for t, name in chosen.items()}
