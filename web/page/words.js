// SPDX-License-Identifier: GPL-2.0
/* Elements, and words: numbers, durations and times of the browser's language and zone. */
"use strict";

const DAY_S = 86400;

/* By the word of the API: letter, colour, label. The order is that of the legend. */
const TROUBLES = {
	fine: ["", "fine", "fine"],
	silent: ["S", "bad", "silent"],
	never: ["N", "bad", "never heard"],
	unbalanced: ["U", "bad", "unbalanced"],
	held: ["H", "bad", "held"],
	losing: ["L", "warn", "losing frames"],
	deaf: ["D", "warn", "deaf"],
	link: ["C", "warn", "link down"],
	shared_key: ["K", "warn", "shared key"],
	awaited: ["A", "gone", "awaited"],
	ended: ["E", "gone", "ended"],
	unlisted: ["?", "gone", "not listed"],
};

const $ = id => document.getElementById(id);

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
	return el("span", { className: `badge is-${colour}`, "aria-hidden": "true" }, letter);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const twoDigits = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 });
const clockOnly = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const minuteOnly = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const dated = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

const number = n => whole.format(n);
const some = (n, one, more) => `${number(n)} ${n === 1 ? one : more}`;
const framesOf = n => some(n, "frame", "frames");

function share(part, all) {
	const percent = all ? 100 * part / all : 0;
	return `${percent >= 10 ? number(percent) : twoDigits.format(percent)} %`;
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
