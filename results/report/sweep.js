/* sweep.js - a sweep: its head, what its pictures share, designs to copy. Fronts, knees and shares are npusim's own; here
 * they are only drawn (sweep_lines.js, sweep_front.js, sweep_axes.js) and put in words. */

/* --- names, units ------------------------------------------------------------------------------------------ */

const AXIS_UNITS = { bytes: [1024 * 1024, 'MiB'], rate: [1e12, 'TB/s'], freq: [1e9, 'GHz'], time: [1e3, 'ns'] };

/* What an axis' numbers are divided by, and the unit they are then in. */
const unitOf = (axis) => AXIS_UNITS[axis.type] || [1, ''];
const axisTitle = (axis) => axis.key + (unitOf(axis)[1] ? ` (${unitOf(axis)[1]})` : '');

function axisText(axis, v) {
	if (axis.type === 'bytes') return bytes(v);
	if (axis.type === 'freq' || axis.type === 'rate') return rate(v, axis.type === 'freq' ? 'Hz' : 'B/s');
	return num(v / unitOf(axis)[0]) + (unitOf(axis)[1] ? ' ' + unitOf(axis)[1] : '');
}

/* A column's unit is in its name, as everywhere in npusim: latency_us, hit_pct. */
function nameUnit(name) {
	const units = [
		['_us', 'µs'],
		['_mib', 'MiB'],
		['_gib', 'GiB'],
		['_tb_s', 'TB/s'],
		['_gb_s', 'GB/s'],
		['_pct', '%'],
		['_bytes', 'B'],
		['_mm2', 'mm²'],
		['_uj', 'µJ'],
		['_ns', 'ns'],
	];
	const found = units.find(([end]) => name.endsWith(end));
	return found ? found[1] : '';
}
const valueTitle = (name) => short(name, 60) + (nameUnit(name) ? ` (${nameUnit(name)})` : '');
const valueText = (name, v) => num(v) + (nameUnit(name) ? ' ' + nameUnit(name) : '');

/* The same beside other words: three digits. */
const valueShort = (name, v) => valueText(name, Number(v.toPrecision(3)));

/* The points with all that is said of them. */
function readPoints(s) {
	return s.points.map(([point, front, axes, goals, columns]) => ({
		point,
		front: !!front,
		axes,
		goals,
		columns,
	}));
}

const changing = (s) => s.axes.map((a, i) => i).filter((i) => s.axes[i].values.length > 1);

function settingsText(s, p) {
	return changing(s)
		.map((i) => `${s.axes[i].key} ${s.axes[i].values[p.axes[i]][0]}`)
		.join(', ');
}

/* Whether a number of the points only repeats an axis in another unit; gives it by the axis' values. */
function sameAsAxis(s, points, axis, of) {
	const values = s.axes[axis].values,
		seen = new Map();
	let ratio = null;
	for (const p of points) {
		const v = of(p),
			x = values[p.axes[axis]][1];
		if (v === null || x === null || (x === 0) !== (v === 0)) return null;
		if (x !== 0 && ratio === null) ratio = v / x;
		if (Math.abs(v - ratio * x) > 1e-6 * Math.abs(v)) return null;
		seen.set(p.axes[axis], v);
	}
	return seen.size > 1 ? seen : null;
}

/* A column may say an axis in better words: a bandwidth for a number of channels. */
function alias(s, points, axis) {
	for (let c = 0; c < s.columns.length; c++) {
		const seen = sameAsAxis(s, points, axis, (p) => p.columns[c]);
		if (seen)
			return (text) =>
				`${text} (${valueShort(s.columns[c], seen.get(s.axes[axis].values.findIndex((v) => v[0] === text)))})`;
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
			below += more
				? v < sorted[Math.floor((i * sorted.length) / 5)]
				: v > sorted[Math.floor((i * sorted.length) / 5)];
		return FIFTHS[below];
	};
}
const FIFTH_SCALE = { domain: FIFTHS, range: ['var(--q1)', 'var(--q2)', 'var(--q3)', 'var(--q4)', 'var(--q5)'] };

/* --- head -------------------------------------------------------------------------------------------------- */

/* The best value, the front and what to build of it. */
function resultTiles(s, points) {
	const goal = s.goals[0],
		best = points.find((p) => p.point === s.best),
		values = points.map((p) => p.goals[0]);
	if (!points.length) return [];
	return [
		tile(
			valueText(goal.name, goal.more ? Math.max(...values) : Math.min(...values)),
			`${goal.more ? 'most' : 'least'} ${short(goal.name, 40)}`,
		),
		tile(
			num(points.filter((p) => p.front).length),
			'designs on the front',
			'that no other beats in every objective',
		),
		best
			? tile(valueText(goal.name, best.goals[0]), 'at the knee of what can be built', `design ${best.point}`)
			: null,
	];
}

function sweepTiles(s, points) {
	return el(
		'div',
		'tiles',
		tile(
			num(s.done),
			'designs simulated',
			s.asked > s.done + s.failed
				? `of ${num(s.asked)} asked for; the others are not in this file`
				: `of ${num(s.asked)} asked for`,
		),
		s.failed ? tile(num(s.failed), 'failed', 'with their reasons below') : null,
		s.constraints.length
			? tile(num(s.count), 'meet all constraints', short(s.constraints.join('; '), 80))
			: null,
		...resultTiles(s, points),
	);
}

