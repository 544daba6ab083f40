# SPDX-License-Identifier: GPL-2.0
"""The live page in Debian's Chromium: over a collector with real sensors, and over boards of invented ones."""
import json
import re
import time

import pytest
from playwright.sync_api import expect

from netns import testbed
from web import server
from web.browser import Page
from web.pretended import Pretended

ADDRESS = f"http://{server.ADDRESS}"
RED = "rgb(179, 38, 30)"
SCHEMES = ("light", "dark")
expect.set_options(timeout=20000)


@pytest.fixture
def pretended(bed):
    """A board of 200 with all kinds of trouble, served."""
    board = Pretended(bed, 200)
    board.order("3 silent", "17 silent", "31 never", "60 down", "77 deaf", "90 losing", "120 shared", "150 ended",
                "170 unbalanced", "180 held", "refused", "5 hostile")
    board.web = server.start(bed)
    return board


def opened(bed, rest="", **settings):
    """The page, once the pretended board's orders are in it."""
    it = Page(bed, ADDRESS, **settings)
    page = it.open(rest)
    expect(page.locator("#attention-count")).to_have_text("10")
    return it, page


def assert_quiet(it):
    assert it.said == [] and it.elsewhere == []


# ---- a real collector ------------------------------------------------------------------------------------------------

def test_a_sensor_is_killed(bed, bundled):
    """Its square becomes red, with a letter, within 20 s; page, `status`, `check` and log agree."""
    collector = bed.collector()
    players = [bed.tun(f"mon{n}", 803, bundled) for n in range(2)]
    lib, two = bed.sensor("lib", "mon0"), bed.sensor("two", "mon1")
    server.start(bed)
    frames = [p.play() for p in players]
    it = Page(bed, ADDRESS)
    page = it.open()
    expect(it.square("lib")).to_have_attribute("aria-label", "lib, fine")
    expect(it.square("room-0")).to_have_text("N")
    expect(page.locator("#tiles div").nth(0)).to_contain_text("2 / 6")
    lib.kill_all()
    killed = time.monotonic()
    expect(it.square("lib")).to_have_text("S")
    assert time.monotonic() - killed < 20
    page.wait_for_function("w => getComputedStyle(document.querySelector('#squares a[href=\"#sensor=lib\"]'))"
                           ".backgroundColor === w", arg=RED)
    expect(page.locator("#said")).to_contain_text("lib: silent")
    expect(page.locator("#worst li").first).to_contain_text("lib silent since")
    assert {s["name"]: s["trouble"] for s in server.status(bed)["sensors"]}["lib"] == "silent"
    checked = bed.ns.run(testbed.BUILD / "saluki-collector", "check", "lib", "two", capture_output=True, check=False)
    assert checked.returncode == 2 and "CRITICAL: lib silent" in checked.stdout, checked
    collector.expect("lib: silent since")
    page.evaluate("location.hash = 'sensor=two'")
    expect(page.locator("#sensor .flow")).to_contain_text(f"{frames[1]:,} written")
    expect(page.locator("#sensor .facts").first).to_contain_text("127.0.0.1")
    assert_quiet(it)
    two.finish()


# ---- invented sensors ------------------------------------------------------------------------------------------------

def test_what_needs_attention(bed, pretended):
    it, page = opened(bed)
    rows = page.locator("#worst li").all_inner_texts()
    assert [re.match(r"(\w)\s+(s-\d+)", row).groups() for row in rows] == [
        ("U", "s-170"), ("S", "s-3"), ("S", "s-17"), ("N", "s-31"), ("H", "s-180"), ("K", "s-120"), ("C", "s-60"),
        ("L", "s-90"), ("D", "s-77"), ("E", "s-150")]
    assert re.search(r"silent since \d\d:\d\d:\d\d, \d+ s\b", rows[1]), rows[1]
    assert "wlan0: no carrier" in rows[6] and "wlan0 hears no frames since" in rows[8], rows
    refused = page.locator("#refusals li").all_inner_texts()
    assert "add --config /etc/saluki/collector.conf NAME mJ3jvQxLcCZ0pFJ5kq1d0oQwq6r3x1yQnTn5pW8sB0E=" in refused[0], refused
    assert "192.168.1.23" in refused[0] and "37 times" in refused[0] and "s-3 refused" in refused[1], refused
    expect(page).to_have_title("(10) Saluki")
    icon = page.evaluate("""new Promise(done => { const i = new Image(); i.onload = () => done(i.naturalWidth > 0);
        i.onerror = () => done(false); i.src = document.querySelector('link[rel=icon]').href; })""")
    assert icon, "the page's icon can be shown"
    times = page.locator("#worst time").first
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", times.get_attribute("title"))
    assert_quiet(it)


