// SPDX-License-Identifier: GPL-2.0
/* The page. In: /api/fleet.json, /api/sensor/NAME.json and /api/channels.json, asked again while the page is visible.
 * Out: the fleet, or one sensor (#sensor=NAME). All texts that come from sensors are set as textContent. */
"use strict";

const EVERY_MS = 2000;
const CHANNELS_EVERY_MS = 10000;
const PATIENCE_MS = 8000;
const OLD_S = 6; // a state that does not change
const FIRST_SHOWN = 12;
const NAMED_MOST = 60; // squares with their names
const MORE = 500;
const MANY = 2000;
const SIDE_MOST = 80; // groups of so many stand side by side
const DAY_S = 86400;

/* By the word of the API: letter, colour, label. The order is that of the legend. */
const TROUBLES = {
	fine: ["", "fine", "fine"],
	silent: ["S", "bad", "silent"],
	never: ["N", "bad", "never heard"],
	unbalanced: ["U", "bad", "unbalanced"],
	held: ["H", "bad", "held, disk full"],
	losing: ["L", "warn", "losing frames"],
	deaf: ["D", "warn", "deaf"],
	link: ["C", "warn", "link down"],
	shared_key: ["K", "warn", "shared key"],
	ended: ["E", "gone", "ended"],
	unlisted: ["?", "gone", "not listed"],
};
const REASONS = {
	unlisted: "its key is not in the sensors file",
	unproved: "its preshared key is another one",
	other_version: "it speaks another version of the protocol; upgrade it",
	twice: "another machine uses its key; give each machine its own",
	wrong_key: "it probably has another collector's key",
};
/* Thousandths that a class is below, and its label. */
const SHARES = [[1, "0"], [50, "under 5 %"], [100, "5–10 %"], [250, "10–25 %"], [500, "25–50 %"], [750, "50–75 %"],
	[Infinity, "over 75 %"]];

const $ = id => document.getElementById(id);
const fleet = { state: null, tag: "", sensors: [], byName: new Map(), notes: new Map(), squares: new Map() };
const shown = { view: "", name: "", all: false, states: new Set(), words: "", current: null };
const channels = { tag: "", state: null, at: 0, cells: [], focus: [0, 59] };
const net = { timer: 0, asking: false, answered: 0, changed: 0, wrong: "" };

/* ---- elements ---------------------------------------------------------------------------------------------------- */

function el(tag, props, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(props || {}))
		if (name in node)
			node[name] = value;
		else
			node.setAttribute(name, value);
	node.append(...children);
	return node;
}

function draw(tag, attributes, text) {
	const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [name, value] of Object.entries(attributes))
		node.setAttribute(name, value);
	if (text !== undefined)
		node.textContent = text;
	return node;
}

/* Changes nothing if it is the same, so that selections and focus stay. */
function setText(node, text) {
	if (node.textContent !== text)
		node.textContent = text;
}