function sweepFacts(s) {
	return facts([
		['sweep', s.name],
		['base machine', s.base],
		['workload', workloadText(s)],
		[
			'axes',
			s.axes
				? s.axes
						.map(
							(a) =>
								`${a.key} (${a.values.length === 1 ? a.values[0][0] : a.values.length + ' values'})`,
						)
						.join(', ')
				: '',
		],
		['objectives', s.goals.map((g) => (g.more ? 'most ' : 'least ') + g.name).join(', ')],
		['constraints', s.constraints.join('; ')],
		['start, fidelity', `${s.start}, ${s.fidelity}`],
		['stored as', `sweep ${s.id} in ${s.from}, by build ${s.build}`],
	]);
}

/* --- mixes ------------------------------------------------------------------------------------------------- */

/* Of each part of a mix a bar a design: rows of {design, part, us, text, t_weight}. */
function mixCard(rows, designs, id) {
	const parts = [...new Set(rows.map((r) => r.part))];
	return card(
		'The parts of the mix',
		'The time of a step of each.',
		chart(id + '-parts', {
			width: room(330, 96),
			height: { step: NARROW ? 22 : 20 },
			data: { values: rows },
			mark: { type: 'bar', height: 13 },
			encoding: {
				y: namesDown('design', designs, { labelLimit: 200 }),
				row: {
					field: 'part',
					type: 'nominal',
					sort: parts,
					header: { title: null, labelAngle: 0, labelAlign: 'left', labelOrient: 'top', labelAnchor: 'start' },
				},
				x: { field: 'us', type: 'quantitative', axis: { title: 'time (µs)', format: ',~r' } },
				color: {
					field: 'design',
					type: 'nominal',
					legend: null,
					scale: { domain: designs, range: designs.map((d, i) => color(i)) },
				},
				tooltip: tips([
					['part', 'part'],
					['t_weight', 'weight'],
					['design', 'design'],
					['text', 'time'],
				]),
			},
			spacing: 8,
		}),
	);
}

/* Of the designs to take along. */
function sweepParts(s, id) {
	const rows = [],
		names = [];
	for (const d of s.designs) {
		const design = `design ${d.point}`;
		if (names.includes(design)) continue;
		names.push(design);
		for (const p of d.parts)
			if (p.us !== null)
				rows.push({ design, part: p.name, us: p.us, text: us(p.us), t_weight: num(p.weight) });
	}
	return rows.length ? mixCard(rows, names, id) : null;
}

/* --- designs to copy --------------------------------------------------------------------------------------- */

function designCard(s, d) {
	/* In single quotes, where a shell takes nothing but a quote for itself. */
	const sets = d.settings
		.map(([key, value]) => `--set '${key}=${value}'`.replace(/[^\x20-\x7e]/g, '?'))
		.join(' ');
	const copies = el(
		'span',
		'row',
		copyButton(() => d.yaml, 'copy YAML'),
		copyButton(() => sets, 'copy --set'),
	);
	return el(
		'div',
		'card design',
		el('div', 'row', el('h3', '', `Design ${d.point}: ${d.why}`), copies),
		facts(d.settings.concat(s.goals.map((g, i) => [g.name, valueText(g.name, d.values[i])]))),
		el('details', '', el('summary', '', 'show the YAML'), el('pre', '', d.yaml)),
	);
}

/* Each design once, with all it is there for. */
function designCards(s) {
	const seen = new Map();
	for (const d of s.designs)
		if (seen.has(d.point)) seen.get(d.point).why += ', ' + d.why;
		else seen.set(d.point, Object.assign({}, d));
	return el(
		'section',
		'',
		el('h3', '', 'Designs to take along'),
		el(
			'p',
			'soft',
			`The whole machine as YAML: save it and run it with npusim run -c. Or take ${s.base} ` +
				`with the settings as --set options.`,
		),
		el('div', 'designs', ...[...seen.values()].map((d) => designCard(s, d))),
	);
}

function failuresCard(s) {
	if (!s.failures.length) return null;
	return card(
		'Designs that failed',
		s.failed > s.failures.length ? `The first ${s.failures.length} of ${num(s.failed)}.` : null,
		el(
			'div',
			'scroll',
			table(
				[{ title: 'design' }, { title: 'why', text: true }],
				s.failures.map(([p, why]) => [String(p), why || '']),
			),
		),
	);
}

/* No design to draw: what there is to say all the same. */
function showEmptySweep(s) {
	return [
		sweepTiles(s, []),
		trust(s.trust),
		el('section', 'card', sweepFacts(s)),
		card(
			'No design to draw',
			'No point of this sweep is done, meets its constraints and has a value for ' +
				'every objective.',
		),
		failuresCard(s),
	];
}

/* What is chosen in the front's picture stands out among the lines of the parallel coordinates. */
function showDesigns(s, id) {
	const points = readPoints(s);
	let lines = null;
	const choose = (chosen) => {
		if (lines)
			lines.signal(
				'chosen',
				chosen ? Object.fromEntries(chosen.map((p) => [p.point, true])) : null,
			).runAsync();
	};
	return [
		verdictBox(s),
		sweepTiles(s, points),
		trust(s.trust),
		el('section', 'card', sweepFacts(s)),
		sweepParts(s, id),
		curvesChart(s, points, id),
		frontCard(s, points, id, choose),
		parallelCard(s, points, id, (view) => {
			lines = view;
		}),
		tornadoCard(s, id),
		designCards(s),
		failuresCard(s),
	];
}

function showSweep(s, id) {
	return (s.count ? showDesigns(s, id) : showEmptySweep(s)).filter((x) => x);
}
