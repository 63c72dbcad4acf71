/* sweep.js - a sweep: its front with a table of what is dragged over, lines with their knees, parallel coordinates, which
 * axis matters, designs to copy. Fronts, knees and shares are npusim's own; here they are only drawn and put in words. */

/* --- names, units ------------------------------------------------------------------------------------------ */

const AXIS_UNITS = { bytes: [1024 * 1024, 'MiB'], rate: [1e12, 'TB/s'], freq: [1e9, 'GHz'], time: [1e3, 'ns'] };

/* What an axis' numbers are divided by, and the unit they are then in. */
const unitOf = (axis) => AXIS_UNITS[axis.type] || [1, ''];
const axisTitle = (axis) => axis.key + (unitOf(axis)[1] ? ` (${unitOf(axis)[1]})` : '');

function axisText(axis, v) {
	if (axis.type === 'bytes')
		return bytes(v);
	if (axis.type === 'freq' || axis.type === 'rate')
		return rate(v, axis.type === 'freq' ? 'Hz' : 'B/s');
	return num(v / unitOf(axis)[0]) + (unitOf(axis)[1] ? ' ' + unitOf(axis)[1] : '');
}

/* A column's unit is in its name, as everywhere in npusim: latency_us, hit_pct. */
function nameUnit(name) {
	const units = [['_us', 'µs'], ['_mib', 'MiB'], ['_gib', 'GiB'], ['_tb_s', 'TB/s'], ['_gb_s', 'GB/s'], ['_pct', '%'], ['_bytes', 'B'], ['_mm2', 'mm²'], ['_uj', 'µJ'], ['_ns', 'ns']];
	const found = units.find(([end]) => name.endsWith(end));
	return found ? found[1] : '';
}
const valueTitle = (name) => short(name, 60) + (nameUnit(name) ? ` (${nameUnit(name)})` : '');
const valueText = (name, v) => num(v) + (nameUnit(name) ? ' ' + nameUnit(name) : '');

/* The same beside other words: three digits. */
const valueShort = (name, v) => valueText(name, Number(v.toPrecision(3)));

/* The points with all that is said of them. */
function readPoints(s) {
	return s.points.map(([point, front, axes, goals, columns]) => ({ point, front: !!front, axes, goals, columns }));
}

const changing = (s) => s.axes.map((a, i) => i).filter((i) => s.axes[i].values.length > 1);

function settingsText(s, p) {
	return changing(s).map((i) => `${s.axes[i].key} ${s.axes[i].values[p.axes[i]][0]}`).join(', ');
}

/* Whether a number of the points only repeats an axis in another unit; gives it by the axis' values. */
function sameAsAxis(s, points, axis, of) {
	const values = s.axes[axis].values, seen = new Map();
	let ratio = null;
	for (const p of points) {
		const v = of(p), x = values[p.axes[axis]][1];
		if (v === null || x === null || (x === 0) !== (v === 0))
			return null;
		if (x !== 0 && ratio === null)
			ratio = v / x;
		if (Math.abs(v - ratio * x) > 1e-6 * Math.abs(v))
			return null;
		seen.set(p.axes[axis], v);
	}
	return seen.size > 1 ? seen : null;
}

/* A column may say an axis in better words: a bandwidth for a number of channels. */
function alias(s, points, axis) {
	for (let c = 0; c < s.columns.length; c++) {
		const seen = sameAsAxis(s, points, axis, (p) => p.columns[c]);
		if (seen)
			return (text) => `${text} (${valueShort(s.columns[c], seen.get(s.axes[axis].values.findIndex((v) => v[0] === text)))})`;
	}
	return (text) => text;
}

/* Least, second, ... fifth of the values: for colours in order. */
const FIFTHS = ['best fifth', 'second', 'third', 'fourth', 'worst fifth'];
function fifths(points, goal, more) {
	const sorted = points.map((p) => p.goals[goal]).sort((a, b) => (more ? b - a : a - b));
	return (v) => {
		let below = 0;
		for (let i = 1; i < 5; i++)
			below += more ? v < sorted[Math.floor(i * sorted.length / 5)] : v > sorted[Math.floor(i * sorted.length / 5)];
		return FIFTHS[below];
	};
}
const FIFTH_SCALE = { domain: FIFTHS, range: ['var(--q1)', 'var(--q2)', 'var(--q3)', 'var(--q4)', 'var(--q5)'] };

/* --- head -------------------------------------------------------------------------------------------------- */