function badge(word) {
	const [letter, colour] = TROUBLES[word];
	return el("span", { className: `badge is-${colour}`, ariaHidden: "true" }, letter);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const clockOnly = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const minuteOnly = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const dated = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

const number = n => whole.format(n);
const some = (n, one, more) => `${number(n)} ${n === 1 ? one : more}`;
const framesOf = n => some(n, "frame", "frames");

function share(part, all) {
	const percent = all ? 100 * part / all : 0;
	const digits = percent === 0 || percent >= 10 ? 0 : percent >= 0.1 ? 2 : 4;
	return `${percent.toLocaleString(undefined, { maximumFractionDigits: digits })} %`;
}

function bytes(n) {
	const units = ["B", "kB", "MB", "GB", "TB", "PB"];
	let unit = 0;
	for (; n >= 1000 && unit < units.length - 1; unit++)
		n /= 1000;
	return `${unit && n < 100 ? tenths.format(n) : number(n)} ${units[unit]}`;
}

function duration(s) {
	if (s < 120)
		return `${number(Math.max(0, s))} s`;
	if (s < 7200)
		return `${number(s / 60)} min`;
	return s < 2 * DAY_S ? `${number(s / 3600)} h` : `${number(s / DAY_S)} days`;
}

function timeText(s) {
	return (Math.abs(Date.now() / 1000 - s) < DAY_S / 2 ? clockOnly : dated).format(s * 1000);
}

/* A time of the browser's zone; UTC when pointed at. */
function time(s) {
	const iso = new Date(s * 1000).toISOString().replace(/\.\d+/, "");
	return el("time", { dateTime: iso, title: `${iso.replace("T", " ").replace("Z", "")} UTC` }, timeText(s));
}

const ageOf = s => duration(fleet.state.time - s);

/* What is wrong with a sensor, as texts and times. */
function trouble(s) {
	const note = fleet.notes.get(s.name) || {};
	switch (s.word) {
	case "silent": return ["silent since ", time(s.heard), `, ${ageOf(s.heard)}`];
	case "ended": return ["ended in order at ", time(s.heard), `, ${ageOf(s.heard)} ago`];
	case "never": return s.heard ? ["not heard since the collector's start; last at ", time(s.heard)] : ["never heard"];
	case "held": return ["its frames wait for disk space"];
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

/* ---- the state --------------------------------------------------------------------------------------------------- */

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
	const same = sensors.length === fleet.sensors.length && sensors.every((s, i) => s.name === fleet.sensors[i].name &&
		s.group === fleet.sensors[i].group && s.x === fleet.sensors[i].x && s.y === fleet.sensors[i].y &&
		s.floor === fleet.sensors[i].floor);
	announce(fleet.byName, sensors);
	fleet.state = state;
	fleet.sensors = sensors;
	fleet.byName = new Map(sensors.map(s => [s.name, s]));
	fleet.notes = new Map(state.notes.map(n => [n.name, n]));
	const worst = troubled();
	document.title = worst.length ? `(${worst.length}) Saluki` : "Saluki";
	setText($("source"), state.file ? `writes to ${state.file}` : "");
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

/* Label, value, note, colours of both. */
function tiles(state) {
	const missing = state.listed - state.up;
	const [disk, diskColour] = diskLeft(state);
	const [age, , ageColour] = newest(state);
	const used = state.disk_size - state.disk_free;
	return [
		["sensors heard", `${number(state.up)} / ${number(state.listed)}`,
			missing ? `${number(missing)} not heard` : "all of them", missing ? "bad" : "fine"],
		["frames/s", number(state.seen_rate), `${number(state.seen)} in all`, ""],
		["lost for good", share(state.lost, state.seen), state.lost_rate ? `now ${number(state.lost_rate)} frames/s`
			: `${framesOf(state.lost)}, none now`, state.lost_rate ? "warn" : "fine"],
		["newest frame", age, "by the collector's clock", ageColour],
		["ledger", state.unbalanced ? "unbalanced" : "balances",
			state.unbalanced ? `at ${some(state.unbalanced, "sensor", "sensors")}` : "every frame is accounted for",
			state.unbalanced ? "bad" : "fine"],
		["disk", state.disk_size ? `${share(used, state.disk_size)} used` : "not known",
			state.disk_size ? disk : "", state.disk_size ? diskColour : ""],
	];
}

function showTiles() {
	const list = $("tiles");
	const rows = tiles(fleet.state);
	if (!list.firstChild)
		list.append(...rows.map(() => el("div", null, el("dt"), el("dd", null, el("span"), el("small")))));
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
	const link = el("a", { href: `#sensor=${s.name}` }, s.name);
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
		text.append(el("small", null, "to let it in: "), el("code", null, `saluki-collector add NAME ${r.key}`));
	else if (r.key)
		text.append(el("small", null, `key ${r.key}`));
	return el("li", null, el("span", { className: "badge is-warn", ariaHidden: "true" }, "!"), text);
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

/* ---- squares ----------------------------------------------------------------------------------------------------- */

const isPlaced = s => typeof s.x === "number" && typeof s.y === "number";

function matches(s) {
	return (!shown.states.size || shown.states.has(s.word)) &&
		(!shown.words || s.name.toLowerCase().includes(shown.words) || s.group.toLowerCase().includes(shown.words));
}

function square(s) {
	const a = document.createElement("a");
	a.href = `#sensor=${s.name}`;
	a.tabIndex = -1;
	a.sensor = s.name;
	fleet.squares.set(s.name, a);
	colour(a, s);
	return a;
}

function colour(a, s) {
	const [letter, kind, label] = TROUBLES[s.word];
	a.word = s.word;
	a.className = kind === "fine" ? "square" : `square is-${kind}`;
	a.textContent = letter;
	a.setAttribute("aria-label", `${s.name}, ${label}`);
}

/* Squares of a large fleet are smaller. */
function sizeClass() {
	const count = fleet.sensors.length;
	return count > MANY ? "many" : count > MORE ? "more" : "";
}

function groupsOf(sensors) {
	const groups = new Map();
	for (const s of sensors)
		if (groups.has(s.group))
			groups.get(s.group).push(s);
		else
			groups.set(s.group, [s]);
	return groups;
}

function groupNode(name, sensors, named) {
	const row = el("div", { className: "row" });
	for (const s of sensors)
		row.append(named ? el("span", { className: "plate" }, square(s), s.name) : square(s));
	const node = el("div", { className: "group", role: "group", ariaLabel: name || "Sensors without a group" }, row);
	if (name !== null)
		node.prepend(el("h3", null, `${name || "no group"} `, el("span", { className: "count" })));
	node.sensors = sensors.map(s => s.name);
	return node;
}

function layOutGroups(list) {
	const groups = groupsOf(fleet.sensors);
	const named = fleet.sensors.length <= NAMED_MOST;
	const one = groups.size === 1 && groups.has("");
	list.className = named ? "named" : sizeClass();
	if (list.className && Math.max(...[...groups.values()].map(g => g.length)) <= SIDE_MOST)
		list.className += " side";
	for (const [name, sensors] of groups)
		list.append(groupNode(one ? null : name, sensors, named));
}

/* A floor of the plan, in metres: north is up. */
function floorNode(name, sensors) {
	const xs = sensors.map(s => s.x), ys = sensors.map(s => s.y);
	const west = Math.min(...xs), south = Math.min(...ys);
	const width = Math.max(Math.max(...xs) - west, 1), height = Math.max(Math.max(...ys) - south, width / 8);
	const plan = el("div", { className: "floor" });
	plan.style.aspectRatio = `${width} / ${height}`;
	for (const s of sensors) {
		const a = square(s);
		a.style.left = `${100 * (s.x - west) / width}%`;
		a.style.bottom = `${100 * (s.y - south) / height}%`;
		plan.append(a);
	}
	const metres = 10 ** Math.floor(Math.log10(Math.max(width / 2, 1)));
	const ruler = el("div", { className: "ruler" }, el("span", null, `${metres} m`));
	ruler.style.width = `${Math.min(100 * metres / width, 100)}%`;
	const title = el("h3", null, `${name} `, el("span", { className: "count" }));
	const node = el("div", { role: "group", ariaLabel: name }, title, plan, ruler);
	node.sensors = sensors.map(s => s.name);
	return node;
}

function layOutPlan(list) {
	const placed = fleet.sensors.filter(isPlaced);
	const floors = [...new Set(placed.map(s => s.floor ?? 0))].sort((a, b) => a - b);
	const rest = fleet.sensors.filter(s => !isPlaced(s));
	list.className = sizeClass();
	for (const floor of floors)
		list.append(floorNode(`Floor ${floor}`, placed.filter(s => (s.floor ?? 0) === floor)));
	if (rest.length)
		list.append(groupNode("Without a place", rest, false));
}

/* Makes all squares anew. */
function layOut() {
	const list = $("squares");
	const plan = shown.view === "plan" && fleet.sensors.some(isPlaced);
	const part = document.createDocumentFragment();
	fleet.squares.clear();
	part.className = "";
	(plan ? layOutPlan : layOutGroups)(part);
	list.className = part.className;
	list.parentNode.parentNode.className = `columns ${part.className}`;
	list.replaceChildren(part);
	$("views").hidden = !fleet.sensors.some(isPlaced);
	$("by-group").setAttribute("aria-pressed", String(!plan));
	$("by-place").setAttribute("aria-pressed", String(plan));
	countGroups();
	filter();
}

/* Changes the squares of sensors whose state has changed. */
function paint() {
	let changed = false;
	for (const s of fleet.sensors) {
		const a = fleet.squares.get(s.name);
		if (a.word === s.word)
			continue;
		colour(a, s);
		changed = true;
	}
	if (!changed)
		return;
	countGroups();
	filter();
}

function countGroups() {
	for (const node of $("squares").children) {
		const fine = node.sensors.filter(name => fleet.byName.get(name).word === "fine").length;
		const all = node.sensors.length, count = node.querySelector(".count");
		if (count)
			setText(count, fine === all ? number(all) : `${number(fine)} of ${number(all)} fine`);
	}
}

function filter() {
	const all = !shown.words && !shown.states.size;
	let count = 0;
	for (const s of fleet.sensors) {
		const a = fleet.squares.get(s.name);
		const box = a.parentNode.className === "plate" ? a.parentNode : a;
		const hide = !all && !matches(s);
		if (box.hidden !== hide)
			box.hidden = hide;
		count += !hide;
	}
	for (const node of $("squares").children)
		node.hidden = !all && !node.sensors.some(name => matches(fleet.byName.get(name)));
	setText($("fleet-count"), all ? number(count) : `${number(count)} of ${number(fleet.sensors.length)}`);
	$("none").hidden = count > 0;
	keepCurrent();
}

/* One square is in the order of Tab; arrows go to the others. */
function keepCurrent() {
	const a = fleet.squares.get(shown.current);
	const usable = a && !isHidden(a) ? a : visibleSquares()[0];
	setCurrent(usable ? usable.sensor : null);
}

function setCurrent(name) {
	const before = fleet.squares.get(shown.current);
	const now = fleet.squares.get(name);
	if (before && before !== now)
		before.tabIndex = -1;
	if (now && now.tabIndex)
		now.tabIndex = 0;
	shown.current = name;
}

const isHidden = a => a.hidden || a.parentNode.hidden;
const visibleSquares = () => [...fleet.squares.values()].filter(a => !isHidden(a));

/* The nearest square above or below, or on the plan in any direction. */
function nearest(from, dx, dy) {
	const at = from.getBoundingClientRect();
	let best = null, least = Infinity;
	for (const a of visibleSquares()) {
		const to = a.getBoundingClientRect();
		const x = to.left - at.left, y = to.top - at.top;
		const ahead = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
		const distance = ahead + 3 * aside;
		if (ahead > 2 && distance < least && a !== from) {
			best = a;
			least = distance;
		}
	}
	return best;
}

function neighbour(from, key) {
	const squares = visibleSquares();
	const plan = from.parentNode.className === "floor";
	const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
	if (key === "Home")
		return squares[0];
	if (key === "End")
		return squares[squares.length - 1];
	if (step && !plan)
		return squares[squares.indexOf(from) + step];
	return nearest(from, step || 0, { ArrowUp: -1, ArrowDown: 1 }[key] || 0);
}

function onSquareKey(event) {
	const arrows = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];
	if (!event.target.sensor || !arrows.includes(event.key) || event.altKey || event.ctrlKey || event.metaKey)
		return;
	event.preventDefault();
	const to = neighbour(event.target, event.key);
	if (!to)
		return;
	setCurrent(to.sensor);
	to.focus();
}

function showTip(event) {
	const name = event.target.sensor;
	const s = name && fleet.byName.get(name);
	const tip = $("tip");
	tip.hidden = !s || (event.type === "focusin" && !event.target.matches(":focus-visible"));
	if (tip.hidden)
		return;
	tip.textContent = `${s.name}${s.group ? ` · ${s.group}` : ""} · ${plain(trouble(s))}`;
	const at = event.target.getBoundingClientRect(), box = tip.getBoundingClientRect();
	const below = at.bottom + 6 + box.height < innerHeight;
	tip.style.left = `${Math.max(4, Math.min(at.left, innerWidth - box.width - 4))}px`;
	tip.style.top = `${below ? at.bottom + 6 : at.top - box.height - 6}px`;
}

/* ---- states: a legend, and a filter ------------------------------------------------------------------------------ */

function stateButton(word) {
	const label = el("span", null, TROUBLES[word][2]);
	const button = el("button", { type: "button", ariaPressed: "false" }, badge(word), label, el("b"));
	button.word = word;
	button.addEventListener("click", () => {
		if (!shown.states.delete(word))
			shown.states.add(word);
		button.ariaPressed = String(shown.states.has(word));
		refilter();
	});
	return button;
}

function showStates() {
	const box = $("states");
	const counts = {};
	for (const s of fleet.sensors)
		counts[s.word] = (counts[s.word] || 0) + 1;
	if (!box.firstChild)
		box.append(...Object.keys(TROUBLES).map(stateButton));
	for (const button of box.children) {
		setText(button.lastChild, number(counts[button.word] || 0));
		button.classList.toggle("empty", !counts[button.word]);
		button.hidden = button.word === "unlisted" && !counts.unlisted && !shown.states.has("unlisted");
	}
}

function refilter() {
	filter();
	showAttention(troubled());
}

/* ---- channels and time ------------------------------------------------------------------------------------------- */

const shareClass = n => SHARES.findIndex(([below]) => n < below);

function cellText(row, column) {
	const c = channels.state.channels[row];
	const at = minuteOnly.format((channels.state.minute - 60 * (59 - column)) * 1000);
	const n = c.share[column];
	const width = c.width > 20 ? `, ${c.width} MHz wide` : "";
	const name = `Channel ${c.channel} (${c.mhz} MHz${width}), ${at}: `;
	if (n === null)
		return `${name}no state`;
	return `${name}listened to for ${tenths.format(n / 10)} % of the time, ${framesOf(c.frames[column])}`;
}

function heatTable() {
	const table = el("table", null, el("tbody"));
	channels.cells = channels.state.channels.map(c => {
		const row = el("tr", null, el("th", { scope: "row" }, c.channel));
		const cells = c.share.map(() => el("td", { tabIndex: -1 }));
		row.append(...cells);
		table.tBodies[0].append(row);
		return cells;
	});
	table.append(el("tfoot", null, el("tr", { ariaHidden: "true" }, el("th"),
		el("td", { colSpan: 30 }), el("td", { colSpan: 30 }))));
	return table;
}

function paintCells() {
	channels.state.channels.forEach((c, row) => c.share.forEach((n, column) => {
		const wanted = n === null ? "" : `h${shareClass(n)}`;
		const cell = channels.cells[row][column];
		if (cell.className !== wanted)
			cell.className = wanted;
	}));
	const ends = $("heat").querySelectorAll("tfoot td");
	setText(ends[0], minuteOnly.format((channels.state.minute - 59 * 60) * 1000));
	setText(ends[1], minuteOnly.format(channels.state.minute * 1000));
}

function showChannels(before) {
	const { state } = channels;
	const names = s => s && s.channels.map(c => `${c.channel}/${c.mhz}`).join();
	$("channels").hidden = !state.channels.length && !state.groups.length;
	if (names(before) !== names(state)) {
		channels.focus[0] = 0;
		$("heat").replaceChildren(state.channels.length ? heatTable() : "No channel was listened to.");
		if (state.channels.length)
			focusable(0, 59).tabIndex = 0;
	}
	if (state.channels.length)
		paintCells();
	const select = $("group");
	const wanted = ["", ...state.groups.filter(g => g !== "")];
	$("group-label").hidden = wanted.length < 2;
	if (wanted.length !== select.options.length || wanted.some((g, i) => select.options[i].value !== g)) {
		const chosen = select.value;
		select.replaceChildren(...wanted.map(g => el("option", { value: g }, g || "all")));
		select.value = wanted.includes(chosen) ? chosen : "";
	}
}

const focusable = (row, column) => channels.cells[row][column];

function goToCell(row, column, focus) {
	const [oldRow, oldColumn] = channels.focus;
	const cell = channels.cells[row]?.[column];
	if (!cell)
		return;
	if (channels.cells[oldRow]?.[oldColumn])
		focusable(oldRow, oldColumn).tabIndex = -1;
	channels.focus = [row, column];
	cell.tabIndex = 0;
	if (focus)
		cell.focus();
	setText($("cell"), cellText(row, column));
}

function cellOf(node) {
	const row = channels.cells.findIndex(cells => cells[0].parentNode === node.parentNode);
	return row < 0 ? null : [row, channels.cells[row].indexOf(node)];
}

function onCellKey(event) {
	const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
	const [dr, dc] = steps[event.key] || [0, 0];
	const at = (dr || dc) && cellOf(event.target);
	if (!at)
		return;
	event.preventDefault();
	goToCell(at[0] + dr, at[1] + dc, true);
}

function onCell(event) {
	const at = event.target.tagName === "TD" && cellOf(event.target);
	if (at && at[1] >= 0)
		goToCell(at[0], at[1], false);
}

function showScale() {
	$("scale").append(...SHARES.map(([, text], i) => el("li", null, el("i", { className: `h${i}` }), text)),
		el("li", null, el("i"), "no state"));
}

/* ---- one sensor: its ledger as a flow ---------------------------------------------------------------------------- */

/* Stages of the way, each with what leaves it: name, frames, whether that is a loss. */
function stages(s) {
	const waiting = s.captured - s.exported - s.dropped_send - s.dropped_shutdown - s.in_ring - s.vanished;
	return [
		["seen", s.seen, [["filtered", s.filtered, false], ["lost: ring full", s.ring_full, true],
			["lost: not copied by the kernel", s.copy_failed, true]]],
		["captured", s.captured, [["lost: not sent", s.dropped_send, true],
			["lost: sensor stopped", s.dropped_shutdown, true], ["lost with the sensor", s.vanished, true],
			["left for the next agent", s.in_ring, false], ["still in the sensor", waiting, false]]],
		["exported", s.exported, [["before the start", s.earlier, false], ["lost on the way", s.lost_missing, true],
			["lost on the disk", s.lost_disk, true], ["refused", s.lost_refused, true],
			["in flight", s.in_flight, false]]],
		["written", s.written, []],
	];
}

/* Frames of `seen`; 0: the share is not shown. */
function flowText(svg, x, y, name, frames, seen) {
	const text = draw("text", { x, y });
	const part = frames && seen && name !== "seen" ? `, ${share(frames, seen)}` : "";
	text.append(draw("tspan", { class: "amount" }, number(frames)), draw("tspan", {}, ` ${name}${part}`));
	svg.append(text);
}

/* A branch leaves the trunk downwards and bends to the right. */
function branch(svg, x, top, y, end, thickness, isLoss) {
	const bend = Math.max(thickness / 2, 8);
	svg.append(draw("path", { class: isLoss ? "lost" : "aside", "stroke-width": thickness,
		d: `M${x} ${top}V${y - bend}Q${x} ${y} ${x + bend} ${y}H${end}` }));
}

function flow(s, width) {
	const svg = draw("svg", { class: "flow", role: "img", "aria-label": flowLabel(s) });
	const all = Math.max(s.seen, 1), trunk = Math.min(width * 0.25, 240);
	const labels = trunk + Math.min(width * 0.1, 70), seen = width < 420 ? 0 : s.seen;
	const thick = frames => frames > 0 ? Math.max(1.5, trunk * frames / all) : 0;
	let y = 4;
	for (const [name, frames, out] of stages(s)) {
		const leaving = out.filter(([, n]) => n > 0);
		const w = Math.max(thick(frames), 2);
		flowText(svg, labels, y + 15, name, frames, seen);
		svg.append(draw("rect", { class: "trunk", x: 0, y, width: w, height: 20 }));
		const top = y + 20;
		y = top + 12;
		let right = w;
		const passed = Math.max(w - leaving.reduce((sum, [, n]) => sum + thick(n), 0), 1.5);
		for (const [what, n, isLoss] of leaving) {
			const t = thick(n), room = Math.max(t, 18);
			y += room / 2;
			branch(svg, right - t / 2, top, y, labels - 6, t, isLoss);
			flowText(svg, labels, y + 5, what, n, seen);
			right -= t;
			y += room / 2 + 2;
		}
		y += 10;
		if (name !== "written")
			svg.append(draw("rect", { class: "trunk", x: 0, y: top, width: passed, height: y - top }));
	}
	svg.setAttribute("height", y - 10);
	return svg;
}

function flowLabel(s) {
	return stages(s).map(([name, n, out]) => [`${name} ${number(n)}`, ...out.filter(([, m]) => m > 0)
		.map(([what, m]) => `${what} ${number(m)}`)].join(", ")).join("; ");
}

/* ---- one sensor: the rest ---------------------------------------------------------------------------------------- */

function facts(rows) {
	const list = el("dl", { className: "facts" });
	for (const [name, ...value] of rows.filter(row => row.length > 1 && row[1] !== ""))
		list.append(el("dt", null, name), el("dd", null, ...value));
	return list;
}

function milliseconds(us) {
	return `${tenths.format(us / 1000)} ms`;
}

function sensorFacts(a) {
	const s = a.sensor;
	const offset = s.ahead_us - s.behind_us, side = offset < 0 ? "behind" : "ahead of";
	const metres = (axis, n) => n === undefined ? "" : `${axis} ${tenths.format(n)} m`;
	const floor = s.floor === undefined ? "" : `floor ${s.floor}`;
	const place = [floor, metres("x", s.x), metres("y", s.y)].filter(Boolean).join(", ");
	return facts([
		["group", s.group], ["place", place], ["address", s.address],
		s.heard ? ["last heard", time(s.heard), `, ${duration(a.time - s.heard)} ago`] : ["last heard", "never"],
		["version", s.application],
		["clock", s.runs ? `${milliseconds(Math.abs(offset))} ${side} the collector's` : ""],
		["round trip", s.round_trip_us ? milliseconds(s.round_trip_us) : ""],
		["store", s.store_limit ? `${share(s.store, s.store_limit)} of ${bytes(s.store_limit)} in use` : ""],
		["received", s.received_bytes ? `${bytes(s.received_bytes)}, now ${bytes(a.rates.received_bytes)}/s` : ""],
		["runs", s.runs ? number(s.runs) : ""],
	]);
}

function channelRow(c) {
	const fill = el("i");
	fill.style.width = `${100 * c.share}%`;
	return el("tr", null, el("th", { scope: "row" }, c.channel), el("td", null, el("div", { className: "bar" }, fill)),
		el("td", { className: "number" }, share(c.share, 1)), el("td", { className: "number" }, number(c.frames)),
		el("td", { className: "number" }, c.failures ? `${number(c.failures)} failed` : ""));
}

function channelTable(list) {
	const head = el("tr", null, ...["channel", "", "time", "frames", ""].map((text, i) =>
		text ? el("th", { scope: "col", className: i > 1 ? "number" : "" }, text) : el("td")));
	return el("table", { className: "channels" }, el("thead", null, head), el("tbody", null,
		...[...list].sort((a, b) => a.mhz - b.mhz).map(channelRow)));
}

function interfaceNode(x) {
	const word = x.link !== "up" ? "link" : x.deaf ? "deaf" : "fine";
	const name = el("bdi", null, x.name || `interface ${x.number}`);
	const node = el("div", { className: "interface" }, el("h3", null, badge(word), name));
	node.append(facts([
		["link", x.link + (x.deaf ? ", hears no frames" : "")],
		x.last_frame ? ["last frame", time(x.last_frame)] : ["last frame"],
		["seen", framesOf(x.seen)],
		["bad FCS", x.bad_fcs ? `${number(x.bad_fcs)}, ${share(x.bad_fcs, x.seen)}` : ""],
		["filter", x.filter], ["source", x.source], ["keeps", x.keep],
		["snap length", x.snaplen ? `${number(x.snaplen)} B` : ""],
	]));
	if (x.coverage?.channels.length)
		node.append(channelTable(x.coverage.channels));
	return node;
}

function moduleTable(list) {
	const rows = list.map(m => el("tr", null, el("th", { scope: "row" }, m.name), el("td", { className: "number" },
		some(m.events, "event", "events")), el("td", null, ...m.last ? ["last at ", time(m.last)] : [])));
	return el("table", { className: "channels" }, el("tbody", null, ...rows));
}

function sheet(title, ...children) {
	return el("section", null, el("h2", null, title), ...children);
}

function balanceNode(s) {
	const ok = Number(s.balance) === 0;
	return el("p", { className: ok ? "fine" : "bad" }, ok ? "The ledger balances: every frame is accounted for."
		: `The ledger is off by ${framesOf(Math.abs(s.balance))}.`);
}

function sensorParts(a, width) {
	const s = a.sensor;
	const ledger = sheet("Ledger, in frames", s.runs ? flow(s, width) : "No frames yet.", balanceNode(s));
	const left = el("div", { className: "side" }, sheet("Sensor", sensorFacts(a)), ledger);
	const right = el("div", { className: "side" },
		sheet("Interfaces", ...s.interfaces.length ? s.interfaces.map(interfaceNode) : ["None reported yet."]));
	if (s.modules.length)
		right.append(sheet("Modules", moduleTable(s.modules)));
	return el("div", { className: "parts" }, left, right);
}

function sensorSummary(a) {
	const row = fleet.byName.get(a.sensor.name);
	const parts = row ? trouble(row) : [a.sensor.state];
	const also = a.rates.lost && row?.word !== "losing" ? `; loses ${number(a.rates.lost)} frames/s` : "";
	return el("p", { className: "state" }, ...parts, also);
}

function showSensor(a) {
	const main = $("sensor");
	const row = fleet.byName.get(a.sensor.name);
	const width = Math.max(280, Math.min(main.clientWidth, innerWidth) * (innerWidth >= 960 ? 0.5 : 1) - 34);
	const title = el("h2", { id: "sensor-title" }, badge(row ? row.word : a.sensor.trouble), a.sensor.name);
	const back = el("p", null, el("a", { href: shown.view === "plan" ? "#plan" : "#" }, "← All sensors"), " (Escape)");
	const now = [back, title, sensorSummary(a), sensorParts(a, width)];
	const focused = main.contains(document.activeElement) && document.activeElement.tagName === "A";
	main.replaceChildren(...now);
	if (focused)
		back.firstChild.focus();
}

function showNoSensor(name) {
	$("sensor").replaceChildren(el("p", null, el("a", { href: "#" }, "← All sensors")),
		el("h2", { id: "sensor-title" }, name), el("p", null, "The collector knows no sensor of this name."));
}

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
