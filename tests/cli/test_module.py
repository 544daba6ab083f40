# SPDX-License-Identifier: GPL-2.0
"""saluki module: keys, signatures, and refused modules, each with the line of the reason."""
import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import nacl.signing
import pytest

from netns import testbed
from netns.testbed import BUILD, ROOT

HOSTILE = sorted(p for p in (ROOT / "tests/modules").glob("*.bpf.c") if p.name != "all_granted.bpf.c")
COUNT, WORM = ROOT / "build/modules/count.o", ROOT / "build/modules/worm.o"

GENEROUS = """Interface = *
Helper = map_lookup_elem, map_update_elem, map_delete_elem, ktime_get_ns, get_prandom_u32
Map = array, hash, percpu_array, lru_hash
MapMemory = 16M
Instructions = 2000
"""


class Bench:
    """A folder with a key, a policy and its own state."""

    def __init__(self, folder, ns):
        self.folder, self.ns = folder, ns
        self.key = folder / "sign.key"
        self.key.write_text(self.module("genkey").stdout)
        self.key.chmod(0o600)
        self.public = self.module("pubkey", input=self.key.read_text()).stdout.strip()
        self.policy = folder / "modules.conf"
        self.write_policy(GENEROUS)

    def module(self, *args, **kwargs):
        return self.ns.run(BUILD / "saluki", "module", *args, capture_output=True, check=False, **kwargs)

    def write_policy(self, entries, name="*", key=None, more=""):
        self.policy.write_text(f"[Module {name}]\nKey = {key or self.public}\n{entries}{more}")

    def take(self, source, name=None):
        return pathlib.Path(shutil.copy(source, self.folder / (name or source.name)))

    def sign(self, obj, *options, key=None):
        got = self.module("sign", "--key", key or self.key, *options, obj)
        assert got.returncode == 0 and not got.stderr, got
        return obj

    def check(self, obj, *options):
        return self.module("check", "--policy", self.policy, *options, obj)

    def refused(self, obj, *options):
        """The lines of the refusals."""
        got = self.check(obj, *options)
        assert got.returncode == 1 and not got.stderr, got
        lines = [line for line in got.stdout.splitlines() if ": refused: " in line]
        assert lines, got
        return lines


@pytest.fixture(name="ns", scope="module")
def fixture_ns():
    with contextlib.closing(testbed.Namespace()) as ns:
        ns.run("mount", "-t", "tmpfs", "none", "/var/lib")
        yield ns


@pytest.fixture(name="bench")
def fixture_bench(tmp_path, ns):
    tmp_path.chmod(0o755)
    ns.run("rm", "-rf", "/var/lib/saluki")
    return Bench(tmp_path, ns)


def test_a_module_that_is_granted_all(bench):
    obj = bench.sign(bench.take(COUNT), "--serial", "7")
    got = bench.check(obj, "-i", "mon0")
    assert got.returncode == 0 and not got.stderr, got
    for line in ("wants to run as count ([Module *], line 1): granted",
                 f"wants key {bench.public}: granted",
                 "wants serial 7 (highest loaded: 0): granted", "wants interface mon0: granted",
                 "wants helper map_lookup_elem: granted",
                 "wants map counts (percpu_array, 256 of 4 + 8 bytes): granted"):
        assert line in got.stdout.splitlines()
    assert re.search(r"^wants \d+ instructions a frame, at most, of 2000: granted$", got.stdout, re.M)
    assert re.search(r"^wants map memory, measured \d+K of 16384K: granted$", got.stdout, re.M)
    assert bench.check(obj, "--hook", "tc").returncode == 0


