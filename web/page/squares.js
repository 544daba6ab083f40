// SPDX-License-Identifier: GPL-2.0
/* A square for each sensor, by group or on a floor plan, with a filter that is also the legend. */
"use strict";

const NAMED_MOST = 60; // squares with their names
const MORE = 500;
const MANY = 2000;
const SIDE_MOST = 80; // groups of so many stand side by side

/* ---- squares ----------------------------------------------------------------------------------------------------- */

const isPlaced = s => typeof s.x === "number" && typeof s.y === "number";

function matches(s) {
	return (!shown.states.size || shown.states.has(s.word)) &&
		(!shown.words || s.name.toLowerCase().includes(shown.words) || s.group.toLowerCase().includes(shown.words));
}

function square(s) {
	const a = document.createElement("a");
	a.href = `#sensor=${encodeURIComponent(s.name)}`;
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
	const node = el("div", { className: "group", role: "group", "aria-label": name || "Sensors without a group" }, row);
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
	const node = el("div", { role: "group", "aria-label": name }, title, plan, ruler);
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
	setText($("none"), all ? "The sensors file lists no sensor." : "No sensor matches.");
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
	const button = el("button", { type: "button", "aria-pressed": "false" }, badge(word), label, el("b"));
	button.word = word;
	button.addEventListener("click", () => {
		if (!shown.states.delete(word))
			shown.states.add(word);
		button.setAttribute("aria-pressed", String(shown.states.has(word)));
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
