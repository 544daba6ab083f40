# SPDX-License-Identifier: GPL-2.0
"""`saluki-merge stats` counts what `saluki-merge receptions` lists, survives any input, and `saluki-merge-report` makes a
page of it that a browser shows whole, without a message and without a request."""
import contextlib
import json
import random
import subprocess
import types

import numpy as np
import pytest

from merge import page, table
from netns.testbed import BUILD, Namespace
from web import browser

FIGURES = ("offsets", "residuals", "together", "graph", "transmitters", "channels", "hearers", "alone", "retries")
MERGE = BUILD / "saluki-merge"
SIMULATED = {"seconds": 12.0, "sensors": 24, "aps": 9, "stas": 40, "batch": True, "bad": .05}
UNALIGNED = 8


def stats(path, *options, check=True):
    p = subprocess.run([MERGE, "stats", "--json", *options, path], capture_output=True, text=True)
    assert not check or (p.returncode == 0 and not p.stderr), p.stderr
    return json.loads(p.stdout) if check else p


def report(text, *options):
    return subprocess.run([page.PYTHON, "-B", page.REPORT, *options], input=text, capture_output=True, text=True)


@pytest.fixture(scope="module")
def made(written, tmp_path_factory):
    """A trace, its figures, and its table of receptions."""
    folder = tmp_path_factory.mktemp("report")
    trace = folder / "unified.pcapng"
    subprocess.run([MERGE, "-q", "-w", trace, written(**SIMULATED).stream], check=True)
    with open(folder / "receptions.tsv", "wb") as f:
        subprocess.run([MERGE, "receptions", trace], stdout=f, check=True)
    numbers = ("transmission", "time_ns", "stamp_ns", "off_ns", "flags", "signal_dbm", "mhz")
    rows = table.read(folder / "receptions.tsv", numbers, {"sensor": lambda name: int(name[2:])})
    return types.SimpleNamespace(folder=folder, trace=trace, stats=stats(trace), rows=types.SimpleNamespace(**rows))


# ---- figures ----------------------------------------------------------------------------------------------------------


def names(made):
    return [int(s["name"][2:]) for s in made.stats["sensors"]]


def test_all_receptions_are_counted(made):
    r = made.rows
    assert made.stats["receptions"] == len(r.sensor) > 30_000
    assert made.stats["transmissions"] == len(np.unique(r.transmission))
    assert [s["receptions"] for s in made.stats["sensors"]] == [np.count_nonzero(r.sensor == n) for n in names(made)]
    assert sorted(names(made)) == np.unique(r.sensor).tolist()
    assert sum(p["receptions"] for p in made.stats["parts"]) == len(r.sensor)
    assert not any(made.stats["left_out"].values())
    heard = np.sum([c["heard_by"] for c in made.stats["classes"]], 0)
    pairs = np.unique(r.transmission * 1000 + r.sensor) // 1000
    assert heard.tolist() == np.bincount(np.bincount(pairs)[1:], minlength=65).tolist()
    per_point = np.sum([c["transmissions"] for c in made.stats["channels"]], 0)
    assert per_point.sum() == made.stats["transmissions"] and len(per_point) == made.stats["points"] == 20


def test_who_hears_what_others_hear(made):
    r, order = made.rows, names(made)
    whole = np.zeros(r.transmission.max() + 1, bool)  # somebody has heard it with a right FCS
    whole[r.transmission[r.flags & 2 == 0]] = True
    good = whole[r.transmission]
    matrix = np.zeros((r.transmission.max() + 1, len(order)), np.float32)
    place = np.zeros(max(order) + 1, int)
    place[order] = np.arange(len(order))
    matrix[r.transmission[good], place[r.sensor[good]]] = 1
    assert (matrix.T @ matrix).astype(int).tolist() == made.stats["together"]


def test_alone(made):
    r = made.rows
    counts = np.bincount(r.transmission)
    for s, n in zip(made.stats["sensors"], names(made)):
        own = (r.sensor == n) & (counts[r.transmission] == 1)
        assert sum(s["alone"].values()) == np.count_nonzero(own)
        assert s["alone"].get("bad_fcs", 0) == np.count_nonzero(own & (r.flags & 2 > 0))


