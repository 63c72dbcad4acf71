/* page.js - what the sections of the report share: elements, numbers, colours, drawing; the page as a whole.
 *
 * Names come from strangers: they become text of elements and values of data, never markup and never part of an
 * expression. Fields of chart data have names of ours. Colours are variables of page.css, so that a theme is a matter of
 * style and a selection stays when it changes. */

/* --- elements ---------------------------------------------------------------------------------------------- */

/* el('p', 'soft', 'text', child, ...): a string is text. */
function el(tag, cls, ...inside) {
	const e = document.createElement(tag);
	if (cls) e.className = cls;
	e.append(...inside.filter((x) => x !== null && x !== undefined));
	return e;
}

function facts(rows) {
	const dl = el('dl', 'facts');
	for (const [name, value] of rows)
		if (value !== null && value !== undefined && value !== '')
			dl.append(el('dt', '', name), el('dd', '', String(value)));
	return dl;
}

function tile(value, what, note) {
	return el('div', 'tile', el('b', '', value), el('span', '', what), note ? el('span', 'note', note) : null);
}

function card(title, words, ...inside) {
	return el('section', 'card', el('h3', '', title), words ? el('p', 'soft', words) : null, ...inside);
}

/* columns: {title, text (a column of text), long}; rows: arrays of strings or elements. */
function table(columns, rows, classes) {
	const head = el('tr'),
		body = el('tbody');
	for (const c of columns) head.append(el('th', c.text ? 'text' : '', c.title));
	rows.forEach((row, i) => {
		const tr = el('tr', classes ? classes[i] : '');
		row.forEach((cell, k) => {
			const td = el('td', (columns[k].text ? 'text' : '') + (columns[k].long ? ' long' : ''), cell);
			if (columns[k].long) td.title = cell;
			tr.append(td);
		});
		body.append(tr);
	});
	return el('table', '', el('thead', '', head), body);
}

/* Copies the text that `of` gives; where the browser keeps its clipboard to itself, by a selection. */
function copyButton(of, what) {
	const b = el('button', '', what);
	b.type = 'button';
	b.addEventListener('click', async () => {
		let done = true;
		try {
			await navigator.clipboard.writeText(of());
		} catch (refused) {
			const area = el('textarea', '', of());
			document.body.append(area);
			area.select();
			done = document.execCommand('copy');
			area.remove();
		}
		b.textContent = done ? 'copied' : 'not copied';
		setTimeout(() => {
			b.textContent = what;
		}, 1500);
	});
	return b;
}

/* --- numbers ----------------------------------------------------------------------------------------------- */

const groups = (text) => text.replace(/^(-?\d+)/, (n) => n.replace(/\B(?=(\d{3})+$)/g, ','));

/* Four digits that say something, the whole part never cut: 2,850; 609.6; 0.01234. */
function num(v) {
	if (v === null || v === undefined || !isFinite(v)) return '–';
	const a = Math.abs(v);
	if (a === 0) return '0';
	if (a >= 1e15 || a < 1e-4) return v.toExponential(2);
	const digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(a))));
	const text = v.toFixed(digits);
	return groups(text.includes('.') ? text.replace(/\.?0+$/, '') : text);
}

function scaled(v, base, names, unit) {
	let i = 0;
	while (Math.abs(v) >= base && i < names.length - 1) {
		v /= base;
		i++;
	}
	return num(v) + ' ' + names[i] + unit;
}

const us = (v) => (v === null || v === undefined ? '–' : v >= 1e4 ? num(v / 1e3) + ' ms' : num(v) + ' µs');
const bytes = (v) => scaled(v, 1024, ['', 'Ki', 'Mi', 'Gi', 'Ti'], 'B');
const rate = (v, unit) => scaled(v, 1000, ['', 'k', 'M', 'G', 'T', 'P'], unit);
const pct = (v) => (Math.abs(v) >= 10 ? v.toFixed(0) : v.toFixed(1)) + ' %';
const times = (v) => (v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2)) + '×';
const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);
/* A workload's source ends in its range already, unless another build wrote it. */
const workloadText = (x) => x.workload + (x.range && !x.workload.endsWith(x.range) ? `, range ${x.range}` : '');
const base = (path) => path.slice(path.lastIndexOf('/') + 1);

/* --- charts ------------------------------------------------------------------------------------------------ */

/* A chart is as wide as the page allows: what stands beside its bars (names, figures, a legend) has `beside` of it. On a phone
 * names stand above their bars, and legends above charts. */
const WIDE = 960;
const NARROW = document.documentElement.clientWidth < 700;
const PAIRS = document.documentElement.clientWidth >= 1500 && CSS.supports('selector(:has(a))');
const ROOM = PAIRS
	? Math.floor((Math.min(1680, document.documentElement.clientWidth) - 54) / 2) - 40
	: Math.min(WIDE, document.documentElement.clientWidth - (NARROW ? 62 : 80));
