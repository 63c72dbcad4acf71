/* sweep_front.js - the front of the designs; what is dragged over is told to the table and to whoever asks. */

/* What the table lists; the number of rows is what a browser scrolls with ease. */
const ROWS_MAX = 300;

function designTable(s, points) {
	const axes = changing(s),
		more = s.goals[0].more;
	const columns = [{ title: 'design' }].concat(
		axes.map((i) => ({ title: s.axes[i].key, text: s.axes[i].type === 'text' })),
		s.goals.map((g) => ({ title: valueTitle(g.name) })),
		s.columns.map((name) => ({ title: valueTitle(name) })),
		[{ title: '', text: true }],
	);
	const sorted = points
		.slice()
		.sort((a, b) => (more ? b.goals[0] - a.goals[0] : a.goals[0] - b.goals[0]) || a.point - b.point)
		.slice(0, ROWS_MAX);
	return table(
		columns,
		sorted.map((p) =>
			[String(p.point)].concat(
				axes.map((i) => s.axes[i].values[p.axes[i]][0]),
				p.goals.map(num),
				p.columns.map(num),
				[p.point === s.best ? 'build this' : p.front ? 'front' : ''],
			),
		),
		sorted.map((p) => (p.point === s.best ? 'knee' : p.front ? 'front' : '')),
	);
}

/* x of the front's picture: the second objective, or the widest axis where there is but one. */
function frontX(s) {
	if (s.goals.length > 1) return { title: valueTitle(s.goals[1].name), of: (p) => p.goals[1] };
	const axis = changing(s)
		.filter((i) => s.axes[i].values.every((v) => v[1] !== null))
		.sort((a, b) => s.axes[b].values.length - s.axes[a].values.length)[0];
	if (axis === undefined) return { title: 'design', of: (p) => p.point };
	return {
		title: axisTitle(s.axes[axis]),
		of: (p) => s.axes[axis].values[p.axes[axis]][1] / unitOf(s.axes[axis])[0],
	};
}

/* Colour: a third objective in steps, or by fifths where it has many values. */
function frontColor(s, points) {
	if (s.goals.length < 3)
		return {
			of: (p) => (p.front ? 'front' : 'beaten'),
			title: null,
			scale: { domain: ['front', 'beaten'], range: ['var(--accent)', 'var(--other)'] },
		};
	const goal = s.goals[2],
		values = [...new Set(points.map((p) => p.goals[2]))].sort((a, b) => (goal.more ? b - a : a - b));
	if (values.length <= 8)
		return {
			of: (p) => num(p.goals[2]),
			title: valueTitle(goal.name),
			scale: { domain: values.map(num), range: values.map((v, i) => color(i)) },
		};
	const fifth = fifths(points, 2, goal.more);
	return { of: (p) => fifth(p.goals[2]), title: valueTitle(goal.name), scale: FIFTH_SCALE };
}

function frontRows(s, points, x, c) {
	const goal = s.goals[0];
	return points.map((p) => ({
		p: p.point,
		x: x.of(p),
		y: p.goals[0],
		c: c.of(p),
		front: p.front ? 1 : 0,
		best: p.point === s.best ? 1 : 0,
		t_settings: settingsText(s, p),
		t_y: valueText(goal.name, p.goals[0]),
		t_x: num(x.of(p)),
		t_note: p.point === s.best ? 'build this: the knee of what can be built' : p.front ? 'on the front' : '',
		t_point: String(p.point),
		t_goals: s.goals
			.slice(2)
			.map((g, i) => valueText(g.name, p.goals[i + 2]))
			.join(', '),
	}));
}

/* Of two objectives: what is on the front joined in steps. */
function frontLine(s) {
	return {
		transform: [{ filter: 'datum.front === 1' }],
		mark: {
			type: 'line',
			interpolate: s.goals[1].more ? 'step-before' : 'step-after',
			color: 'var(--accent)',
			strokeWidth: 1.2,
			opacity: 0.7,
		},
		encoding: {
			x: { field: 'x', type: 'quantitative' },
			y: { field: 'y', type: 'quantitative' },
			order: { field: 'x', type: 'quantitative' },
		},
	};
}

function frontTips(s, x) {
	const others = s.goals.slice(2).map((g) => g.name);
	return tips(
		[
			['t_point', 'design'],
			['t_settings', 'settings'],
			['t_y', s.goals[0].name],
			['t_x', x.title],
		].concat(others.length ? [['t_goals', others.join(', ')]] : [], [['t_note', '']]),
	);
}