def test_a_module_that_has_all_that_can_be_granted(bench):
    """The memory of a module's maps, computed before loading, is at least the measured one, and
    less than twice as much."""
    bench.write_policy(GENEROUS.replace("get_prandom_u32", "get_prandom_u32, ringbuf_output, map_push_elem")
                       .replace("lru_hash", "lru_hash, ringbuf, percpu_hash, lpm_trie, queue, stack, "
                                            "bloom_filter, lru_percpu_hash"))
    got = bench.check(bench.sign(bench.take(ROOT / "build/tests/modules/all_granted.bpf.o")))
    assert got.returncode == 0, got
    assert got.stdout.count("wants map ") == 11 + 2 + 2  # the compiler's own, and memory
    reckoned, measured = (int(re.search(rf"map memory, {how} (\d+)K", got.stdout)[1])
                          for how in ("at most", "measured"))
    assert measured <= reckoned <= 2 * measured


def test_without_privilege_it_says_what_it_did_not_look_at(bench):
    obj = bench.sign(bench.take(COUNT))
    got = bench.ns.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                       BUILD / "saluki", "module", "check", "--policy", bench.policy, obj,
                       capture_output=True, check=False)
    assert got.returncode == 0 and not got.stderr, got
    assert "not checked, for it takes root: instructions" in got.stdout
    assert "wants map counts" in got.stdout and "measured" not in got.stdout.split("not checked")[0]


@pytest.mark.parametrize("source", HOSTILE, ids=lambda s: s.name.split(".")[0])
def test_hostile_modules(bench, source):
    """Each hostile module is refused with the line named in its source."""
    expected = re.search(r"^// refused: (.*\S)", source.read_text(), re.M)[1]
    bench.write_policy(GENEROUS.replace("get_prandom_u32", "get_prandom_u32, ringbuf_reserve, ringbuf_discard, "
                                            "ringbuf_output")
                       .replace("lru_hash", "lru_hash, ringbuf"))
    obj = bench.sign(bench.take(ROOT / "build/tests/modules" / source.with_suffix(".o").name))
    assert any(expected in line for line in bench.refused(obj)), expected


@pytest.mark.alone
def test_nothing_that_is_refused_is_loaded(bench):
    """Neither refused nor granted modules are loaded by a check: no program and no map is left."""
    def loaded():
        return {kind: bench.ns.run("/usr/sbin/bpftool", kind, "show", capture_output=True).stdout.count("saluki_")
                for kind in ("prog", "map")}

    before = loaded()
    bench.refused(bench.sign(bench.take(ROOT / "build/tests/modules/many_instructions.bpf.o")))
    assert bench.check(bench.sign(bench.take(COUNT))).returncode == 0
    testbed.wait_for(lambda: loaded() == before, "the removal of the tried programs")


# ---- rights that the policy does not grant -------------------------------------------------------

@pytest.mark.parametrize("gone,line", [
    ("map_lookup_elem, ", "wants helper map_lookup_elem: refused: the policy does not name it: "
                          "Helper = map_lookup_elem"),
    ("percpu_array, ", "wants map counts (percpu_array, 256 of 4 + 8 bytes): refused: the policy does "
                       "not name its type: Map = percpu_array"),
    ("MapMemory = 16M\n", "refused: the policy grants 0K: MapMemory = "),
    ("Instructions = 2000\n", "refused: the policy grants 0: Instructions = "),
    ("Interface = *\n", "wants interface mon0: refused: the policy does not name it: Interface = mon0"),
], ids=lambda v: v[:12])
def test_what_is_not_named_is_not_granted(bench, gone, line):
    obj = bench.sign(bench.take(COUNT))
    assert gone in GENEROUS
    bench.write_policy(GENEROUS.replace(gone, ""))
    assert any(line in said for said in bench.refused(obj, "-i", "mon0"))


def test_interfaces_by_pattern(bench):
    obj = bench.sign(bench.take(COUNT))
    bench.write_policy(GENEROUS.replace("*", "mon*, eth0"))
    assert bench.check(obj, "-i", "mon7").returncode == 0
    assert bench.refused(obj, "-i", "eth1")


