/* sweep_lines.js - a grid as lines over one of its axes: the knee of each in the picture, in words and in a table. */

/* "at 1.125 GiB"; "between 640 MiB and 1.125 GiB, whatever the channels"; each where the lines are no numbers. */
function kneeWhere(s, lines, byText) {
	const c = s.curves,
		at = lines.map((l) => l.xy[l.knee]).sort((a, b) => a[1] - b[1]);
	const mark = (text) => el('span', 'knee', text);
	if (c.by === null) return [mark(`at ${at[0][0]}`)];
	if (lines.length === 1) return [mark(`at ${at[0][0]}`), ` with ${s.axes[c.by].key} ${byText(lines[0].by)}`];
	if (s.axes[c.by].values.some((v) => v[1] === null))
		return lines.flatMap((l, i) => [i ? ', ' : '', mark(`at ${l.xy[l.knee][0]}`), ` with ${l.by}`]);
	const range =
		at[0][0] === at[at.length - 1][0]
			? `at ${at[0][0]}`
			: `between ${at[0][0]} and ${at[at.length - 1][0]}`;
	return [mark(range), `, whatever the ${s.axes[c.by].key}`];
}

function kneeWords(s, byText) {
	const c = s.curves,
		x = s.axes[c.x].key,
		goal = short(s.goals[0].name, 40);
	const p = el('p', '');
	for (const panel of new Set(c.lines.map((l) => l.panel))) {
		const lines = c.lines.filter((l) => l.panel === panel && l.knee !== null);
		if (!lines.length) continue;
		const saved = lines
			.map((l) => ({ by: l.by, v: 100 * Math.abs(1 - l.xy[l.knee][2] / l.xy[0][2]) }))
			.sort((a, b) => b.v - a.v);
		const most = saved[0],
			least = saved[saved.length - 1];
		p.append(
			panel === null
				? `The knee of ${x} lies `
				: `With ${s.axes[c.panel].key} ${panel} the knee of ${x} lies `,
			...kneeWhere(s, lines, byText),
			`: ${goal} is there ${pct(most.v)} better than at the smallest ${x}`,
			saved.length > 1
				? ` with ${s.axes[c.by].key} ${byText(most.by)}, ${pct(least.v)} with ` +
						`${byText(least.by)}. `
				: '. ',
		);
	}
	const none = c.lines.filter((l) => l.knee === null).length;
	if (none === c.lines.length)
		p.append(`${goal} gains nothing of ${x} along any of these lines, or gains evenly: there is no knee.`);
	else if (none) p.append(`${none} of ${c.lines.length} lines have none.`);
	return p;
}

/* Which line's smallest x is as good as this line's knee: what x saves of the other axis. */
function sameAs(s, line) {
	const more = s.goals[0].more,
		y = line.xy[line.knee][2];
	const others = s.curves.lines.filter(
		(l) => l.panel === line.panel && l.by !== line.by && (more ? l.xy[0][2] >= y : l.xy[0][2] <= y),
	);
	if (!others.length) return null;
	return others.reduce((a, b) => ((more ? b.xy[0][2] < a.xy[0][2] : b.xy[0][2] > a.xy[0][2]) ? b : a));
}

/* The knee itself, what it gives, and how much of a gain lies before and beyond it. */
function kneeCells(line, more) {
	if (line.knee === null) return ['none', '–', '–', '–'];
	const y = line.xy[line.knee][2],
		best = line.xy.map((p) => p[2]).reduce((a, b) => (more ? Math.max(a, b) : Math.min(a, b)));
	return [
		el('span', 'knee', line.xy[line.knee][0]),
		num(y),
		pct(100 * Math.abs(1 - y / line.xy[0][2])),
		pct(100 * Math.abs(1 - best / y)),
	];
}

function sameAsText(s, line, byText) {
	if (line.knee === null) return '–';
	const other = sameAs(s, line);
	return other ? byText(other.by) : 'none of these';
}

function kneeTable(s, byText) {
	const c = s.curves,
		goal = s.goals[0];
	const columns = [
		c.panel !== null ? { title: s.axes[c.panel].key, text: true } : null,
		c.by !== null ? { title: s.axes[c.by].key } : null,
		{ title: `knee at ${s.axes[c.x].key}` },
		{ title: valueTitle(goal.name) },
		{ title: 'better than the smallest by' },
		{ title: 'still to gain beyond' },
		c.by !== null ? { title: `the smallest does as well with ${s.axes[c.by].key}`, text: true } : null,
	].filter((x) => x);
	const rows = c.lines.map((l) =>
		[].concat(
			c.panel !== null ? [l.panel] : [],
			c.by !== null ? [byText(l.by)] : [],
			kneeCells(l, goal.more),
			c.by !== null ? [sameAsText(s, l, byText)] : [],
		),
	);
	return el('div', 'scroll whole', table(columns, rows));
}

/* The names of the lines and of the panels, and the points with theirs. */
function curveRows(s, byText) {
	const c = s.curves,
		[unit] = unitOf(s.axes[c.x]),
		goal = s.goals[0].name;
	const nameOf = (by) => (c.by === null ? goal : byText(by)),
		panelOf = (panel) => (c.panel === null ? '' : `${s.axes[c.panel].key} ${panel}`);
	return {
		bys: c.by === null ? [goal] : s.axes[c.by].values.map((v) => nameOf(v[0])),
		panels: c.panel === null ? [''] : s.axes[c.panel].values.map((v) => panelOf(v[0])),
		rows: c.lines.flatMap((l) =>
			l.xy.map(([text, x, y], i) => ({
				by: nameOf(l.by),
				panel: panelOf(l.panel),
				x: x / unit,
				y,
				knee: i === l.knee ? 1 : 0,
				text,
				t_y: valueText(goal, y),
				t_point: String(l.points[i]),
				t_knee: i === l.knee ? 'the knee of this line' : '',
			})),
		),
	};
}