const room = (beside, narrow) =>
	NARROW ? Math.max(120, ROOM - (narrow === undefined ? 92 : narrow)) : ROOM - beside;
const color = (i) => (i < 12 ? `var(--c${i + 1})` : 'var(--other)');

const CONFIG = {
	background: 'transparent',
	font: 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif',
	axis: {
		labelColor: 'var(--soft)',
		titleColor: 'var(--soft)',
		gridColor: 'var(--grid)',
		domainColor: 'var(--line)',
		tickColor: 'var(--line)',
		labelFontSize: 12,
		titleFontSize: 12,
		titleFontWeight: 'normal',
		titlePadding: 8,
		labelLimit: NARROW ? 84 : 260,
		labelFlush: false,
	},
	axisX: { labelOverlap: true, labelSeparation: 6 },
	legend: {
		labelColor: 'var(--ink)',
		titleColor: 'var(--soft)',
		labelFontSize: 12,
		titleFontSize: 12,
		titleFontWeight: 'normal',
		symbolSize: 90,
		symbolOpacity: 1,
		labelLimit: NARROW ? 150 : 260,
		...(NARROW ? { orient: 'top', direction: 'horizontal', columns: 2 } : {}),
	},
	header: { labelColor: 'var(--ink)', labelFontSize: 13, titleColor: 'var(--soft)', titleFontWeight: 'normal' },
	title: { color: 'var(--ink)', fontSize: 13, fontWeight: 'normal', anchor: 'start' },
	view: { stroke: 'transparent' },
	text: { color: 'var(--ink)', fontSize: 12 },
	rule: { color: 'var(--soft)' },
	bar: { cornerRadiusEnd: 2 },
};

const drawing = [];
/* What is said of the results is there before the chart library is. */
const library = shown().then(() => load('library'));

/* The y of a chart that has a name a row, in that order. */
function namesDown(field, names, axis) {
	return {
		field: field,
		type: 'nominal',
		scale: { domain: names },
		axis: { title: null, domain: false, ticks: false, ...axis },
	};
}

/* Draws into a new element; `then` gets Vega's view. A chart that cannot be drawn says so in its place. */
function chart(name, spec, then) {
	const at = el('div', 'chart');
	at.id = name;
	const of = { $schema: 'https://vega.github.io/schema/vega-lite/v6.json', config: CONFIG, ...spec };
	const drawn = async () => {
		if (window.draw) return window.draw(name, of, at); /* draw.js: there is no browser */
		await library;
		const tooltip = new charts.Handler({ theme: 'page' }).call,
			view = new charts.View(charts.parse(charts.compile(of).spec), { renderer: 'svg', container: at, hover: false, tooltip });
		await view.runAsync();
		return then ? then(view) : null;
	};
	drawing.push(
		drawn().catch((why) => {
			console.error(name, why);
			at.replaceChildren(el('p', 'failed', 'This chart could not be drawn: ' + why.message));
		}),
	);
	return at;
}

/* A tooltip of rows [field, title]. */
function tips(rows) {
	return rows.map(([field, title]) => ({ field, title, type: 'nominal' }));
}

/* The same of those rows that say something of any of the points. */
function tipsOf(points, rows) {
	return tips(rows.filter(([field]) => points.some((p) => p[field] && p[field] !== '–')));
}

/* A layer of text over lines and points: once as an outline in the card's colour, and once as it is. */
function haloed(layer, width) {
	const outline = { stroke: 'var(--card)', strokeWidth: width, strokeJoin: 'round' };
	return [{ ...layer, mark: { ...layer.mark, ...outline } }, layer];
}

/* A field of numbers on a logarithmic axis: powers of ten alone are labelled where there are many. */
const logAxis = (title, extra) => Object.assign({ title, grid: true, format: '~s', tickCount: 6 }, extra);

function span(values) {
	const known = values.filter((v) => v !== null && isFinite(v));
	return [Math.min(...known), Math.max(...known)];
}

/* --- the page ---------------------------------------------------------------------------------------------- */

function trust(lines) {
	const first = el('b', '', 'How far to trust this: ');
	const box = el('div', 'trust', first);
	lines.forEach((line, i) => box.append(i === 0 ? '' : lines[i - 1].endsWith(',') ? ' ' : el('br'), line));
	return box;
}

/* What runs are called in a chart: as much of each name as it takes to tell them apart. */
function labelsOf(names, most) {
	for (let n = most; n < 400; n += 10) {
		const cut = names.map((x) => short(x, n));
		if (new Set(cut).size === new Set(names).size) return cut;
	}
	return names;
}