def test_its_own_section_goes_before_that_for_all(bench):
    obj = bench.sign(bench.take(COUNT))
    bench.write_policy(GENEROUS, more=f"[Module count]\nKey = {bench.public}\nMap = hash\n")
    assert any("Map = percpu_array" in line for line in bench.refused(obj))
    bench.write_policy(GENEROUS, name="other")
    assert "refused: the policy has no section for it: [Module count]" in bench.refused(obj)[0]


def test_what_it_sees_is_said(bench):
    for name in ("a", "t"):
        path = bench.folder / f"{name}.key"
        path.write_text(base64.b64encode(bytes(range(32))).decode() + "\n")
        path.chmod(0o600)
    bench.write_policy(GENEROUS, more="Show = ip prefix, mac hashed, ports, payload 16, label\nEvents = 9\n"
                       f"[keys]\nanonymise = {bench.folder}/a.key\nTrajectory = {bench.folder}/t.key\n")
    got = bench.check(bench.sign(bench.take(COUNT)))
    assert got.returncode == 0, got
    assert ("sees mac hashed, ip prefix, ports, payload 16, label; may emit 9 events a second; "
            "has priority 0") in got.stdout
    (bench.folder / "a.key").chmod(0o640)
    got = bench.check(bench.folder / "count.o")
    assert got.returncode == 1 and "a.key: is a secret that others can read: chmod 600" in got.stderr


# ---- proof ---------------------------------------------------------------------------------------

def is_unguarded():
    """Whether this kernel proves modules without its guards against speculation."""
    got = subprocess.run([BUILD / "tests/flow_kernel", "1", "1"], capture_output=True, check=True)
    return json.loads(got.stdout)["unguarded"]


def proof(got):
    return re.search(r"^wants to run in the kernel, proof (\w+)", got.stdout, re.M)[1]


def instructions(got):
    return int(re.search(r"^wants (\d+) instructions a frame", got.stdout, re.M)[1])


def test_what_is_simple_the_kernel_proves(bench):
    """The kernel proves simple modules, with its guards and without. A policy may name Saluki's
    proof instead."""
    obj = bench.sign(bench.take(COUNT))
    for entry, expected in ("", "kernel"), ("Proof = kernel\n", "kernel"), ("Proof = saluki\n", "saluki"):
        bench.write_policy(GENEROUS, more=entry)
        got = bench.check(obj)
        assert got.returncode == 0 and proof(got) == expected, got
        assert f"wants to run in the kernel, proof {expected}: granted\n" in got.stdout


def test_what_its_guards_refuse_the_kernel_does_not_prove(bench):
    obj = bench.sign(bench.take(WORM))
    entries = GENEROUS.replace("Instructions = 2000", "Instructions = 32000")
    bench.write_policy(entries)
    got = bench.check(obj)
    assert got.returncode == 0 and proof(got) == ("kernel" if is_unguarded() else "saluki"), got
    bench.write_policy(entries, more="Proof = kernel\n")
    if is_unguarded():
        assert proof(bench.check(obj)) == "kernel"
        return
    (line,) = bench.refused(obj)
    assert re.fullmatch(r"wants to run in the kernel, proof saluki: refused: the policy says Proof = kernel, and "
                        r"this kernel cannot prove it while it guards against Spectre \(R\d.*\); boot Linux 6.7 "
                        r"or later with mitigations=off, which leaves the whole machine unguarded, or remove Proof = "
                        r"kernel", line), line


def test_a_leak_is_refused_whoever_was_to_find_it(bench):
    obj = bench.sign(bench.take(ROOT / "build/tests/modules/address_said.bpf.o"))
    for entry in "", "Proof = kernel\n", "Proof = saluki\n":
        bench.write_policy(GENEROUS, more=entry)
        assert any("it leaves an address where others can read it" in line for line in bench.refused(obj))