def test_kafka(bed, pretended):
    """A tile says how the messages go on, or why they do not; the reason is text."""
    it, page = opened(bed)
    tiles = page.locator("#tiles div")
    expect(tiles).to_have_count(6)
    pretended.order("0 source")
    expect(tiles.nth(6)).to_contain_text("messages, Kafkalag 34,0007,000 combos taken")
    pretended.order("0 sink")
    expect(tiles.nth(5)).to_contain_text("messages, Kafka12 waiting5,120 delivered, 1 refused")
    expect(tiles).to_have_count(6)
    expect(page.locator("#source")).to_have_text("puts into saluki.combos")
    expect(page.locator("#worst li").nth(4)).to_contain_text("its frames wait for saluki-kafka")
    expect(tiles.nth(5).locator("span")).to_have_class("fine")
    pretended.order("0 stopped")
    expect(tiles.nth(5)).to_contain_text("b1:9092|1: <b>Connection refused</b>, for 75 s")
    expect(tiles.nth(5).locator("span")).to_have_class("bad")
    assert tiles.locator("b").count() == 0
    page.set_viewport_size({"width": 360, "height": 780})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert_quiet(it)


@pytest.mark.full
def test_letters_as_well_as_colours(bed, pretended):
    it, page = opened(bed)
    letters = {n: it.square(f"s-{n}").inner_text() for n in (0, 3, 31, 60, 77, 90, 120, 150, 170, 180)}
    assert letters == {0: "", 3: "S", 31: "N", 60: "C", 77: "D", 90: "L", 120: "K", 150: "E", 170: "U", 180: "H"}
    assert "S silent 2" in " ".join(page.locator("#states").inner_text().split())
    pretended.order("0 silent", "3 up")
    expect(it.square("s-0")).to_have_text("S")
    expect(it.square("s-3")).to_have_text("")
    expect(page.locator("#said")).to_have_text("s-0: silent; s-3: fine")
    assert_quiet(it)


@pytest.mark.full
def test_search_and_filter(bed, pretended):
    it, page = opened(bed)
    shown = page.locator("#squares a:visible")
    page.get_by_label("Search by name or group").fill("LIBRARY")
    expect(shown).to_have_count(25)
    expect(page.locator("#worst li")).to_have_count(2)
    page.locator("#states button", has_text="silent").click()
    expect(shown).to_have_count(2)
    page.get_by_label("Search by name or group").fill("s-17")
    expect(shown).to_have_count(1)
    page.get_by_label("Search by name or group").fill("none such")
    expect(page.locator("#none")).to_be_visible()
    assert_quiet(it)


def test_keyboard(bed, pretended):
    """Without a mouse: to the squares, among them, into a sensor, and back to the same square."""
    it, page = opened(bed)
    focused = "document.activeElement.getAttribute('href') || document.activeElement.id"
    stops = []
    while "#squares" not in stops and len(stops) < 60:
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.closest('#squares') ? '#squares' : " + focused))
    assert {"#", "search", "by-group", "by-place", "#sensor=s-170", "#squares"} <= set(stops), stops
    assert page.evaluate(focused) == "#sensor=s-0"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    expect(page.locator("#tip")).to_contain_text("s-0 · library · fine")
    for keys, name in (("ArrowRight " * 3, "s-3"), ("ArrowDown", "s-28"), ("ArrowUp", "s-3"), ("ArrowLeft", "s-2"),
                       ("End", "s-199"), ("Home", "s-0"), ("ArrowRight " * 3, "s-3")):
        for key in keys.split():
            page.keyboard.press(key)
        assert page.evaluate(focused) == f"#sensor={name}", keys
    page.keyboard.press("Enter")
    expect(page.locator("#sensor h2").first).to_have_text("Ss-3")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "#"
    page.keyboard.press("Escape")
    expect(page.locator("#overview")).to_be_visible()
    assert page.evaluate(focused) == "#sensor=s-3"
    page.go_back()
    expect(page.locator("#sensor h2").first).to_have_text("Ss-3")
    page.go_back()
    expect(page.locator("#overview")).to_be_visible()
    assert_quiet(it)