function sweepTiles(s, points) {
	const goal = s.goals[0], knee = points.find((p) => p.point === s.knee);
	const tiles = [tile(num(s.done), 'designs simulated', s.asked > s.done + s.failed ? `of ${num(s.asked)} asked for; the others are not in this file` : `of ${num(s.asked)} asked for`)];
	if (s.failed)
		tiles.push(tile(num(s.failed), 'failed', 'with their reasons below'));
	if (s.constraints.length)
		tiles.push(tile(num(s.count), 'meet all constraints', short(s.constraints.join('; '), 80)));
	if (points.length) {
		const values = points.map((p) => p.goals[0]);
		tiles.push(tile(valueText(goal.name, goal.more ? Math.max(...values) : Math.min(...values)), `${goal.more ? 'most' : 'least'} ${short(goal.name, 40)}`));
		tiles.push(tile(num(points.filter((p) => p.front).length), 'designs on the front', 'that no other beats in every objective'));
	}
	if (knee)
		tiles.push(tile(valueText(goal.name, knee.goals[0]), 'at the knee of the front', `design ${knee.point}`));
	return el('div', 'tiles', ...tiles);
}

function sweepFacts(s) {
	return facts([
		['sweep', s.name],
		['base machine', s.base],
		['workload', workloadText(s)],
		['axes', s.axes ? s.axes.map((a) => `${a.key} (${a.values.length === 1 ? a.values[0][0] : a.values.length + ' values'})`).join(', ') : ''],
		['objectives', s.goals.map((g) => (g.more ? 'most ' : 'least ') + g.name).join(', ')],
		['constraints', s.constraints.join('; ')],
		['start, fidelity', `${s.start}, ${s.fidelity}`],
		['stored as', `sweep ${s.id} in ${s.from}, by build ${s.build}`],
	]);
}

/* --- lines and knees --------------------------------------------------------------------------------------- */

/* "at 1.125 GiB"; "between 640 MiB and 1.125 GiB, whatever the channels"; each where the lines are no numbers. */
function kneeWhere(s, lines, byText) {
	const c = s.curves, at = lines.map((l) => l.xy[l.knee]).sort((a, b) => a[1] - b[1]);
	const mark = (text) => el('span', 'knee', text);
	if (c.by === null)
		return [mark(`at ${at[0][0]}`)];
	if (lines.length === 1)
		return [mark(`at ${at[0][0]}`), ` with ${s.axes[c.by].key} ${byText(lines[0].by)}`];
	if (s.axes[c.by].values.some((v) => v[1] === null))
		return lines.flatMap((l, i) => [i ? ', ' : '', mark(`at ${l.xy[l.knee][0]}`), ` with ${l.by}`]);
	const range = at[0][0] === at[at.length - 1][0] ? `at ${at[0][0]}` : `between ${at[0][0]} and ${at[at.length - 1][0]}`;
	return [mark(range), `, whatever the ${s.axes[c.by].key}`];
}

function kneeWords(s, byText) {
	const c = s.curves, x = s.axes[c.x].key, goal = short(s.goals[0].name, 40);
	const p = el('p', '');
	for (const panel of new Set(c.lines.map((l) => l.panel))) {
		const lines = c.lines.filter((l) => l.panel === panel && l.knee !== null);
		if (!lines.length)
			continue;
		const saved = lines.map((l) => ({ by: l.by, v: 100 * Math.abs(1 - l.xy[l.knee][2] / l.xy[0][2]) })).sort((a, b) => b.v - a.v);
		const most = saved[0], least = saved[saved.length - 1];
		p.append(panel === null ? `The knee of ${x} lies ` : `With ${s.axes[c.panel].key} ${panel} the knee of ${x} lies `, ...kneeWhere(s, lines, byText),
			`: ${goal} is there ${pct(most.v)} better than at the smallest ${x}`,
			saved.length > 1 ? ` with ${s.axes[c.by].key} ${byText(most.by)}, ${pct(least.v)} with ${byText(least.by)}. ` : '. ');
	}
	const none = c.lines.filter((l) => l.knee === null).length;
	if (none === c.lines.length)
		p.append(`${goal} gains nothing of ${x} along any of these lines, or gains evenly: there is no knee.`);
	else if (none)
		p.append(`${none} of ${c.lines.length} lines have none.`);
	return p;
}

/* Which line's smallest x is as good as this line's knee: what x saves of the other axis. */
function sameAs(s, line) {
	const more = s.goals[0].more, y = line.xy[line.knee][2];
	const others = s.curves.lines.filter((l) => l.panel === line.panel && l.by !== line.by && (more ? l.xy[0][2] >= y : l.xy[0][2] <= y));
	if (!others.length)
		return null;
	return others.reduce((a, b) => ((more ? b.xy[0][2] < a.xy[0][2] : b.xy[0][2] > a.xy[0][2]) ? b : a));
}

