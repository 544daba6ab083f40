// SPDX-License-Identifier: GPL-2.0
/* The fleet. In: /api/fleet.json. Out: the tiles, and what needs attention, the worst first. */
"use strict";

const FIRST_SHOWN = 12;
const REASONS = {
	unlisted: "its key is not in the sensors file",
	unproved: "its preshared key is another one",
	other_version: "it speaks another version of the protocol; upgrade it",
	twice: "another machine uses its key; give each machine its own",
	wrong_key: "it probably has another collector's key",
};

const fleet = { state: null, tag: "", sensors: [], byName: new Map(), notes: new Map(), squares: new Map() };
const shown = { view: "", name: "", all: false, states: new Set(), words: "", current: null };

/* ---- the state --------------------------------------------------------------------------------------------------- */

const ageOf = s => duration(fleet.state.time - s);

/* What is wrong with a sensor, as texts and times. */
function trouble(s) {
	const note = fleet.notes.get(s.name) || {};
	switch (s.word) {
	case "silent": return ["silent since ", time(s.heard), `, ${ageOf(s.heard)}`];
	case "ended": return ["ended in order at ", time(s.heard), `, ${ageOf(s.heard)} ago`];
	case "never": return s.heard ? ["not heard since the collector's start; last at ", time(s.heard)] : ["never heard"];
	case "awaited": return ["not heard yet; the collector has just begun"];
	case "held": return [`its frames wait for ${fleet.state.sink ? "saluki-kafka" : "disk space"}`];
	case "losing": return [`loses ${number(s.lost_rate)} frames/s`];
	case "unbalanced": return [`its ledger is off by ${framesOf(Math.abs(note.balance || 0))}`];
	case "shared_key": return ["two machines use its key; give each its own"];
	case "link": return [el("bdi", null, note.interface || "an interface"), `: ${note.link || "down"}`];
	case "deaf": return [el("bdi", null, note.interface || "a radio"), " hears no frames",
		...note.since ? [" since ", time(note.since), `, ${ageOf(note.since)}`] : []];
	case "unlisted": return ["not in the sensors file any more"];
	default: return [`fine, ${number(s.seen_rate)} frames/s`];
	}
}

const plain = parts => parts.map(p => typeof p === "string" ? p : p.textContent).join("");

/* Rows of the API as objects; see web/api.h. */
function sensorsOf(state) {
	let group = "";
	return state.sensors.map(row => {
		const s = {};
		state.fields.forEach((field, i) => { s[field] = row[i]; });
		group = s.group = s.group === 0 ? group : s.group;
		s.word = s.presence < 0 ? "unlisted" : state.troubles[s.trouble];
		return s;
	});
}

function announce(before, now) {
	const texts = [];
	for (const s of now) {
		const was = before.get(s.name);
		if (was && was.word !== s.word)
			texts.push(`${s.name}: ${TROUBLES[s.word][2]}`);
	}
	const more = texts.length - 3;
	if (texts.length)
		$("said").textContent = texts.slice(0, 3).join("; ") + (more > 0 ? `; and ${number(more)} more` : "");
}

