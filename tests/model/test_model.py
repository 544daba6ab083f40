# SPDX-License-Identifier: GPL-2.0
"""The delivery protocol, model-checked: each model passes in all its states, finds the faults
planted in it, and names functions that exist (README.md)."""
import pathlib
import re
import resource
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
MEMORY_MB = 2048
SECONDS = 60   # of CPU time, per run
DEPTH = 10000  # the longest run has about 300 steps

# Each model's budgets of faults, and the planted faults that each must find.
RUNS = {
    "delivery": {
        "losses": ([], ["SETTLE_BEFORE_WRITE", "FINAL_EARLY"]),
        "reordering": (["LOSSES=0", "REORDER=1"], ["SETTLE_BEFORE_WRITE"]),
        "no-room": (["LOSSES=0", "ROOM=1"], ["NO_CHECK"]),
        "given-up": (["LOSSES=1", "GIVE_UP=1"], ["FLOOR_TWICE"]),
    },
    "sensor": {
        "memory": ([], ["RELEASE_BEFORE_STORE", "TAKEN_IS_SETTLED", "NO_PENDING",
                        "KNOWN_IS_EARLIER", "COUNT_TOO_MUCH"]),
        "spool": (["SPOOL=1"], ["RELEASE_BEFORE_STORE", "ERASE_TAKEN", "COUNT_TOO_MUCH"]),
    },
    "collector": {
        "kills": ([], ["SETTLE_BEFORE_WRITE", "NO_CUT", "NO_UNDO", "STATE_AHEAD"]),
    },
    "sessions": {
        "agents": ([], ["OLD_OF_A_SET_UP", "KEEP_HALVES", "ACK_OF_ANOTHER"]),
        "renewal": (["SET_UPS=0", "RENEWALS=1", "ENDS=1"], ["KEEP_HALVES"]),
        "there-and-back": (["SET_UPS=2", "RENEWALS=0", "ENDS=0"], []),
    },
    "disk": {
        "full": ([], ["SETTLE_ON_HOLD", "DROP_ON_HOLD", "NO_TRUNCATE", "RUN_BEGINS_ON_HOLD",
                      "FLOOR_AT_ONCE", "PASS_OVER_IN_SILENCE"]),
    },
    "log": {
        "kills": (["SINK_KILLS=1", "PUT_KILLS=2", "REFUSED=1", "GIVE_UP=1", "GET_KILLS=1",
                   "SOURCE_KILLS=1"],
                  ["SETTLE_BEFORE_LOG", "FORGET_WINDOW", "REFUSE_IN_SILENCE", "DONE_BEFORE_WRITE",
                   "COMMIT_BEFORE_DONE", "FORGET_NAMES"]),
        "moves": (["MOVES=2", "PUT_KILLS=1", "GIVE_UP=1", "SOURCE_KILLS=1"],
                  ["MOVED_IS_LOST", "FORGET_WINDOW", "LATE_STAYS_LOST"]),
        "moves-and-kills": (["MOVES=2", "SINK_KILLS=1", "GIVE_UP=1", "SOURCE_KILLS=1"],
                            ["SETTLE_BEFORE_LOG", "MOVED_IS_LOST"]),
        "errors": (["ERRORS=1", "SINK_KILLS=1", "PUT_KILLS=1", "GET_KILLS=1", "SOURCE_KILLS=1"],
                   ["SETTLE_TO_NEWEST", "NO_LATE", "FORGET_GAPS"]),
        "runs": (["RESTARTS=1", "MOVES=2", "SINK_KILLS=1", "PUT_KILLS=1", "SOURCE_KILLS=1"],
                 ["SWITCH_UNCONFIRMED", "FORGET_NAMES"]),
        "readers": (["HANDOVERS=2", "PUT_KILLS=1", "GET_KILLS=1", "SOURCE_KILLS=1"],
                    ["DONE_BEFORE_WRITE", "COMMIT_BEFORE_DONE"]),
    },
}

SOUND = [pytest.param(m, run, id=f"{m}-{run}") for m in RUNS for run in RUNS[m]]
PLANTED = [pytest.param(m, run, fault, id=f"{m}-{run}-{fault}")
           for m in RUNS for run in RUNS[m] for fault in RUNS[m][run][1]]


def source(model):
    return "".join(p.read_text() for p in sorted(HERE.glob(f"{model}*.pml")))


def check(tmp_path, model, defines, optimise="-O2"):
    """Runs the model checker; returns its report, and the search's CPU seconds."""
    path = HERE / f"{model}.pml"
    subprocess.run(["spin", "-a", *(f"-D{d}" for d in defines), path], cwd=tmp_path, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", optimise, "-w", "-DNOFAIR", f"-DMEMLIM={MEMORY_MB}", "-o", "pan",
                    "pan.c"],
                   cwd=tmp_path, check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = subprocess.run(["./pan", "-a", f"-m{DEPTH}"], cwd=tmp_path, check=True, text=True,
                            stdout=subprocess.PIPE, timeout=900).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return report, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def figure(pattern, report):
    return float(re.search(pattern, report)[1])


@pytest.mark.parametrize("model,run", SOUND)
def test_all_states_are_sound(tmp_path, model, run):
    """In all states assertions hold and each run comes to its end: the search is exhaustive."""
    report, seconds = check(tmp_path, model, RUNS[model][run][0])
    states = figure(r"(\d+) states, stored", report)
    memory_mb = figure(r"([\d.]+)\ttotal actual memory", report)
    print(f"{model}, {run}: {states:.0f} states, {memory_mb:.0f} MB, {seconds:.1f} s")
    assert "errors: 0" in report, report
    for word in ("Search not completed", "MEMLIM", "max search depth too small", "truncated",
                 "assertion violated", "aborted"):
        assert word not in report, report
    assert seconds < SECONDS


@pytest.mark.parametrize("model,run,fault", PLANTED)
def test_a_planted_fault_is_found(tmp_path, model, run, fault):
    assert f"FAULT_{fault}" in source(model)
    # The search is short: compiling takes longer.
    report, _ = check(tmp_path, model, [*RUNS[model][run][0], f"FAULT_{fault}"], "-O0")
    assert "errors: 1" in report, report
    assert "assertion violated" in report or "acceptance cycle" in report, report


@pytest.mark.parametrize("model", RUNS)
def test_every_fault_is_planted(model):
    there = set(re.findall(r"ifn?def FAULT_(\w+)", source(model)))
    assert there == {fault for _, faults in RUNS[model].values() for fault in faults}


def named(model):
    """The functions named in a model's comments, with their files."""
    text = re.sub(r"\n[ \t]*\*", " ", source(model))
    text = re.sub(r"[ \t]+", " ", text)
    for path, names in re.findall(r"((?:agent|bpf|collector|kafka|wire)/[\w/]+\.[ch]): (\w+(?:, \w+)*)",
                                  text):
        for name in names.split(", "):
            yield path, name


@pytest.mark.parametrize("model", RUNS)
def test_steps_are_functions_that_exist(model):
    """Each step's function exists: a renamed or removed function must change its step."""
    steps = list(named(model))
    assert len(steps) >= 15
    for path, name in steps:
        assert (ROOT / path).exists(), f"{model}.pml names {path}"
        # A definition begins in the first column.
        assert re.search(rf"^\w.*\b{name}\(", (ROOT / path).read_text(), re.M), \
            f"{model}.pml names {name} of {path}"