@pytest.mark.full
def test_floor_plan(bed, pretended):
    it, page = opened(bed)
    page.get_by_role("button", name="Floor plan").click()
    expect(page.locator(".floor")).to_have_count(3)
    expect(page.locator("#squares a")).to_have_count(200)
    expect(page.get_by_role("group", name="Without a place").locator("a")).to_have_count(4)
    boxes = {n: it.square(f"s-{n}").bounding_box() for n in (0, 4, 20)}
    assert boxes[4]["x"] > boxes[0]["x"] and boxes[20]["y"] < boxes[0]["y"], "north is up, east is right"
    it.square("s-0").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.sensor") == "s-1"
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.sensor") == "s-6"
    page.keyboard.press("Enter")
    expect(page.locator("#sensor .flow")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".floor")).to_have_count(3)
    assert_quiet(it)


@pytest.mark.full
def test_one_sensor(bed, pretended):
    """The flow has each number of the ledger as text."""
    it, page = opened(bed, "#sensor=s-90")
    expect(page.locator("#sensor .state")).to_contain_text("loses")
    answer = page.evaluate("fetch('/api/sensor/s-90.json').then(a => a.json())")
    texts = page.locator("#sensor .flow").get_attribute("aria-label")
    for name in ("seen", "filtered", "captured", "exported", "lost on the way", "in flight", "written"):
        assert re.search(rf"\b{name} [\d,]+", texts), texts
    assert answer["sensor"]["name"] == "s-90" and answer["sensor"]["trouble"] == "losing"
    expect(page.locator("#sensor .channels tbody tr")).to_have_count(13)
    assert "ahead of the collector's" in page.locator("#sensor .facts").first.inner_text()
    page.evaluate("location.hash = 'sensor=none-such'")
    expect(page.locator("#sensor")).to_contain_text("knows no sensor of this name")
    assert_quiet(it)


def test_hostile_texts(bed, pretended):
    """What a sensor says is shown as text, and nothing of it is run, loaded, or turned around."""
    it, page = opened(bed, "#sensor=s-5")
    expect(page.locator("#sensor .facts").first).to_contain_text("<img src=x onerror=alert(1)>")
    expect(page.locator("#sensor h3").first).to_contain_text("<b>")
    assert page.locator("img, iframe, #sensor b").count() == 0
    assert page.evaluate("getComputedStyle(document.querySelector('.facts dd')).unicodeBidi") == "isolate"
    assert_quiet(it)


def test_channels(bed, pretended):
    it, page = opened(bed)
    cells = page.locator("#heat tbody tr")
    expect(cells).to_have_count(13)
    cell = cells.nth(0).locator("td").nth(59)
    cell.hover()
    said = page.locator("#cell")
    expect(said).to_contain_text("Channel 1 (2412 MHz), ")
    assert re.search(r"listened to for \d+\.\d % of the time, [\d,]+ frames", said.inner_text()), said.inner_text()
    cell.focus()
    page.keyboard.press("ArrowDown")
    expect(said).to_contain_text("Channel 2 (2417 MHz)")
    page.keyboard.press("ArrowLeft")
    assert "no state" in said.inner_text() or "listened" in said.inner_text()
    page.get_by_label("Group", exact=True).select_option("physics")
    with page.expect_response("**/api/channels.json?group=physics"):
        pass
    expect(cells).to_have_count(13)
    assert_quiet(it)


@pytest.mark.full
def test_away(bed, pretended):
    """The web server and the collector may go: the last state stays, and the page says since when."""
    it, page = opened(bed)
    away = page.get_by_role("alert")
    pretended.program.send_signal(19)  # SIGSTOP
    expect(away).to_contain_text(re.compile(r"has not changed|No state since \d\d:\d\d:\d\d"))
    pretended.program.send_signal(18)
    expect(away).to_be_hidden()
    pretended.web.kill()
    expect(away).to_contain_text(re.compile(r"saluki-web does not answer. No state since \d\d:\d\d:\d\d; the last one"))
    expect(page.locator("#squares a")).to_have_count(200)
    server.start(bed)
    expect(away).to_be_hidden()
    assert it.elsewhere == []