function kneeTable(s, byText) {
	const c = s.curves, goal = s.goals[0].name, more = s.goals[0].more;
	const columns = [], rows = [];
	if (c.panel !== null)
		columns.push({ title: s.axes[c.panel].key, text: true });
	if (c.by !== null)
		columns.push({ title: s.axes[c.by].key });
	columns.push({ title: `knee at ${s.axes[c.x].key}` }, { title: valueTitle(goal) }, { title: 'better than the smallest by' }, { title: 'still to gain beyond' });
	if (c.by !== null)
		columns.push({ title: `the smallest does as well with ${s.axes[c.by].key}`, text: true });
	for (const l of c.lines) {
		const row = [], y = l.knee === null ? null : l.xy[l.knee][2];
		if (c.panel !== null)
			row.push(l.panel);
		if (c.by !== null)
			row.push(byText(l.by));
		if (l.knee === null) {
			row.push('none', '–', '–', '–');
		} else {
			const best = l.xy.map((p) => p[2]).reduce((a, b) => (more ? Math.max(a, b) : Math.min(a, b)));
			row.push(el('span', 'knee', l.xy[l.knee][0]), num(y), pct(100 * Math.abs(1 - y / l.xy[0][2])), pct(100 * Math.abs(1 - best / y)));
		}
		if (c.by !== null) {
			const other = l.knee === null ? null : sameAs(s, l);
			row.push(other ? byText(other.by) : l.knee === null ? '–' : 'none of these');
		}
		rows.push(row);
	}
	return el('div', 'scroll whole', table(columns, rows));
}

function curvesChart(s, points, id) {
	const c = s.curves;
	if (!c)
		return null;
	const axis = s.axes[c.x], [unit] = unitOf(axis), goal = s.goals[0];
	const byText = c.by === null ? (t) => t : alias(s, points, c.by);
	const bys = c.by === null ? [goal.name] : s.axes[c.by].values.map((v) => byText(v[0]));
	const panels = c.panel === null ? [''] : s.axes[c.panel].values.map((v) => `${s.axes[c.panel].key} ${v[0]}`);
	const rows = [];
	for (const l of c.lines) {
		const by = c.by === null ? goal.name : byText(l.by), panel = c.panel === null ? '' : `${s.axes[c.panel].key} ${l.panel}`;
		l.xy.forEach(([text, x, y], i) => rows.push({ by, panel, x: x / unit, y, knee: i === l.knee ? 1 : 0, text,
			t_y: valueText(goal.name, y), t_point: String(l.points[i]), t_knee: i === l.knee ? 'the knee of this line' : '' }));
	}
	const [x0, x1] = span(rows.map((r) => r.x)), [y0, y1] = span(rows.map((r) => r.y));
	const log = (a, b, from) => a > 0 && b / a >= from;
	const width = Math.floor((WIDTH - 190 - 30 * (panels.length - 1)) / Math.min(panels.length, 3)) - (panels.length > 1 ? 14 : 0);
	const scaleX = log(x0, x1, 1000) ? { type: 'log' } : { zero: false }, scaleY = log(y0, y1, 3) ? { type: 'log', nice: false, domain: [y0 * 0.93, y1 * 1.07] } : { zero: false };
	const ticks = Array.from({ length: 7 }, (_, k) => [1, 1.5, 2, 3, 5, 7].map((m) => m * Math.pow(10, k - 2))).flat().filter((v) => v >= y0 * 0.93 && v <= y1 * 1.07);
	/* Of knees that lie on each other one is named. */
	const named = [], high = (y) => 380 * (scaleY.type === 'log' ? Math.log(y / y0) / Math.log(y1 / y0) : (y - y0) / (y1 - y0 || 1));
	for (const r of rows.filter((row) => row.knee === 1)) {
		if (!named.some((k) => k.panel === r.panel && k.text === r.text && Math.abs(high(k.y) - high(r.y)) < 14)) {
			named.push(r);
			r.knee = 2;
		}
	}
	const spec = {
		data: { values: rows },
		facet: { column: { field: 'panel', type: 'nominal', sort: panels, header: { title: null, labels: panels.length > 1 } } },
		spec: {
			width, height: 380,
			encoding: {
				x: { field: 'x', type: 'quantitative', scale: scaleX, axis: { title: axisTitle(axis), tickCount: 6, format: ',~r' } },
				y: { field: 'y', type: 'quantitative', scale: scaleY,
					axis: Object.assign({ title: valueTitle(goal.name), format: ',~r' }, scaleY.type === 'log' ? { values: ticks } : {}) },
				color: { field: 'by', type: 'nominal', scale: { domain: bys, range: bys.map((b, i) => color(i)) },
					legend: c.by === null ? null : { title: s.axes[c.by].key, symbolType: 'circle', orient: 'right' } },
			},
			layer: [
				{ mark: { type: 'line', strokeWidth: 1.8 } },
				{ mark: { type: 'circle', size: 26, opacity: 1 },
					encoding: { tooltip: tips([['text', axis.key], ['by', c.by === null ? 'value' : s.axes[c.by].key], ['t_y', goal.name], ['t_point', 'design'], ['t_knee', '']]) } },
				{ transform: [{ filter: 'datum.knee > 0' }], mark: { type: 'point', size: 170, strokeWidth: 2, filled: false, color: 'var(--mark)' },
					encoding: { color: { value: 'var(--mark)' } } },
				{ transform: [{ filter: 'datum.knee === 2' }],
					mark: { type: 'text', align: 'left', dx: 8, dy: -10, fontSize: 12, fontWeight: 'bold', stroke: 'var(--card)', strokeWidth: 3, strokeJoin: 'round', clip: false },
					encoding: { text: { field: 'text' }, color: { value: 'var(--mark)' } } },
				{ transform: [{ filter: 'datum.knee === 2' }],
					mark: { type: 'text', align: 'left', dx: 8, dy: -10, fontSize: 12, fontWeight: 'bold', clip: false },
					encoding: { text: { field: 'text' }, color: { value: 'var(--mark)' } } },
			],
		},
		resolve: { scale: { color: 'shared' } },
	};
	const title = `${short(goal.name, 40)} over ${axis.key}` + (c.by === null ? '' : ` against ${s.axes[c.by].key}`) + ', and the knee';
	return card(title, null, kneeWords(s, byText), chart(id + '-curves', spec), kneeTable(s, byText),
		el('p', 'soft', 'A ring marks the knee of a line: the point farthest on the good side of the straight way from its first point to its last, both '
			+ `directions scaled to the line’s span. Up to there ${axis.key} buys more than it does on the whole, beyond it less. A line that is nearly straight or gains less than 1 % has none.`));
}