def test_the_kernel_s_guards_do_not_use_up_what_is_granted(bench):
    """The kernel's guards make the verifier check more paths; with Saluki's proof the module is
    within its grant."""
    obj = bench.sign(bench.take(COUNT))
    counts = {}
    for name in "saluki", "kernel":
        bench.write_policy(GENEROUS, more=f"Proof = {name}\n")
        counts[name] = instructions(bench.check(obj))
    exact = GENEROUS.replace("Instructions = 2000", f"Instructions = {counts['saluki']}")
    bench.write_policy(exact)
    got = bench.check(obj)
    assert got.returncode == 0 and instructions(got) == counts["saluki"], got
    assert proof(got) == ("saluki" if counts["kernel"] > counts["saluki"] else "kernel")
    bench.write_policy(exact, more="Proof = kernel\n")
    if counts["kernel"] > counts["saluki"]:
        assert f"wants {counts['kernel']} instructions a frame" in bench.refused(obj)[0]


def loads(bench, obj):
    """Each load of a program, in order: its name, and the effective capabilities."""
    trace = bench.folder / "trace"
    got = bench.ns.run("strace", "-o", trace, "-e", "trace=capset,bpf", BUILD / "saluki", "module", "check",
                       "--policy", bench.policy, obj, capture_output=True, check=False)
    assert got.returncode == 0, got
    effective, found = None, []
    for line in trace.read_text().splitlines():
        if line.startswith("capset("):
            effective = set(re.search(r"effective=(\S+?),", line)[1].split("|"))
        elif line.startswith("bpf(BPF_PROG_LOAD"):
            found.append((re.search(r'prog_name="(\w*)"', line)[1], effective))
    return found, effective


def test_what_the_kernel_proves_is_loaded_without_privilege(bench):
    obj = bench.sign(bench.take(COUNT))
    found, last = loads(bench, obj)
    ((_, effective),) = [load for load in found if load[0].startswith("saluki_module")]
    few = {"1<<CAP_PERFMON", "1<<CAP_SYS_ADMIN"}
    assert not effective & few and "1<<CAP_BPF" in effective and few < last, found
    bench.write_policy(GENEROUS, more="Proof = saluki\n")
    found, last = loads(bench, obj)
    assert last is None and [name for name, _ in found if name.startswith("saluki_module")], found


# ---- signatures ----------------------------------------------------------------------------------

def test_unsigned(bench):
    got = bench.check(bench.take(COUNT))
    assert got.returncode == 1 and "count.o.sig: No such file" in got.stderr
    assert "wants to be taken unsigned: refused: sign it: saluki module sign" in got.stdout


def test_altered_object(bench):
    obj = bench.sign(bench.take(COUNT))
    data = bytearray(obj.read_bytes())
    data[data.index(b"counts")] ^= 1
    obj.write_bytes(data)
    assert "it is of another object" in bench.refused(obj)[0]


def test_names_are_not_for_the_terminal(bench):
    obj = bench.take(COUNT)
    data = obj.read_bytes()
    obj.write_bytes(data.replace(b"counts\0", b"\x1b[2J\x9bx\0"))
    got = bench.ns.run(BUILD / "saluki", "module", "check", "--policy", bench.policy, bench.sign(obj),
                       stdout=subprocess.PIPE, check=False)
    assert "??[2J" not in got.stdout and "?[2J" in got.stdout and "\x1b" not in got.stdout


def test_forged_signature(bench):
    obj = bench.sign(bench.take(COUNT))
    sig = obj.with_name(obj.name + ".sig")
    text = sig.read_text()
    signature = bytearray(base64.b64decode(text.split()[-1]))
    signature[5] ^= 1
    sig.write_text(text.replace(text.split()[-1], base64.b64encode(signature).decode()))
    assert "it is not by the key that it names" in bench.refused(obj)[0]
    for old, new in (("serial 1", "serial 2"), ("name count", "name couny"), ("interface 2", "interface 1")):
        sig.write_text(text.replace(old, new))
        assert any("it is not by the key that it names" in line for line in bench.refused(obj))
    for worse in (text + "\n", text.replace("\n", "\r\n"), text.replace("serial ", "serial 0"),
                  text.replace("serial ", "serial +"), text[:-1], "", text * 2,
                  text.replace("name count", "name ../../x")):
        sig.write_text(worse)
        assert bench.check(obj).returncode == 1


