# SPDX-License-Identifier: GPL-2.0
"""The page with 10,000 sensors in Debian's Chromium: time until all of them are drawn, and to take another state."""
import contextlib
import statistics
import types

from bench.export import SENSORS
from netns import testbed
from web import server
from web.browser import Page
from web.pretended import Pretended

LOADS = 7
# From the navigation's begin to the frame after the one in which all squares are there.
DRAWN = """const watch = () => document.querySelectorAll('#squares a').length >= %d
    ? requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn = performance.now(); }))
    : requestAnimationFrame(watch);
requestAnimationFrame(watch);
window.longest = 0;
new PerformanceObserver(list => list.getEntries().forEach(e => { if (window.drawn && e.startTime > window.drawn)
    window.longest = Math.max(window.longest, e.duration); })).observe({ type: 'longtask' });
"""


def load(it):
    """Milliseconds until all is drawn, and of the longest task in three later polls."""
    it.open()
    it.page.wait_for_function("() => window.drawn")
    drawn = it.page.evaluate("window.drawn")
    for _ in range(3):
        with it.page.expect_response("**/api/fleet.json"):
            pass
    return drawn, it.page.evaluate("window.longest")


def measure(directory, say):
    with contextlib.ExitStack() as stack:
        ns = testbed.Namespace()
        stack.callback(ns.close)
        bed = types.SimpleNamespace(ns=ns, stack=stack, tmp_path=directory)
        Pretended(bed, SENSORS)
        server.start(bed)
        it = Page(bed, f"http://{server.ADDRESS}")
        it.page.add_init_script(DRAWN % SENSORS)
        loads = [load(it) for _ in range(LOADS)]
        assert not it.said, it.said
    drawn, longest = (statistics.median(column) for column in zip(*loads))
    say(f"    {SENSORS:,} squares drawn after {drawn:.0f} ms; longest task of a poll {longest:.0f} ms")
    return {"page_10000_ms": drawn, "page_10000_poll_ms": longest}