/* --- front and table --------------------------------------------------------------------------------------- */

/* What the table lists; the number of rows is what a browser scrolls with ease. */
const ROWS_MAX = 300;

function designTable(s, points) {
	const axes = changing(s), more = s.goals[0].more;
	const columns = [{ title: 'design' }].concat(axes.map((i) => ({ title: s.axes[i].key, text: s.axes[i].type === 'text' })),
		s.goals.map((g) => ({ title: valueTitle(g.name) })), s.columns.map((name) => ({ title: valueTitle(name) })), [{ title: '', text: true }]);
	const sorted = points.slice().sort((a, b) => (more ? b.goals[0] - a.goals[0] : a.goals[0] - b.goals[0]) || a.point - b.point).slice(0, ROWS_MAX);
	return table(columns, sorted.map((p) => [String(p.point)].concat(axes.map((i) => s.axes[i].values[p.axes[i]][0]), p.goals.map(num), p.columns.map(num),
		[p.point === s.knee ? 'knee' : p.front ? 'front' : ''])), sorted.map((p) => (p.point === s.knee ? 'knee' : p.front ? 'front' : '')));
}

/* x of the front's picture: the second objective, or the widest axis where there is but one. */
function frontX(s) {
	if (s.goals.length > 1)
		return { title: valueTitle(s.goals[1].name), of: (p) => p.goals[1] };
	const axis = changing(s).filter((i) => s.axes[i].values.every((v) => v[1] !== null)).sort((a, b) => s.axes[b].values.length - s.axes[a].values.length)[0];
	if (axis === undefined)
		return { title: 'design', of: (p) => p.point };
	return { title: axisTitle(s.axes[axis]), of: (p) => s.axes[axis].values[p.axes[axis]][1] / unitOf(s.axes[axis])[0] };
}

/* Colour: a third objective in steps, or by fifths where it has many values. */
function frontColor(s, points) {
	if (s.goals.length < 3)
		return { of: (p) => (p.front ? 'front' : 'beaten'), title: null, scale: { domain: ['front', 'beaten'], range: ['var(--accent)', 'var(--other)'] } };
	const goal = s.goals[2], values = [...new Set(points.map((p) => p.goals[2]))].sort((a, b) => (goal.more ? b - a : a - b));
	if (values.length <= 8)
		return { of: (p) => num(p.goals[2]), title: valueTitle(goal.name), scale: { domain: values.map(num), range: values.map((v, i) => color(i)) } };
	const fifth = fifths(points, 2, goal.more);
	return { of: (p) => fifth(p.goals[2]), title: valueTitle(goal.name), scale: FIFTH_SCALE };
}