/* Scales, of which a long one is logarithmic; the ticks of a logarithmic y; the height of a value in the picture. */
function curveScales(rows) {
	const [x0, x1] = span(rows.map((r) => r.x)),
		[y0, y1] = span(rows.map((r) => r.y)),
		low = y0 * 0.93,
		high = y1 * 1.07;
	const long = (a, b, from) => a > 0 && b / a >= from,
		log = long(y0, y1, 3);
	const ticks = Array.from({ length: 7 }, (_, k) => [1, 1.5, 2, 3, 5, 7].map((m) => m * Math.pow(10, k - 2)));
	return {
		x: long(x0, x1, 1000) ? { type: 'log' } : { zero: false },
		y: log ? { type: 'log', nice: false, domain: [low, high] } : { zero: false },
		yTicks: log ? { values: ticks.flat().filter((v) => v >= low && v <= high) } : {},
		height: (y) => 380 * (log ? Math.log(y / y0) / Math.log(y1 / y0) : (y - y0) / (y1 - y0 || 1)),
	};
}

/* Of knees that lie on each other one is named: its `knee` is 2. */
function nameKnees(rows, height) {
	const named = [];
	for (const r of rows.filter((row) => row.knee === 1)) {
		const there = named.some(
			(k) => k.panel === r.panel && k.text === r.text && Math.abs(height(k.y) - height(r.y)) < 14,
		);
		if (there) continue;
		named.push(r);
		r.knee = 2;
	}
}

function curveEncoding(s, scales, bys) {
	const c = s.curves;
	return {
		x: {
			field: 'x',
			type: 'quantitative',
			scale: scales.x,
			axis: { title: axisTitle(s.axes[c.x]), tickCount: 6, format: ',~r' },
		},
		y: {
			field: 'y',
			type: 'quantitative',
			scale: scales.y,
			axis: { title: valueTitle(s.goals[0].name), format: ',~r', ...scales.yTicks },
		},
		color: {
			field: 'by',
			type: 'nominal',
			scale: { domain: bys, range: bys.map((b, i) => color(i)) },
			legend:
				c.by === null
					? null
					: { title: s.axes[c.by].key, symbolType: 'circle', orient: 'right' },
		},
	};
}

/* A ring around each knee, and a name beside those that have one. */
function kneeLayers() {
	const name = {
		transform: [{ filter: 'datum.knee === 2' }],
		mark: { type: 'text', align: 'left', dx: 8, dy: -10, fontSize: 12, fontWeight: 'bold', clip: false },
		encoding: { text: { field: 'text' }, color: { value: 'var(--mark)' } },
	};
	return [
		{
			transform: [{ filter: 'datum.knee > 0' }],
			mark: { type: 'point', size: 170, strokeWidth: 2, filled: false, color: 'var(--mark)' },
			encoding: { color: { value: 'var(--mark)' } },
		},
		...haloed(name, 3),
	];
}

function curveLayers(s) {
	const c = s.curves;
	return [
		{ mark: DOTTED[0] },
		{
			mark: DOTTED[1],
			encoding: {
				tooltip: tips([
					['text', s.axes[c.x].key],
					['by', c.by === null ? 'value' : s.axes[c.by].key],
					['t_y', s.goals[0].name],
					['t_point', 'design'],
					['t_knee', ''],
				]),
			},
		},
		...kneeLayers(),
	];
}

/* A panel beside the other: three fill the width. */
function curvesSpec(s, byText) {
	const { bys, panels, rows } = curveRows(s, byText),
		scales = curveScales(rows);
	const width =
		Math.floor((room(190, 130) - 30 * (panels.length - 1)) / Math.min(panels.length, 3)) -
		(panels.length > 1 ? 14 : 0);
	nameKnees(rows, scales.height);
	return {
		data: { values: rows },
		facet: {
			column: {
				field: 'panel',
				type: 'nominal',
				sort: panels,
				header: { title: null, labels: panels.length > 1 },
			},
		},
		spec: { width, height: 380, encoding: curveEncoding(s, scales, bys), layer: curveLayers(s) },
		resolve: { scale: { color: 'shared' } },
	};
}

function curvesChart(s, points, id) {
	const c = s.curves;
	if (!c) return null;
	const key = s.axes[c.x].key,
		byText = c.by === null ? (t) => t : alias(s, points, c.by);
	return card(
		`${short(s.goals[0].name, 40)} over ${key}` +
			(c.by === null ? '' : ` against ${s.axes[c.by].key}`) +
			', and the knee',
		null,
		kneeWords(s, byText),
		chart(id + '-curves', curvesSpec(s, byText)),
		kneeTable(s, byText),
		el(
			'p',
			'soft',
			'A ring marks the knee of a line: the point farthest on the good side of the straight ' +
				'way from its first point to its last, both ' +
				`directions scaled to the line’s span. Up to there ${key} buys more than ` +
				`it does on the whole, beyond it less. A line that is nearly straight ` +
				`or gains less than 1 % has none.`,
		),
	);
}
