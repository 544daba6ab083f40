// SPDX-License-Identifier: GPL-2.0
/* The page: which view is shown, and asking for its data again while the page is visible. All texts that come from
 * sensors are set as textContent. */
"use strict";

const EVERY_MS = 2000;
const CHANNELS_EVERY_MS = 10000;
const PATIENCE_MS = 8000;
const OLD_S = 6; // a state that does not change

const net = { timer: 0, asking: false, answered: 0, changed: 0, wrong: "" };

/* ---- views: by the address's part after # ------------------------------------------------------------------------ */

function route() {
	let hash = "";
	try {
		hash = decodeURIComponent(location.hash.slice(1));
	} catch {
		hash = ""; // not a name
	}
	const name = hash.startsWith("sensor=") ? hash.slice(7) : "";
	const from = shown.name, view = shown.view;
	shown.name = name;
	if (!name)
		shown.view = hash === "plan" ? "plan" : "";
	$("tip").hidden = true;
	$("overview").hidden = !!name || !fleet.state;
	$("sensor").hidden = !name;
	if (name) {
		if (from !== name)
			$("sensor").replaceChildren();
		$("sensor").focus();
	} else if (fleet.state) {
		if (view !== shown.view)
			layOut();
		if (from && fleet.squares.has(from)) {
			setCurrent(from);
			fleet.squares.get(from).focus();
		}
	}
	scrollTo(0, name ? 0 : shown.scroll || 0);
	askSoon(0);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

class Wrong extends Error {}

/* Returns the answer; null: it is the same as before. */
async function ask(path, tag) {
	const headers = tag ? { "If-None-Match": tag } : {};
	const answer = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
	if (answer.status === 304)
		return null;
	if (answer.status === 503)
		throw new Wrong((await answer.text()).replace(/^503: /, "").trim());
	if (!answer.ok)
		throw new Wrong(`${path}: HTTP status ${answer.status}`);
	return [await answer.json(), answer.headers.get("ETag")];
}

async function askFleet() {
	const got = await ask("/api/fleet.json", fleet.tag);
	net.answered = Date.now();
	if (!got)
		return;
	net.changed = Date.now();
	fleet.tag = got[1];
	take(got[0]);
	$("overview").hidden = !!shown.name;
}

async function askSensor() {
	const { name } = shown;
	if (!fleet.byName.has(name)) {
		showNoSensor(name);
		return;
	}
	const got = await ask(`/api/sensor/${encodeURIComponent(name)}.json`, "");
	if (shown.name === name)
		showSensor(got[0]);
}

async function askChannels() {
	const group = $("group").value;
	const got = await ask(`/api/channels.json${group ? `?group=${encodeURIComponent(group)}` : ""}`, "");
	const before = channels.state;
	channels.at = Date.now();
	[channels.state] = got;
	showChannels(before);
}

/* Says what does not answer, and since when; the last state stays. */
function showAway() {
	const old = (Date.now() - net.changed) / 1000;
	let text = "";
	if (net.wrong)
		text = `${net.wrong}.${net.changed ? ` No state since ${timeText(net.changed / 1000)}; the last one is shown.` : ""}`;
	else if (net.changed && old > OLD_S)
		text = `The collector's state has not changed for ${duration(old)}.`;
	setText($("away"), text);
	$("away").hidden = !text;
	document.body.classList.toggle("stale", !!text);
}

async function turn() {
	if (net.asking || document.hidden)
		return;
	net.asking = true;
	try {
		await askFleet();
		if (shown.name)
			await askSensor();
		else if (Date.now() - channels.at > CHANNELS_EVERY_MS)
			await askChannels();
		net.wrong = "";
	} catch (e) {
		net.wrong = e instanceof Wrong ? e.message : "saluki-web does not answer";
		if (!(e instanceof Wrong || e instanceof TypeError || e.name === "TimeoutError" || e.name === "AbortError"))
			throw e;
	} finally {
		net.asking = false;
		showAway();
		askSoon(EVERY_MS);
	}
}

function askSoon(ms) {
	clearTimeout(net.timer);
	net.timer = setTimeout(turn, ms);
}

/* ---- begin ------------------------------------------------------------------------------------------------------- */

function onKey(event) {
	if (event.key === "Escape" && shown.name)
		location.hash = shown.view === "plan" ? "plan" : "";
}

function begin() {
	showScale();
	$("search").addEventListener("input", event => {
		shown.words = event.target.value.trim().toLowerCase();
		refilter();
	});
	$("more").addEventListener("click", () => {
		shown.all = !shown.all;
		showAttention(troubled());
	});
	$("by-group").addEventListener("click", () => { location.hash = ""; });
	$("by-place").addEventListener("click", () => { location.hash = "plan"; });
	$("squares").addEventListener("keydown", onSquareKey);
	for (const type of ["mouseover", "focusin"])
		$("squares").addEventListener(type, showTip);
	for (const type of ["mouseleave", "focusout"])
		$("squares").addEventListener(type, () => { $("tip").hidden = true; });
	$("heat").addEventListener("keydown", onCellKey);
	$("heat").addEventListener("mouseover", onCell);
	$("heat").addEventListener("focusin", onCell);
	$("group").addEventListener("change", () => {
		channels.at = 0;
		askSoon(0);
	});
	addEventListener("scroll", () => {
		if (!shown.name)
			shown.scroll = scrollY;
	}, { passive: true });
	addEventListener("hashchange", route);
	addEventListener("keydown", onKey);
	document.addEventListener("visibilitychange", () => askSoon(0));
	route();
}

begin();