def test_clocks(made, written):
    """The drift of each clock is that of the truth, and residuals have the stamps' spread."""
    truth = written(**SIMULATED).truth
    seconds = (np.arange(made.stats["points"]) + .5) * made.stats["step_ns"] / 1e9
    rates = []
    for n, series in zip(names(made), made.stats["series"]):
        late = [i for i, v in enumerate(series["offset_ns"]) if v is not None and seconds[i] > 4]
        offsets = [series["offset_ns"][i] - series["offset_ns"][late[0]] for i in late]  # small: floats are exact
        found = np.polyfit(seconds[late], offsets, 1)[0]
        own = truth.clock_ns[n - 1]
        rates.append((-found, np.polyfit(truth.grid_ns / 1e9, own - own[0], 1)[0]))
    found, true = np.array(rates).T
    away = found - true
    assert np.ptp(true) > 50_000 and np.percentile(abs(away - np.median(away)), 90) < 2000  # ns a second
    spread = [(s["residual_ns"]["p90"] - s["residual_ns"]["p10"]) / 2.56 for s in made.stats["sensors"]]
    sigma = truth.sigma_ns[np.array(names(made)) - 1]
    assert np.corrcoef(spread, sigma)[0, 1] > .8
    assert made.stats["clocks"]["lines"] > 200 and made.stats["clocks"]["malformed"] == 0
    assert {e["event"] for e in made.stats["clocks"]["events"]} >= {"join"}


def test_only_the_busiest(made):
    """The list of sensors stays whole."""
    few = stats(made.trace, "--sensors", "5", "--transmitters", "3", "--points", "7")
    assert few["sensors"] == made.stats["sensors"]
    assert len(few["series"]) == len(few["together"]) == len(few["heard"]) == 5 and few["points"] == 7
    assert few["transmitters"] == made.stats["transmitters"][:3]
    assert [row[:5] for row in made.stats["together"][:5]] == few["together"]


def test_it_prints_the_same_again(made):
    assert stats(made.trace) == made.stats


# ---- bad input --------------------------------------------------------------------------------------------------------