/* A row a run, and above them what was measured and what the same GPU fused would take; all are of one workload. */
function overviewRows(runs) {
	const first = runs[0],
		several = runs.some((x) => x.from !== first.from),
		names = labelsOf(
			runs.map((r) => r.within + (several ? `, ${base(r.from)}` : '')),
			NARROW ? 44 : 40,
		);
	const rows = runs.map((r, i) => ({
		label: names[i],
		what: 'simulated',
		us: r.total_us,
		text: us(r.total_us),
		roof: r.roofline_us,
		rooft: us(r.roofline_us),
	}));
	const measured = [
		['measured, GPU kernels', first.kernels_us],
		['measured, copies and sets too', first.measured_us],
		[
			`${first.kernels_us > 0 ? 'that GPU' : 'an H200'} fused and graphed (simulated)`,
			first.fused_us,
		],
	]
		.filter(([, time]) => time > 0)
		.map(([label, time]) => ({
		label,
		what: 'measured',
		us: time,
		text: us(time),
		roof: null,
		rooft: '–',
	}));
	return measured.concat(rows);
}

function overviewBars() {
	return {
		mark: { type: 'bar', height: 18 },
		encoding: {
			x: { field: 'us', type: 'quantitative', axis: { title: 'time (µs)' } },
			color: {
				field: 'what',
				type: 'nominal',
				legend: null,
				scale: {
					domain: ['measured', 'simulated'],
					range: ['var(--measured)', 'var(--simulated)'],
				},
			},
			tooltip: tips([
				['label', 'of'],
				['text', 'time'],
				['rooft', 'roofline'],
			]),
		},
	};
}

/* Names above their bars, where there is no room beside them. */
const namesAbove = NARROW
	? { labelAlign: 'left', labelPadding: -4, labelOffset: -19, labelLimit: ROOM - 10, domain: false, ticks: false }
	: {};

/* Runs over one workload beside each other; two workloads never share a chart. */
function overview(runs, at) {
	const rows = overviewRows(runs);
	return card(
		workloadText(runs[0]),
		'Time of each; the tick is the run’s roofline, below which physics lets nothing go.',
		chart(at ? 'overview' + at : 'overview', {
			width: room(330, 96),
			height: { step: NARROW ? 46 : 30 },
			data: { values: rows },
			encoding: {
				y: {
					field: 'label',
					type: 'nominal',
					scale: { domain: rows.map((r) => r.label) },
					axis: { title: null, labelLimit: 240, ...namesAbove },
				},
			},
			layer: [
				overviewBars(),
				{
					mark: { type: 'tick', thickness: 2, height: 24, color: 'var(--mark)' },
					encoding: { x: { field: 'roof', type: 'quantitative' } },
				},
				{
					mark: { type: 'text', align: 'left', dx: 5 },
					encoding: { x: { field: 'us', type: 'quantitative' }, text: { field: 'text' } },
				},
			],
		}),
	);
}

/* Who made the page, and of what. */
function showFooter(program) {
	const licences = el(
		'details',
		'',
		el('summary', '', 'Licences of the chart library'),
		el('pre', '', document.getElementById('licences').textContent.trim()),
	);
	document.querySelector('footer').append(
		el(
			'p',
			'',
			`Made by ${program}. Charts by Vega ${charts.vega} and Vega-Lite ` +
				`${charts.lite}. This file is whole: it asks nothing of any network.`,
		),
		licences,
	);
}

/* Runs in lists of one workload each, in the order of their first ones. */
function byWorkload(runs) {
	const lists = new Map();
	for (const r of runs) {
		const key = `${r.from} ${r.workload_id}`;
		if (!lists.has(key)) lists.set(key, []);
		lists.get(key).push(r);
	}
	return [...lists.values()];
}

function show(data) {
	const main = document.querySelector('main'),
		nav = document.querySelector('nav');
	const section = (id, title, body) => {
		const h = el('h2', '', title),
			a = el('a', '', title);
		h.id = id;
		a.href = '#' + id;
		nav.append(a);
		main.append(h, ...body);
	};

	/* What it said until there was more: a part's own words are the same. */
	document.getElementById('said')?.remove();
	if (data.compared) section('compared', 'What differs', showCompared(data.compared));
	if (data.runs.length > 1) section('runs', 'All runs', byWorkload(data.runs).map(overview));
	data.sweeps.forEach((s, i) => section('sweep' + i, `Sweep ${base(s.name)}`, showSweep(s, 'sweep' + i)));
	(data.designs || []).forEach((x, i) => section('design' + i, `A design of ${base(x.machine)}`, showDesign(x, 'design' + i)));
	(data.serves || []).forEach((x, i) => section('serve' + i, `${x.model} on ${x.machine}`, showServe(x, 'serve' + i)));
	(data.figures || []).forEach((f, i) => section('figure' + i, f.title, [card(f.title, f.subtitle, chart('figure' + i, figureSpec(f)))]));
	(data.rooflines || []).forEach((r, i) => section('roofline' + i, r.title, [rooflineCard(r, 'roofline' + i)]));
	data.runs.forEach((r, i) => section('run' + i, `Run ${r.id}: ${r.work} on ${r.within}`, showRun(r, 'run' + i)));
	if (nav.children.length < 2) nav.remove();

	drawing.push(library.then(() => showFooter(data.program)));
	Promise.all(drawing).then(() => {
		document.body.dataset.ready = 'yes';
	});
}