def test_signature_is_what_the_page_says(bench):
    """A signature made without saluki is accepted: Ed25519 of the lines before the last."""
    obj = bench.sign(bench.take(COUNT), "--serial", "9")
    lines = obj.with_name(obj.name + ".sig").read_text().splitlines(keepends=True)
    seed = base64.b64decode(bench.key.read_text())
    signed = nacl.signing.SigningKey(seed).sign("".join(lines[:6]).encode()).signature
    assert lines[6] == f"signature {base64.b64encode(signed).decode()}\n"
    assert lines[5] == f"key {bench.public}\n" and lines[2] == "serial 9\n"


def signed_text(bench, obj, **changes):
    """A valid signature of lines that saluki would not have written."""
    seed = nacl.signing.SigningKey(base64.b64decode(bench.key.read_text()))
    lines = obj.with_name(obj.name + ".sig").read_text().splitlines()[:6]
    text = "".join(f"{w} {changes.get(w, rest)}\n" for w, rest in (line.split(" ", 1) for line in lines))
    signature = base64.b64encode(seed.sign(text.encode()).signature).decode()
    obj.with_name(obj.name + ".sig").write_text(f"{text}signature {signature}\n")


def test_another_interface_version(bench):
    obj = bench.sign(bench.take(COUNT))
    signed_text(bench, obj, interface="1")
    assert bench.refused(obj) == ["wants another interface: refused: it was made for version 1, this "
                                  "saluki has 2; compile and sign it anew"]


def test_key_that_the_policy_does_not_have(bench):
    other = bench.folder / "other.key"
    other.write_text(bench.module("genkey").stdout)
    other.chmod(0o600)
    obj = bench.sign(bench.take(COUNT), key=other)
    assert "the policy does not have this key: Key = " in bench.refused(obj)[0]


def test_wrong_name(bench):
    obj = bench.sign(bench.take(COUNT), "--name", "other")
    bench.write_policy(GENEROUS, name="count")
    assert "no section for it: [Module other]" in bench.refused(obj)[0]


def test_old_serial(bench):
    bench.ns.run("mkdir", "-p", "/var/lib/saluki/modules")
    bench.ns.run("tee", "/var/lib/saluki/modules/count.serial", input="8\n", stdout=subprocess.DEVNULL)
    obj = bench.sign(bench.take(COUNT), "--serial", "8")
    assert bench.check(obj).returncode == 0
    bench.sign(obj, "--serial", "7")
    assert bench.refused(obj)[0].startswith("wants serial 7: refused: 8 was loaded already")
    bench.ns.run("tee", "/var/lib/saluki/modules/count.serial", input="x8\n", stdout=subprocess.DEVNULL)
    got = bench.check(bench.sign(obj, "--serial", "9"))
    assert got.returncode == 1 and "the highest so far cannot be read" in got.stdout


# ---- the policy's file ---------------------------------------------------------------------------

def assert_not_read(bench, said):
    got = bench.check(bench.folder / "count.o")
    assert got.returncode == 1 and got.stdout == "" and said in got.stderr, got


def test_policy_that_others_can_write(bench):
    bench.sign(bench.take(COUNT))
    bench.policy.chmod(0o664)
    assert_not_read(bench, "modules.conf: can be written by others: chmod go-w")
    bench.policy.chmod(0o644)
    os.chown(bench.policy, 65534, 0)
    assert_not_read(bench, "modules.conf: is not owned by root: chown root")
    os.chown(bench.policy, 0, 0)
    bench.folder.chmod(0o777)
    assert_not_read(bench, f"{bench.folder}: is a folder that others can write to: chmod go-w")
    bench.folder.chmod(0o755)
    assert bench.check(bench.folder / "count.o").returncode == 0