function frontCard(s, points, id, onChoice) {
	const x = frontX(s), c = frontColor(s, points), goal = s.goals[0];
	const rows = points.map((p) => ({
		p: p.point, x: x.of(p), y: p.goals[0], c: c.of(p), front: p.front ? 1 : 0, knee: p.point === s.knee ? 1 : 0, t_settings: settingsText(s, p),
		t_y: valueText(goal.name, p.goals[0]), t_x: num(x.of(p)), t_note: p.point === s.knee ? 'the knee of the front' : p.front ? 'on the front' : '',
		t_point: String(p.point), t_goals: s.goals.slice(2).map((g, i) => valueText(g.name, p.goals[i + 2])).join(', '),
	}));
	const [x0, x1] = span(rows.map((r) => r.x)), [y0, y1] = span(rows.map((r) => r.y));
	const scale = (a, b) => (a > 0 && b / a >= 50 ? { type: 'log' } : { zero: false, nice: true });
	const rowsTips = [['t_point', 'design'], ['t_settings', 'settings'], ['t_y', goal.name], ['t_x', x.title]];
	if (s.goals.length > 2)
		rowsTips.push(['t_goals', s.goals.slice(2).map((g) => g.name).join(', ')]);
	rowsTips.push(['t_note', '']);
	const layers = [];
	if (s.goals.length === 2)
		layers.push({ transform: [{ filter: 'datum.front === 1' }],
			mark: { type: 'line', interpolate: 'linear', color: 'var(--accent)', strokeWidth: 1.2, opacity: 0.7 },
			encoding: { x: { field: 'x', type: 'quantitative' }, y: { field: 'y', type: 'quantitative' }, order: { field: 'x', type: 'quantitative' } } });
	layers.push({
		params: [{ name: 'brush', select: { type: 'interval', mark: { fill: 'var(--accent)', fillOpacity: 0.1, stroke: 'var(--accent)' } } }],
		mark: { type: 'circle' },
		encoding: {
			x: { field: 'x', type: 'quantitative', scale: scale(x0, x1), axis: { title: x.title, format: ',~r', tickCount: 8 } },
			y: { field: 'y', type: 'quantitative', scale: scale(y0, y1), axis: { title: valueTitle(goal.name), format: ',~r' } },
			color: { condition: { param: 'brush', field: 'c', type: 'nominal', scale: c.scale, legend: { title: c.title, orient: 'right', symbolOpacity: 1 } }, value: 'var(--other)' },
			opacity: { condition: { test: 'datum.front === 1', value: 0.95 }, value: 0.4 },
			size: { condition: { test: 'datum.front === 1', value: 70 }, value: 40 },
			tooltip: tips(rowsTips),
		},
	});
	if (s.knee !== null)
		layers.push(
			{ transform: [{ filter: 'datum.knee === 1' }], mark: { type: 'point', size: 220, strokeWidth: 2, filled: false, color: 'var(--mark)' },
				encoding: { x: { field: 'x', type: 'quantitative' }, y: { field: 'y', type: 'quantitative' } } },
			{ transform: [{ filter: 'datum.knee === 1' }, { calculate: '"knee: design " + datum.p', as: 'label' }],
				mark: { type: 'text', align: 'left', dx: 12, dy: -12, fontWeight: 'bold', color: 'var(--card)', stroke: 'var(--card)', strokeWidth: 4, strokeJoin: 'round' },
				encoding: { x: { field: 'x', type: 'quantitative' }, y: { field: 'y', type: 'quantitative' }, text: { field: 'label' } } },
			{ transform: [{ filter: 'datum.knee === 1' }, { calculate: '"knee: design " + datum.p', as: 'label' }],
				mark: { type: 'text', align: 'left', dx: 12, dy: -12, fontWeight: 'bold', color: 'var(--mark)' },
				encoding: { x: { field: 'x', type: 'quantitative' }, y: { field: 'y', type: 'quantitative' }, text: { field: 'label' } } });

	const count = el('p', 'soft'), scroll = el('div', 'scroll designs-table');
	const paper = el('p', 'soft paper', points.length > 40 ? 'On paper the first 40 of them.' : '');
	scroll.id = id + '-table';
	count.id = id + '-count';
	const list = (chosen) => {
		const shown = chosen || points;
		count.textContent = (chosen ? `${num(shown.length)} of ${num(points.length)} designs chosen` : `All ${num(points.length)} designs`)
			+ `, ${s.goals[0].more ? 'most' : 'least'} ${goal.name} first` + (shown.length > ROWS_MAX ? `; the first ${ROWS_MAX} are listed.` : '.');
		scroll.replaceChildren(designTable(s, shown));
	};
	list(null);
	const words = (s.goals.length > 2 ? 'Full points are on the front: no other design is as good in every objective and better in one. '
		: s.goals.length === 2 ? 'The line is the front: no other design is as good in both and better in one. ' : '')
		+ (points.length < s.count ? `Drawn are ${num(points.length)} of ${num(s.count)} designs: the whole front and, of the others, every so many-th. ` : '');
	const hint = el('p', 'soft screen', 'Drag over the picture to choose designs for the table and the lines further down; a double click chooses all again.');
	return card(s.goals.length > 1 ? 'Front of the designs' : 'The designs', words, hint,
		chart(id + '-front', { width: WIDTH - 230, height: 400, data: { values: rows }, layer: layers }, (view) => {
			view.addSignalListener('brush', (name, value) => {
				const within = (v, range) => v >= Math.min(...range) && v <= Math.max(...range);
				const chosen = value && value.x && value.y ? points.filter((p) => within(x.of(p), value.x) && within(p.goals[0], value.y)) : null;
				list(chosen);
				onChoice(chosen);
			});
		}), count, paper, scroll);
}