@pytest.mark.full
def test_polls(bed, pretended):
    """Every 2 s, with the tag of the last answer; not while the page is hidden."""
    it, page = opened(bed)
    with page.expect_request("**/api/fleet.json") as asked:
        pass
    assert re.fullmatch(r'"[0-9a-f]+-[0-9a-f]+"', asked.value.headers["if-none-match"])
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    page.wait_for_timeout(2500)  # one that has begun
    asked = []
    page.on("request", lambda r: asked.append(r.url))
    page.wait_for_timeout(3000)
    assert asked == []
    with page.expect_request("**/api/fleet.json"):
        page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    assert_quiet(it)


@pytest.mark.full
def test_locale(bed, pretended):
    it, page = opened(bed, locale="de-DE", timezone_id="Asia/Tokyo")
    assert re.fullmatch(r"\d{3}\.\d{3}", page.locator("#tiles dd span").nth(1).inner_text())
    at = page.locator("#at time")
    hour = int(at.inner_text().split(":")[0])
    assert hour == (int(at.get_attribute("title").split()[1].split(":")[0]) + 9) % 24
    assert_quiet(it)


@pytest.mark.full
@pytest.mark.parametrize("rest", ["", "#plan", "#sensor=s-90"])
def test_telephone(bed, pretended, rest):
    """360 pixels wide: nothing needs sideways scrolling, and what is touched is large enough."""
    it, page = opened(bed, rest, viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True)
    expect(page.locator(".square:visible, .flow").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("Math.max(...[...document.querySelectorAll('.flow text')].map(t => "
                         "t.getBoundingClientRect().right), 0)") <= 350
    sizes = page.evaluate("[...document.querySelectorAll('.square, button, input')].map(e => e.getBoundingClientRect())"
                          ".filter(b => b.width).map(b => Math.min(b.width, b.height))")
    assert not sizes or min(sizes) >= 24
    assert_quiet(it)


CONTRAST = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const rgb = text => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data]; };
    const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const light = c => { const l = c.slice(0, 3).map(linear);
        return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2]; };
    const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
        if (c[3]) return c; } return [255, 255, 255, 255]; };
    const found = [];
    for (const e of document.querySelectorAll('body *')) {
        const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
        if (!own || !e.checkVisibility() || e.matches('.unseen, option')) continue;
        const style = getComputedStyle(e);
        const ink = e.namespaceURI.endsWith('svg') ? style.fill : style.color;
        const pair = [light(rgb(ink)), light(ground(e))].sort((a, b) => b - a);
        found.push([(pair[0] + 0.05) / (pair[1] + 0.05), e.className.baseVal ?? e.className, e.textContent]);
    }
    return found.sort((a, b) => a[0] - b[0]);
}"""


@pytest.mark.full
@pytest.mark.parametrize("rest", ["", "#sensor=s-90"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_contrast(bed, pretended, scheme, rest):
    """All texts have the ratio of WCAG 2.2 AA, 4.5, to what is behind them."""
    it, page = opened(bed, rest, color_scheme=scheme, reduced_motion="reduce")
    expect(page.locator(".square:visible, .flow").first).to_be_visible()
    found = page.evaluate(CONTRAST)
    assert len(found) > 40 and found[0][0] >= 4.5, found[:5]
    assert_quiet(it)


def test_a_collector_without_sensors(bed):
    """The page is there before the collector is, and when no sensor is listed."""
    server.start(bed)
    it = Page(bed, ADDRESS)
    page = it.open()
    expect(page.get_by_role("alert")).to_contain_text("is saluki-collector running on this machine?")
    Pretended(bed, 0)
    expect(page.locator("#none")).to_have_text("The sensors file lists no sensor.")
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator("#tiles")).to_contain_text("none is listed")


def test_many(bed):
    """10,000 squares; a change touches one of them."""
    board = Pretended(bed, 10000)
    server.start(bed)
    it = Page(bed, ADDRESS)
    page = it.open()
    expect(page.locator("#squares a")).to_have_count(10000)
    page.evaluate("""() => { window.changed = new Set();
        new MutationObserver(list => list.forEach(m => window.changed.add(m.target.getAttribute?.('href'))))
            .observe(document.querySelector('#squares'), { attributes: true, subtree: true }); }""")
    board.order("7777 silent")
    expect(it.square("s-7777")).to_have_text("S")
    assert [c for c in page.evaluate("[...window.changed]") if c] == ["#sensor=s-7777"]
    size = len(json.dumps(page.evaluate("fetch('/api/fleet.json').then(a => a.json()).then(a => a.sensors)"),
                          separators=(",", ":"))) / 10000
    assert size < 100, "bytes for a sensor"
    assert_quiet(it)