def test_policy_behind_a_link_in_a_folder_of_others(bench):
    """A policy behind a link is checked by its file and that file's folder."""
    bench.sign(bench.take(COUNT))
    folder = bench.folder / "theirs"
    folder.mkdir()
    bench.policy.rename(folder / "modules.conf")
    bench.policy.symlink_to(folder / "modules.conf")
    assert bench.check(bench.folder / "count.o").returncode == 0
    os.chown(folder, 65534, 0)
    assert_not_read(bench, f"{folder}: is not owned by root: chown root")


@pytest.mark.parametrize("text,said", [
    ("Helper = probe_read_kernel", "line 3: Helper: probe_read_kernel: is none that a module can have"),
    ("Map = prog_array", "line 3: Map: prog_array: is no type that a module can have"),
    ("Show = everything", "line 3: Show: everything: no such field"),
    ("Bark = yes", "line 3: Bark: no such entry"),
    ("Proof = mine", "line 3: Proof: mine: no such choice; there are kernel and saluki"),
    ("[Modul x]", "line 3: [Modul x]: is no section; write [Module NAME] or [Keys]")])
def test_policy_with_mistakes(bench, text, said):
    bench.sign(bench.take(COUNT))
    bench.write_policy(text + "\n")
    assert_not_read(bench, f"modules.conf: {said}")


# ---- compiling -----------------------------------------------------------------------------------

def test_make_module_in_the_tree_and_beside_what_is_installed(bench):
    source = bench.take(ROOT / "bpf/modules/count/count.bpf.c", "mine.bpf.c")
    subprocess.run(["make", "-s", "module", f"SRC={source}"], cwd=ROOT, check=True)
    assert bench.check(bench.sign(bench.folder / "mine.bpf.o")).returncode == 0
    subprocess.run(["make", "-s", "install", f"DESTDIR={bench.folder}/root", "PREFIX=/usr"], cwd=ROOT,
                   check=True, stdout=subprocess.DEVNULL)
    (bench.folder / "mine.bpf.o").unlink()
    subprocess.run(["make", "-s", "-f", bench.folder / "root/usr/share/saluki/module.mk", "module",
                    "SRC=mine.bpf.c", "OUT=out.o"], cwd=bench.folder, check=True)
    assert bench.check(bench.sign(bench.folder / "out.o")).returncode == 0


def test_not_stripped(bench):
    obj = bench.folder / "fat.o"
    subprocess.run(["clang", "-O2", "-g", "-target", "bpf", f"-I{ROOT}/include", "-idirafter",
                    f"/usr/include/{os.uname().machine}-linux-gnu", "-c", "-o", obj,
                    ROOT / "bpf/modules/count/count.bpf.c"], check=True)
    assert bench.refused(bench.sign(obj)) == ["wants section .debug_info: refused: strip it: llvm-strip -g"]


def test_sign_says_what_is_wrong(bench):
    obj = bench.take(COUNT)
    bench.key.chmod(0o644)
    got = bench.module("sign", "--key", bench.key, obj)
    assert got.returncode == 0 and "others can read this key; chmod 600" in got.stderr
    bench.key.write_text("nonsense\n")
    got = bench.module("sign", "--key", bench.key, obj)
    assert got.returncode == 1 and "is no private key; make one with 'saluki module genkey'" in got.stderr
    got = bench.module("sign", "--key", bench.key, "--name", "a/b", obj)
    assert got.returncode == 1 and "is no name of a module" in got.stderr
    got = bench.module("sign", "--key", bench.key, bench.folder)
    assert got.returncode == 1 and "is no regular file" in got.stderr