/* --- parallel coordinates ---------------------------------------------------------------------------------- */

/* One upright scale: where a point lies on it, from 0 below to 1, and what is written beside it. */
function axisScale(axis) {
	const values = axis.values, n = values.length;
	if (values.some((v) => v[1] === null) || n <= 1)
		return { at: (i) => (n > 1 ? i / (n - 1) : 0.5), ticks: values.map((v, i) => ({ v: n > 1 ? i / (n - 1) : 0.5, text: v[0] })) };
	const a = values[0][1], b = values[n - 1][1], log = a > 0 && b / a >= 32;
	const at = (i) => (log ? Math.log(values[i][1] / a) / Math.log(b / a) : (values[i][1] - a) / (b - a));
	/* Drawn from a range: places of the scale instead of values. */
	if (n > 40)
		return { at, ticks: [0, 0.25, 0.5, 0.75, 1].map((v) => ({ v, text: axisText(axis, log ? a * Math.pow(b / a, v) : a + v * (b - a)) })) };
	return { at, ticks: spread(values.map((v, i) => ({ v: at(i), text: v[0] }))) };
}

/* Ticks that do not touch: ends always, others where there is room. */
function spread(ticks) {
	const kept = [ticks[0]], last = ticks[ticks.length - 1];
	for (const t of ticks.slice(1, -1))
		if (t.v - kept[kept.length - 1].v >= 0.055 && last.v - t.v >= 0.055)
			kept.push(t);
	return kept.concat([last]);
}

function goalScale(points, g) {
	const [a, b] = span(points.map((p) => p.goals[g]));
	const log = a > 0 && b / a >= 32;
	const at = (v) => (b > a ? (log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a)) : 0.5);
	const ticks = b > a ? [0, 0.25, 0.5, 0.75, 1].map((v) => ({ v, text: num(log ? a * Math.pow(b / a, v) : a + v * (b - a)) })) : [{ v: 0.5, text: num(a) }];
	return { at, ticks };
}