/* The designs, over which a range can be dragged: the others lose their colour. */
function frontDots(s, rows, x, c) {
	const [x0, x1] = span(rows.map((r) => r.x)),
		[y0, y1] = span(rows.map((r) => r.y));
	const scale = (a, b) => (a > 0 && b / a >= 50 ? { type: 'log' } : { zero: false, nice: true });
	const on = (field, a, b, axis) => ({ field, type: 'quantitative', scale: scale(a, b), axis });
	return {
		params: [
			{
				name: 'brush',
				select: {
					type: 'interval',
					mark: { fill: 'var(--accent)', fillOpacity: 0.1, stroke: 'var(--accent)' },
				},
			},
		],
		mark: { type: 'circle' },
		encoding: {
			x: on('x', x0, x1, { title: x.title, format: ',~r', tickCount: 8 }),
			y: on('y', y0, y1, { title: valueTitle(s.goals[0].name), format: ',~r' }),
			color: {
				condition: {
					param: 'brush',
					field: 'c',
					type: 'nominal',
					scale: c.scale,
					legend: { title: c.title, orient: 'right', symbolOpacity: 1 },
				},
				value: 'var(--other)',
			},
			opacity: { condition: { test: 'datum.front === 1', value: 0.95 }, value: 0.4 },
			size: { condition: { test: 'datum.front === 1', value: 70 }, value: 40 },
			tooltip: frontTips(s, x),
		},
	};
}

/* A ring around what to build, the knee of what can be built of the front, and its number. */
function frontBest() {
	const at = { x: { field: 'x', type: 'quantitative' }, y: { field: 'y', type: 'quantitative' } };
	const name = {
		transform: [{ filter: 'datum.best === 1' }, { calculate: '"build: design " + datum.p + ", " + datum.t_y', as: 'label' }],
		mark: {
			type: 'text',
			align: 'left',
			dx: 12,
			dy: -12,
			fontWeight: 'bold',
			color: 'var(--mark)',
		},
		encoding: { ...at, text: { field: 'label' } },
	};
	return [
		{
			transform: [{ filter: 'datum.best === 1' }],
			mark: { type: 'point', size: 220, strokeWidth: 2, filled: false, color: 'var(--mark)' },
			encoding: at,
		},
		...haloed(name, 4),
	];
}

function frontSpec(s, points, x) {
	const c = frontColor(s, points),
		rows = frontRows(s, points, x, c);
	return {
		width: room(230),
		height: 400,
		data: { values: rows },
		layer: [].concat(
			s.goals.length === 2 ? [frontLine(s)] : [],
			[frontDots(s, rows, x, c)],
			s.best !== null ? frontBest() : [],
		),
	};
}

function frontWords(s, points) {
	const n = s.goals.length;
	return (
		(n > 2
			? 'Full points are on the front: no other design is as good in every objective and ' +
				'better in one. '
			: n === 2
				? 'The line is the front: no other design is as good in both and better in one. '
				: '') +
		(n > 1 ? `${num(points.filter((p) => p.front).length)} of ${num(s.count)} designs are on it. ` : '') +
		(points.length < s.count
			? `Drawn are ${num(points.length)} of ${num(s.count)} designs: the whole front and, of ` +
				`the others, every so many-th. `
			: '')
	);
}

/* The table of the designs that are chosen, all at first: its parts for the page, and `list` to choose. */
function chosenTable(s, points, id) {
	const count = el('p', 'soft'),
		paper = el('p', 'soft paper', points.length > 40 ? 'On paper the first 40 of them.' : ''),
		scroll = el('div', 'scroll designs-table');
	scroll.id = id + '-table';
	count.id = id + '-count';
	const list = (chosen) => {
		const shown = chosen || points;
		count.textContent =
			(chosen
				? `${num(shown.length)} of ${num(points.length)} designs chosen`
				: `All ${num(points.length)} designs`) +
			`, ${s.goals[0].more ? 'most' : 'least'} ${s.goals[0].name} first` +
			(shown.length > ROWS_MAX ? `; the first ${ROWS_MAX} are listed.` : '.');
		scroll.replaceChildren(designTable(s, shown));
	};
	list(null);
	return { parts: [count, paper, scroll], list };
}

/* The points within what is dragged over; null: nothing is. */
function within(points, x, brush) {
	if (!brush || !brush.x || !brush.y) return null;
	const inside = (v, range) => v >= Math.min(...range) && v <= Math.max(...range);
	return points.filter((p) => inside(x.of(p), brush.x) && inside(p.goals[0], brush.y));
}

function frontCard(s, points, id, onChoice) {
	const x = frontX(s),
		chosen = chosenTable(s, points, id);
	const hint = el(
		'p',
		'soft screen',
		'Drag over the picture to choose designs for the table and the lines further down; a double ' +
			'click chooses all again.',
	);
	const listen = (view) => {
		view.addSignalListener('brush', (name, value) => {
			const some = within(points, x, value);
			chosen.list(some);
			onChoice(some);
		});
	};
	return card(
		s.goals.length > 1 ? 'Front of the designs' : 'The designs',
		frontWords(s, points),
		hint,
		chart(id + '-front', frontSpec(s, points, x), listen),
		...chosen.parts,
	);
}