function take(state) {
	const sensors = sensorsOf(state);
	const same = fleet.state && sensors.length === fleet.sensors.length && sensors.every((s, i) => s.name === fleet.sensors[i].name &&
		s.group === fleet.sensors[i].group && s.x === fleet.sensors[i].x && s.y === fleet.sensors[i].y &&
		s.floor === fleet.sensors[i].floor);
	announce(fleet.byName, sensors);
	fleet.state = state;
	fleet.sensors = sensors;
	fleet.byName = new Map(sensors.map(s => [s.name, s]));
	fleet.notes = new Map(state.notes.map(n => [n.name, n]));
	const worst = troubled();
	document.title = worst.length ? `(${worst.length}) Saluki` : "Saluki";
	setText($("source"), state.sink ? `puts into ${state.sink.topic || "Kafka"}` : state.file ? `writes to ${state.file}` : "");
	$("at").replaceChildren("state of ", time(state.time));
	showTiles();
	showAttention(worst);
	if (!same)
		layOut();
	else
		paint();
	showStates();
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

function diskLeft(state) {
	const left = state.disk_free - state.keep_free;
	if (state.holding || left <= 0)
		return ["full; frames wait", "bad"];
	if (state.fill_rate === null)
		return ["days left: known in a minute", ""];
	const seconds = left / state.fill_rate;
	if (state.fill_rate <= 0 || seconds > 366 * DAY_S)
		return ["lasts more than a year", "fine"];
	return [`${duration(seconds)} left`, seconds < DAY_S ? "bad" : seconds < 7 * DAY_S ? "warn" : "fine"];
}

function newest(state) {
	if (state.newest_age === null)
		return ["none yet", "", ""];
	const age = state.newest_age;
	return [age < 120 ? `${tenths.format(age)} s old` : `${duration(age)} old`, "", age > 60 ? "warn" : ""];
}

/* The tile of saluki-kafka at the collector's --sink or --source. */
function kafka(state) {
	const { sink, source } = state;
	const k = sink || source;
	const away = k.connected ? k.why : "no saluki-kafka is connected" + (k.why && `; the last one said: ${k.why}`);
	const stopped = k.stopped === null ? 0 : state.time - k.stopped;
	const colour = stopped > 60 ? "bad" : away || stopped > 2 ? "warn" : "fine";
	const value = sink ? `${number(sink.waiting)} waiting` : `lag ${number(source.lag)}`;
	const rest = sink ? `${number(sink.delivered)} delivered, ${number(sink.refused)} refused` : `${number(source.combos)} combos taken`;
	const note = stopped > 2 ? `${away || "no progress"}, for ${duration(stopped)}` : away || rest;
	return ["messages, Kafka", value, note, colour];
}

/* Label, value, note, colour of the value. */
function tiles(state) {
	const missing = state.listed - state.up;
	const awaited = fleet.sensors.some(s => s.word === "awaited");
	const [disk, diskColour] = diskLeft(state);
	const [age, , ageColour] = newest(state);
	const used = state.disk_size - state.disk_free;
	const rows = [
		["sensors heard", `${number(state.up)} / ${number(state.listed)}`,
			missing ? `${number(missing)} not heard` : state.listed ? "all of them" : "none is listed",
			missing ? awaited ? "" : "bad" : state.listed ? "fine" : ""],
		["frames/s", number(state.seen_rate), `${number(state.seen)} in all`, ""],
		["lost for good", share(state.lost, state.seen), state.lost_rate ? `now ${number(state.lost_rate)} frames/s`
			: `${framesOf(state.lost)}, none now`, state.lost_rate ? "warn" : "fine"],
		["newest frame", age, "by the collector's clock", ageColour],
		["ledger", state.unbalanced ? "unbalanced" : "balances",
			state.unbalanced ? `at ${some(state.unbalanced, "sensor", "sensors")}` : "all frames accounted for",
			state.unbalanced ? "bad" : "fine"],
		["disk", state.disk_size ? `${share(used, state.disk_size)} used` : "not known",
			state.disk_size ? disk : "", state.disk_size ? diskColour : ""],
	];
	if (state.sink)
		rows[rows.length - 1] = kafka(state); // it writes to no disk
	else if (state.source)
		rows.push(kafka(state));
	return rows;
}

function showTiles() {
	const list = $("tiles");
	const rows = tiles(fleet.state);
	if (list.children.length !== rows.length)
		list.replaceChildren(...rows.map(() => el("div", null, el("dt"), el("dd", null, el("span"), el("small")))));
	rows.forEach(([label, value, note, colour], i) => {
		const [dt, dd] = list.children[i].children;
		setText(dt, label);
		setText(dd.firstChild, value);
		setText(dd.lastChild, note);
		dd.firstChild.className = colour;
	});
}

/* ---- what needs attention ---------------------------------------------------------------------------------------- */

const needsAttention = s => s.word !== "fine" && s.word !== "unlisted";

/* The worst first, then by the longest time, then by the loss. */
function troubled() {
	return fleet.sensors.filter(needsAttention).sort((a, b) => b.trouble - a.trouble || a.heard - b.heard ||
		b.lost_rate - a.lost_rate);
}

function details(s) {
	const parts = [];
	if (s.group)
		parts.push(s.group);
	if (s.presence === 1)
		parts.push(`${number(s.seen_rate)} frames/s`);
	if (s.seen)
		parts.push(`${share(s.lost, s.seen)} lost`);
	if (s.store > 50)
		parts.push(`store ${s.store} % full`);
	return parts.join(" · ");
}

function worstItem(s) {
	const link = el("a", { href: `#sensor=${encodeURIComponent(s.name)}` }, s.name);
	return el("li", null, badge(s.word), el("div", null, link, " ", ...trouble(s), el("small", null, details(s))));
}

/* Replaces items one for one, and keeps the focus on the same link. */
function setItems(list, items) {
	const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
	items.forEach((item, i) => {
		const old = list.children[i];
		if (!old)
			list.append(item);
		else if (!old.isEqualNode(item))
			old.replaceWith(item);
	});
	while (list.children.length > items.length)
		list.lastChild.remove();
	if (focused && !list.contains(document.activeElement))
		list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
}

function refusedItem(r) {
	const text = el("div", null, el("b", null, r.name || r.address || "unknown"),
		` refused: ${REASONS[r.reason] || r.reason}`);
	const from = `${r.name ? `from ${r.address}, ` : ""}${some(r.count, "time", "times")}, last at `;
	text.append(el("small", null, from, time(r.last)));
	if (r.reason === "unlisted" && r.key)
		text.append(el("small", null, "to let it in: "), el("code", null, `saluki-collector add --config /etc/saluki/collector.conf NAME ${r.key}`));
	else if (r.key)
		text.append(el("small", null, `key ${r.key}`));
	return el("li", null, el("span", { className: "badge is-warn", "aria-hidden": "true" }, "!"), text);
}

function showAttention(worst) {
	const refused = [...fleet.state.refused].sort((a, b) => b.last - a.last);
	const matching = worst.filter(matches);
	const some_ = shown.all ? matching : matching.slice(0, FIRST_SHOWN);
	setText($("attention-count"), worst.length ? number(worst.length) : "");
	$("calm").hidden = worst.length > 0;
	setItems($("worst"), some_.map(worstItem));
	$("more").hidden = matching.length <= FIRST_SHOWN;
	setText($("more"), shown.all ? "Show the worst only" : `Show all ${number(matching.length)}`);
	$("refused").hidden = !refused.length;
	setText($("refused-count"), number(refused.length));
	setItems($("refusals"), refused.map(refusedItem));
}