function parallelCard(s, points, id, onView) {
	const axes = changing(s).filter((i) => !s.axes[i].follows);
	/* An objective that only repeats an axis would be the same scale twice. */
	const goals = s.goals.map((g, i) => i).filter((i) => !axes.some((a) => sameAsAxis(s, points, a, (p) => p.goals[i])));
	const scales = axes.map((i) => axisScale(s.axes[i])).concat(goals.map((i) => goalScale(points, i)));
	const names = axes.map((i) => s.axes[i].key).concat(goals.map((i) => valueTitle(s.goals[i].name)));
	if (names.length < 2)
		return null;
	const fifth = fifths(points, 0, s.goals[0].more);
	const rows = [], ticks = [];
	for (const p of points) {
		const common = { p: p.point, front: p.front ? 1 : 0, q: fifth(p.goals[0]), t_settings: settingsText(s, p),
			t_goals: s.goals.map((g, i) => `${g.name} ${valueText(g.name, p.goals[i])}`).join(', '), t_point: String(p.point) };
		axes.forEach((a, k) => rows.push(Object.assign({ k, v: scales[k].at(p.axes[a]) }, common)));
		goals.forEach((g, i) => rows.push(Object.assign({ k: axes.length + i, v: scales[axes.length + i].at(p.goals[g]) }, common)));
	}
	scales.forEach((sc, k) => sc.ticks.forEach((t) => ticks.push({ k, v: t.v, text: t.text })));
	const x = { field: 'k', type: 'quantitative', scale: { domain: [0, names.length - 1], nice: false, zero: false }, axis: null };
	const y = { field: 'v', type: 'quantitative', scale: { domain: [0, 1] }, axis: null };
	return card('Parallel coordinates', `A line is a design, through its settings and what came of them; coloured by ${short(s.goals[0].name, 40)}. What is chosen above stands out.`,
		chart(id + '-parallel', {
			width: WIDTH - 230, height: 340, padding: { left: 30, right: 10, top: 5, bottom: 5 },
			params: [{ name: 'chosen', value: null }],
			encoding: { x, y },
			layer: [
				{ data: { values: names.map((n, k) => ({ k, v: 0, to: 1 })) }, mark: { type: 'rule', color: 'var(--soft)', strokeWidth: 1 }, encoding: { y2: { field: 'to' } } },
				{
					data: { values: rows },
					mark: { type: 'line', strokeWidth: 1.3 },
					encoding: {
						detail: { field: 'p' }, order: { field: 'k', type: 'quantitative' },
						color: { field: 'q', type: 'nominal', scale: FIFTH_SCALE, legend: { title: short(s.goals[0].name, 40), offset: 50, symbolType: 'stroke', symbolOpacity: 1, symbolStrokeWidth: 3 } },
						opacity: { condition: [{ test: 'chosen !== null && !chosen[datum.p]', value: 0.04 }, { test: 'chosen !== null || datum.front === 1', value: 0.9 }], value: points.length > 400 ? 0.15 : 0.3 },
						tooltip: tips([['t_point', 'design'], ['t_settings', 'settings'], ['t_goals', 'gives']]),
					},
				},
				{ data: { values: ticks }, mark: { type: 'text', align: 'right', dx: -6, fontSize: 11, color: 'var(--card)', stroke: 'var(--card)', strokeWidth: 4, strokeJoin: 'round' }, encoding: { text: { field: 'text' } } },
				{ data: { values: ticks }, mark: { type: 'text', align: 'right', dx: -6, fontSize: 11, color: 'var(--ink)' }, encoding: { text: { field: 'text' } } },
				{ data: { values: names.map((n, k) => ({ k, v: 1, text: short(n, 28) })) }, mark: { type: 'text', dy: -16, fontSize: 12, fontWeight: 'bold', color: 'var(--ink)' }, encoding: { text: { field: 'text' } } },
			],
		}, onView));
}

/* --- what matters ------------------------------------------------------------------------------------------ */

function tornadoCard(s, id) {
	const goal = s.goals[0], single = s.effects.filter((t) => t.a === t.b), pairs = s.effects.filter((t) => t.a !== t.b);
	if (!single.length)
		return card('What matters', 'No axis takes more than one value: there is nothing to compare.');
	const names = single.map((t) => s.axes[t.a].key), bars = [], labels = [];
	for (const t of single) {
		const key = s.axes[t.a].key, tip = { key, t_low: `${num(t.low)} at ${t.at_low}`, t_high: `${num(t.high)} at ${t.at_high}`, t_share: pct(100 * t.share) };
		bars.push(Object.assign({ from: s.mean, to: t.low, side: 'least mean' }, tip), Object.assign({ from: s.mean, to: t.high, side: 'largest mean' }, tip));
		labels.push({ key, v: t.low, text: `${t.at_low}: ${num(t.low)}`, left: 1 }, { key, v: t.high, text: `${t.at_high}: ${num(t.high)}`, left: 0 });
	}
	const [lo, hi] = span(bars.map((b) => b.to)), room = (hi - lo || 1) * 0.24;
	const y = { field: 'key', type: 'nominal', scale: { domain: names }, axis: { title: null, domain: false, ticks: false } };
	const good = ['var(--c3)', 'var(--c2)'];
	const tornado = chart(id + '-tornado', {
		width: WIDTH - 240, height: { step: 40 },
		encoding: { y },
		layer: [
			{
				data: { values: bars },
				mark: { type: 'bar', height: 20, cornerRadiusEnd: 2 },
				encoding: {
					x: { field: 'from', type: 'quantitative', scale: { domain: [lo - room, hi + room], zero: false, nice: false }, axis: { title: `mean ${valueTitle(goal.name)}`, format: ',~r', tickCount: 8 } },
					x2: { field: 'to' },
					color: { field: 'side', type: 'nominal', legend: { title: null, orient: 'top' }, scale: { domain: ['least mean', 'largest mean'], range: goal.more ? good.slice().reverse() : good } },
					tooltip: tips([['key', 'axis'], ['t_low', 'least mean'], ['t_high', 'largest mean'], ['t_share', 'of the variance']]),
				},
			},
			{ data: { values: [{ v: s.mean }] }, mark: { type: 'rule', color: 'var(--ink)', strokeWidth: 1.2 }, encoding: { x: { field: 'v', type: 'quantitative' }, y: null } },
			{ data: { values: labels.filter((l) => l.left) }, mark: { type: 'text', align: 'right', dx: -6, fontSize: 11.5 }, encoding: { x: { field: 'v', type: 'quantitative' }, text: { field: 'text' } } },
			{ data: { values: labels.filter((l) => !l.left) }, mark: { type: 'text', align: 'left', dx: 6, fontSize: 11.5 }, encoding: { x: { field: 'v', type: 'quantitative' }, text: { field: 'text' } } },
		],
	});
	const terms = s.effects.filter((t) => t.a === t.b || Math.abs(t.share) >= 0.001).sort((a, b) => b.share - a.share).slice(0, 12).map((t) => ({
		key: t.a === t.b ? s.axes[t.a].key : `${s.axes[t.a].key} × ${s.axes[t.b].key}`, share: t.share, what: t.a === t.b ? 'alone' : 'two together', text: pct(100 * t.share) }));
	const shares = chart(id + '-shares', {
		width: WIDTH - 330, height: { step: 26 },
		data: { values: terms },
		encoding: {
			y: { field: 'key', type: 'nominal', scale: { domain: terms.map((t) => t.key) }, axis: { title: null, domain: false, ticks: false, labelLimit: 240 } },
			x: { field: 'share', type: 'quantitative', axis: { title: 'share of the variance', format: '.0%' } },
		},
		layer: [
			{ mark: { type: 'bar', height: 15 }, encoding: { color: { field: 'what', type: 'nominal', scale: { domain: ['alone', 'two together'], range: ['var(--c1)', 'var(--c4)'] }, legend: pairs.length ? { title: null, orient: 'top' } : null },
				tooltip: tips([['key', 'axis'], ['text', 'of the variance']]) } },
			{ mark: { type: 'text', align: 'left', dx: 5, fontSize: 11.5 }, encoding: { text: { field: 'text' } } },
		],
	});
	return card(`What moves ${short(goal.name, 40)}`,
		`For each axis the values with the least and the largest mean over all that the other axes do; the upright line is the mean of all, ${valueText(goal.name, s.mean)}.`
		+ (s.grid ? '' : ' The designs are a sample: shares of the variance need not add up.'), tornado,
		el('p', 'soft', 'How much of the variance each axis explains' + (pairs.length ? ', and what two explain together beyond each alone:' : ':')), shares);
}

