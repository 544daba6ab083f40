// SPDX-License-Identifier: GPL-2.0
/* One sensor. In: /api/sensor/NAME.json. Out: its ledger as a flow, its interfaces, channels and modules. */
"use strict";

/* ---- the ledger as a flow ---------------------------------------------------------------------------------------- */

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

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

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