def test_damaged_traces(made, tmp_path):
    """A line and status 1, or figures; never a signal."""
    data, rng = made.trace.read_bytes()[:60_000], random.Random(5)
    path = tmp_path / "bad.pcapng"
    for n in range(60):
        bad = bytearray(data[:rng.randrange(len(data))] if n % 3 == 0 else data)
        for _ in range(0 if n % 3 == 0 else rng.randrange(1, 200)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        path.write_bytes(bad)
        p = stats(path, check=False)
        assert p.returncode in (0, 1) and (p.returncode == 0) == bool(p.stdout)
        assert p.returncode == 0 or p.stderr.count("\n") == 1


def test_damaged_tables_of_clocks(made, tmp_path):
    head, *lines = (made.folder / "unified.clocks.tsv").read_text().splitlines()
    sensor = names(made)[0]
    bad = ["", "x", "\t" * 40, "9" * 4000, f"1e400\ts-{sensor}\t-\t-", f"17.5x\ts-{sensor}", "1\tnobody\t5", "1\t\0",
           f"{2**70}\ts-{sensor}\t0", lines[0].replace("\t0\t", "\tnan\t")]
    (tmp_path / "clocks.tsv").write_text("\n".join([head, *bad, *lines]) + "\n")
    found = stats(made.trace, "--clocks", tmp_path / "clocks.tsv")["clocks"]
    assert found["malformed"] >= 6 and found["unknown_sensor"] >= 1
    assert found["lines"] <= len(lines) + len(bad)
    (tmp_path / "clocks.tsv").write_text("no\ttable\n")
    assert stats(made.trace, "--clocks", tmp_path / "clocks.tsv", check=False).returncode == 1


def test_a_capture_without_receptions(written):
    p = stats(written(**SIMULATED).stream, check=False)
    assert p.returncode == 1 and "has no receptions" in p.stderr and p.stderr.count("\n") == 1


def spoilt(made):
    """Figures that lack something, or have something else than expected."""
    def change(function):
        copy = json.loads(json.dumps(made.stats))
        function(copy)
        return json.dumps(copy)

    yield from ("", "[]", "null", "{}", "{", '{"version": 1}', "\0", "[" * 100_000)
    yield change(lambda s: s.update(version=2))
    yield change(lambda s: s.update(points=10**9))
    yield change(lambda s: s.update(step_ns=0))
    yield change(lambda s: s["together"].pop())
    yield change(lambda s: s["series"][0].update(offset_ns=["x"]))
    yield change(lambda s: s["sensors"][0].update(name=7))
    yield change(lambda s: s["transmitters"][0].update(retries=10**9))
    yield change(lambda s: s["transmitters"][0].pop("attempts"))
    yield change(lambda s: s["sensors"].clear())
    for name in made.stats:
        if name != "clocks":
            yield change(lambda s: s.pop(name))


def test_spoilt_figures_get_a_line(made):
    code = ("import io, sys, trace_stats\n"
            "for line in open(0, newline='\\n'):\n"
            "    try: trace_stats.read(io.StringIO(line)); print('taken')\n"
            "    except trace_stats.Malformed: print('refused')\n")
    texts = [t for t in spoilt(made) if "\n" not in t]
    p = subprocess.run([page.PYTHON, "-B", "-c", code], input="\n".join(texts) + "\n", capture_output=True, text=True,
                       cwd=page.REPORT.parent)
    taken = [texts[n][:60] for n, line in enumerate(p.stdout.split()) if line == "taken"]
    assert p.stdout.split().count("refused") == len(texts) - len(taken) > 20, p.stderr
    assert len(taken) <= 2, taken  # no figure needs signal_dbm and parts_count
    p = report("{}", "-w", "/nonexistent/x")
    assert p.returncode == 1 and p.stderr.count("\n") == 1 and "saluki-merge stats --json" in p.stderr


# ---- the page ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def shown(made, tmp_path):
    """Makes a page of figures, and opens it in a browser in a namespace, which has no network."""
    with contextlib.ExitStack() as stack:
        bed = types.SimpleNamespace(ns=Namespace(), tmp_path=tmp_path, stack=stack)

        def show(figures, **settings):
            p = report(json.dumps(figures), "-w", str(tmp_path / "report.html"), "-t", "A <b>title</b>")
            assert p.returncode == 0 and not p.stderr, p.stderr
            found = browser.Page(bed, f"file://{tmp_path}", **settings)
            found.open("report.html")
            return found
        yield show


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_figures_are_in_the_page(made, shown, scheme):
    found = shown(made.stats, color_scheme=scheme)
    page_ = found.page
    assert [f.get_attribute("id") for f in page_.locator("figure").all()] == list(FIGURES)
    assert page_.locator("h1").inner_text() == "A <b>title</b>" and page_.locator("script").count() == 0
    for name in FIGURES:
        picture = page_.locator(f"#{name} svg")
        box = picture.bounding_box()
        assert box["width"] > 800 and 250 < box["height"] < 1200, name
        assert len(picture.locator("title").first.text_content()) > 40
        assert len(page_.locator(f"#{name} figcaption").inner_text()) > 80
        assert picture.locator("text").count() > 5
    ink = page_.evaluate("getComputedStyle(document.querySelector('svg text')).fill")
    assert (min(map(int, ink[4:-1].split(","))) > 200) == (scheme == "dark"), ink
    ids = page_.evaluate("Array.from(document.querySelectorAll('[id]')).map(e => e.id)")
    assert len(page_.evaluate("Array.from(document.querySelectorAll('image, use')).map(e => e.href.baseVal)"
                              ".filter(h => !h.startsWith('data:') && !document.getElementById(h.slice(1)))")) == 0
    assert {f"f{n}-title" for n in range(1, 10)} <= set(ids)
    assert found.said == [] and found.elsewhere == []


def test_a_small_screen(made, shown):
    found = shown(made.stats, viewport={"width": 400, "height": 700})
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_names_are_text(made, shown):
    figures = json.loads(json.dumps(made.stats))
    for s in figures["sensors"]:
        s["name"] = "$x_{$</text><script>alert(1)</script>"
    figures["transmitters"][0]["address"] = "<img src=http://elsewhere.example/>"
    found = shown(figures)
    assert found.page.locator("script, img").count() == 0 and found.elsewhere == [] and found.said == []


def test_one_sensor_and_nothing_heard(made, shown):
    """Figures that need more are left out."""
    figures = json.loads(json.dumps(made.stats))
    for name in ("sensors", "series"):
        figures[name] = figures[name][:1]
    figures["together"], figures["heard"] = [[5]], figures["heard"][:1]
    found = shown(figures)
    assert found.page.locator("figure").count() == 7
    for name in ("sensors", "series", "channels", "transmitters", "together", "heard", "classes", "parts"):
        figures[name] = []
    p = report(json.dumps(figures))
    assert p.returncode == 0 and "<figure" not in p.stdout and "</html>" in p.stdout, p.stderr


def test_figures_for_a_talk(made, tmp_path):
    p = report(json.dumps(made.stats), "--figures", str(tmp_path / "f"), "--format", "pdf", "-w", str(tmp_path / "x.html"))
    assert p.returncode == 0, p.stderr
    assert sorted(f.name for f in (tmp_path / "f").iterdir()) == [f"{n}-{name}.pdf" for n, name in enumerate(FIGURES, 1)]