/* --- designs to copy --------------------------------------------------------------------------------------- */

function designCards(s) {
	const seen = new Map();
	for (const d of s.designs)
		if (seen.has(d.point))
			seen.get(d.point).why += ', ' + d.why;
		else
			seen.set(d.point, Object.assign({}, d));
	const cards = [...seen.values()].map((d) => {
		/* In single quotes, where a shell takes nothing but a quote for itself. */
		const sets = d.settings.map(([key, value]) => `--set '${key}=${value}'`.replace(/[^\x20-\x7e]/g, '?')).join(' ');
		const open = el('details', '', el('summary', '', 'show the YAML'), el('pre', '', d.yaml));
		return el('div', 'card design', el('div', 'row', el('h3', '', `Design ${d.point}: ${d.why}`), el('span', 'row', copyButton(() => d.yaml, 'copy YAML'), copyButton(() => sets, 'copy --set'))),
			facts(d.settings.concat(s.goals.map((g, i) => [g.name, valueText(g.name, d.values[i])]))), open);
	});
	return el('section', '', el('h3', '', 'Designs to take along'),
		el('p', 'soft', `The whole machine as YAML: save it and run it with npusim run -c. Or take ${s.base} with the settings as --set options.`), el('div', 'designs', ...cards));
}

function failuresCard(s) {
	if (!s.failures.length)
		return null;
	return card('Designs that failed', s.failed > s.failures.length ? `The first ${s.failures.length} of ${num(s.failed)}.` : null,
		el('div', 'scroll', table([{ title: 'design' }, { title: 'why', text: true }], s.failures.map(([p, why]) => [String(p), why || '']))));
}

function showSweep(s, id) {
	if (!s.count)
		return [sweepTiles(s, []), trust(s.trust), el('section', 'card', sweepFacts(s)),
			card('No design to draw', 'No point of this sweep is done, meets its constraints and has a value for every objective.'), failuresCard(s)].filter((x) => x);
	const points = readPoints(s);
	let lines = null;
	const choose = (chosen) => {
		if (lines)
			lines.signal('chosen', chosen ? Object.fromEntries(chosen.map((p) => [p.point, true])) : null).runAsync();
	};
	return [sweepTiles(s, points), trust(s.trust), el('section', 'card', sweepFacts(s)), curvesChart(s, points, id), frontCard(s, points, id, choose),
		parallelCard(s, points, id, (view) => { lines = view; }), tornadoCard(s, id), designCards(s), failuresCard(s)].filter((x) => x);
}
