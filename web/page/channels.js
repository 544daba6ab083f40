// SPDX-License-Identifier: GPL-2.0
/* Channels and time. In: /api/channels.json. Out: a cell for each channel and minute, coloured by the share of the time
 * that the channel was listened to. */
"use strict";

/* Thousandths that a class is below, and its label. */
const SHARES = [[1, "0"], [20, "under 2 %"], [50, "2–5 %"], [100, "5–10 %"], [250, "10–25 %"], [500, "25–50 %"],
	[Infinity, "over 50 %"]];

const channels = { state: null, at: 0, cells: [], focus: [0, 59] };

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
	table.append(el("tfoot", null, el("tr", { "aria-hidden": "true" }, el("th"),
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
