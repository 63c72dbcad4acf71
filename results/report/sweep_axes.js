/* sweep_axes.js - all axes at once: parallel coordinates, and which axis moves the first objective. */

/* --- parallel coordinates ---------------------------------------------------------------------------------- */

/* One upright scale: where a point lies on it, from 0 below to 1, and what is written beside it. */
function axisScale(axis) {
	const values = axis.values,
		n = values.length;
	if (values.some((v) => v[1] === null) || n <= 1)
		return {
			at: (i) => (n > 1 ? i / (n - 1) : 0.5),
			ticks: values.map((v, i) => ({ v: n > 1 ? i / (n - 1) : 0.5, text: v[0] })),
		};
	const a = values[0][1],
		b = values[n - 1][1],
		log = a > 0 && b / a >= 32;
	const at = (i) => (log ? Math.log(values[i][1] / a) / Math.log(b / a) : (values[i][1] - a) / (b - a));
	/* Drawn from a range: places of the scale instead of values. */
	if (n > 40)
		return {
			at,
			ticks: [0, 0.25, 0.5, 0.75, 1].map((v) => ({
				v,
				text: axisText(axis, log ? a * Math.pow(b / a, v) : a + v * (b - a)),
			})),
		};
	return { at, ticks: spread(values.map((v, i) => ({ v: at(i), text: v[0] }))) };
}

/* Ticks that do not touch: ends always, others where there is room. */
function spread(ticks) {
	const kept = [ticks[0]],
		last = ticks[ticks.length - 1];
	for (const t of ticks.slice(1, -1))
		if (t.v - kept[kept.length - 1].v >= 0.055 && last.v - t.v >= 0.055) kept.push(t);
	return kept.concat([last]);
}

function goalScale(points, g) {
	const [a, b] = span(points.map((p) => p.goals[g]));
	const log = a > 0 && b / a >= 32;
	const at = (v) => (b > a ? (log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a)) : 0.5);
	const ticks =
		b > a
			? [0, 0.25, 0.5, 0.75, 1].map((v) => ({
					v,
					text: num(log ? a * Math.pow(b / a, v) : a + v * (b - a)),
				}))
			: [{ v: 0.5, text: num(a) }];
	return { at, ticks };
}

/* The upright scales in the picture's order: axes first, then objectives; `place` is where a point lies on it. */
function parallelScales(s, points) {
	const axes = changing(s).filter((i) => !s.axes[i].follows);
	/* An objective that only repeats an axis would be the same scale twice. */
	const goals = s.goals
		.map((g, i) => i)
		.filter((i) => !axes.some((a) => sameAsAxis(s, points, a, (p) => p.goals[i])));
	return axes
		.map((i) => {
			const { at, ticks } = axisScale(s.axes[i]);
			return { name: s.axes[i].key, ticks, place: (p) => at(p.axes[i]) };
		})
		.concat(
			goals.map((i) => {
				const { at, ticks } = goalScale(points, i);
				return { name: valueTitle(s.goals[i].name), ticks, place: (p) => at(p.goals[i]) };
			}),
		);
}

/* A point a scale; a design's make its line. */
function parallelRows(s, points, scales) {
	const fifth = fifths(points, 0, s.goals[0].more);
	return points.flatMap((p) => {
		const common = {
			p: p.point,
			front: p.front ? 1 : 0,
			q: fifth(p.goals[0]),
			t_settings: settingsText(s, p),
			t_goals: s.goals.map((g, i) => `${g.name} ${valueText(g.name, p.goals[i])}`).join(', '),
			t_point: String(p.point),
		};
		return scales.map((scale, k) => ({ k, v: scale.place(p), ...common }));
	});
}

/* What is chosen in the front's picture, else the front, stands out. */
function parallelLines(s, points, scales) {
	return {
		data: { values: parallelRows(s, points, scales) },
		mark: { type: 'line', strokeWidth: 1.3 },
		encoding: {
			detail: { field: 'p' },
			order: { field: 'k', type: 'quantitative' },
			color: {
				field: 'q',
				type: 'nominal',
				scale: FIFTH_SCALE,
				legend: {
					title: short(s.goals[0].name, 40),
					offset: 50,
					symbolType: 'stroke',
					symbolOpacity: 1,
					symbolStrokeWidth: 3,
				},
			},
			opacity: {
				condition: [
					{ test: 'chosen !== null && !chosen[datum.p]', value: 0.04 },
					{ test: 'chosen !== null || datum.front === 1', value: 0.9 },
				],
				value: points.length > 400 ? 0.15 : 0.3,
			},
			tooltip: tips([
				['t_point', 'design'],
				['t_settings', 'settings'],
				['t_goals', 'gives'],
			]),
		},
	};
}

/* Ticks beside the scales, over the lines. */
function parallelTicks(scales) {
	const ticks = scales.flatMap((scale, k) => scale.ticks.map((t) => ({ k, v: t.v, text: t.text })));
	return haloed(
		{
			data: { values: ticks },
			mark: { type: 'text', align: 'right', dx: -6, fontSize: 11, color: 'var(--ink)' },
			encoding: { text: { field: 'text' } },
		},
		4,
	);
}

function parallelNames(scales) {
	return {
		data: { values: scales.map((scale, k) => ({ k, v: 1, text: short(scale.name, NARROW ? 14 : 28) })) },
		transform: NARROW ? [{ calculate: 'datum.k % 2 ? -30 : -16', as: 'dy' }] : [],
		mark: { type: 'text', dy: NARROW ? { expr: 'datum.dy' } : -16, fontSize: 12, fontWeight: 'bold', color: 'var(--ink)' },
		encoding: { text: { field: 'text' } },
	};
}

function parallelSpec(s, points, scales) {
	const x = {
		field: 'k',
		type: 'quantitative',
		scale: { domain: [0, scales.length - 1], nice: false, zero: false },
		axis: null,
	};
	const y = { field: 'v', type: 'quantitative', scale: { domain: [0, 1] }, axis: null };
	return {
		width: room(230, 120),
		height: 340,
		padding: { left: 30, right: NARROW ? 40 : 10, top: NARROW ? 18 : 5, bottom: 5 },
		params: [{ name: 'chosen', value: null }],
		encoding: { x, y },
		layer: [
			{
				data: { values: scales.map((scale, k) => ({ k, v: 0, to: 1 })) },
				mark: { type: 'rule', color: 'var(--soft)', strokeWidth: 1 },
				encoding: { y2: { field: 'to' } },
			},
			parallelLines(s, points, scales),
			...parallelTicks(scales),
			parallelNames(scales),
		],
	};
}

function parallelCard(s, points, id, onView) {
	const scales = parallelScales(s, points);
	if (scales.length < 2) return null;
	return card(
		'Parallel coordinates',
		`A line is a design, through its settings and what came of them; coloured by ` +
			`${short(s.goals[0].name, 40)}. What is chosen above stands out.`,
		chart(id + '-parallel', parallelSpec(s, points, scales), onView),
	);
}

/* --- what matters ------------------------------------------------------------------------------------------ */

/* From the mean of all to the least and to the largest mean of an axis' values, each end named. */
function tornadoRows(s, single) {
	const bars = [],
		labels = [];
	for (const t of single) {
		const key = s.axes[t.a].key,
			tip = {
				key,
				t_low: `${num(t.low)} at ${t.at_low}`,
				t_high: `${num(t.high)} at ${t.at_high}`,
				t_share: pct(100 * t.share),
			};
		bars.push(
			{ from: s.mean, to: t.low, side: 'least mean', ...tip },
			{ from: s.mean, to: t.high, side: 'largest mean', ...tip },
		);
		labels.push(
			{ key, v: t.low, text: `${t.at_low}: ${num(t.low)}`, left: 1 },
			{ key, v: t.high, text: `${t.at_high}: ${num(t.high)}`, left: 0 },
		);
	}
	return { bars, labels };
}

function tornadoBars(goal, bars) {
	const [lo, hi] = span(bars.map((b) => b.to)),
		room = (hi - lo || 1) * (NARROW ? 0.75 : 0.24),
		good = ['var(--c3)', 'var(--c2)'];
	return {
		data: { values: bars },
		mark: { type: 'bar', height: 20, cornerRadiusEnd: 2 },
		encoding: {
			x: {
				field: 'from',
				type: 'quantitative',
				scale: { domain: [lo - room, hi + room], zero: false, nice: false },
				axis: { title: `mean ${valueTitle(goal.name)}`, format: ',~r', tickCount: NARROW ? 3 : 8 },
			},
			x2: { field: 'to' },
			color: {
				field: 'side',
				type: 'nominal',
				legend: { title: null, orient: 'top' },
				scale: {
					domain: ['least mean', 'largest mean'],
					range: goal.more ? good.slice().reverse() : good,
				},
			},
			tooltip: tips([
				['key', 'axis'],
				['t_low', 'least mean'],
				['t_high', 'largest mean'],
				['t_share', 'of the variance'],
			]),
		},
	};
}

function tornadoNames(labels, left) {
	return {
		data: { values: labels.filter((l) => !l.left === !left) },
		mark: { type: 'text', align: left ? 'right' : 'left', dx: left ? -6 : 6, fontSize: 11.5 },
		encoding: { x: { field: 'v', type: 'quantitative' }, text: { field: 'text' } },
	};
}

function tornadoChart(s, single, id) {
	const { bars, labels } = tornadoRows(s, single),
		y = namesDown(
			'key',
			single.map((t) => s.axes[t.a].key),
		);
	return chart(id + '-tornado', {
		width: room(240),
		height: { step: 40 },
		encoding: { y },
		layer: [
			tornadoBars(s.goals[0], bars),
			{
				data: { values: [{ v: s.mean }] },
				mark: { type: 'rule', color: 'var(--ink)', strokeWidth: 1.2 },
				encoding: { x: { field: 'v', type: 'quantitative' }, y: null },
			},
			tornadoNames(labels, true),
			tornadoNames(labels, false),
		],
	});
}

/* The largest shares of the variance, of single axes and of two together. */
function shareRows(s) {
	return s.effects
		.filter((t) => t.a === t.b || Math.abs(t.share) >= 0.001)
		.sort((a, b) => b.share - a.share)
		.slice(0, 12)
		.map((t) => ({
			key: t.a === t.b ? s.axes[t.a].key : `${s.axes[t.a].key} × ${s.axes[t.b].key}`,
			share: t.share,
			what: t.a === t.b ? 'alone' : 'two together',
			text: pct(100 * t.share),
		}));
}

function shareBars(pairs) {
	return {
		mark: { type: 'bar', height: 15 },
		encoding: {
			color: {
				field: 'what',
				type: 'nominal',
				scale: { domain: ['alone', 'two together'], range: ['var(--c1)', 'var(--c4)'] },
				legend: pairs ? { title: null, orient: 'top' } : null,
			},
			tooltip: tips([
				['key', 'axis'],
				['text', 'of the variance'],
			]),
		},
	};
}

function sharesChart(s, pairs, id) {
	const rows = shareRows(s);
	return chart(id + '-shares', {
		width: room(330, 180),
		height: { step: 26 },
		data: { values: rows },
		encoding: {
			y: namesDown(
				'key',
				rows.map((t) => t.key),
				{ labelLimit: NARROW ? 110 : 240 },
			),
			x: {
				field: 'share',
				type: 'quantitative',
				axis: { title: 'share of the variance', format: '.0%', tickCount: NARROW ? 3 : 8 },
			},
		},
		layer: [
			shareBars(pairs),
			{
				mark: { type: 'text', align: 'left', dx: 5, fontSize: 11.5 },
				encoding: { text: { field: 'text' } },
			},
		],
	});
}

function tornadoCard(s, id) {
	const goal = s.goals[0],
		single = s.effects.filter((t) => t.a === t.b),
		pairs = s.effects.length > single.length;
	if (!single.length)
		return card('What matters', 'No axis takes more than one value: there is nothing to compare.');
	return card(
		`What moves ${short(goal.name, 40)}`,
		`For each axis the values with the least and the largest mean over all that the other axes do; ` +
			`the upright line is the mean of all, ${valueText(goal.name, s.mean)}.` +
			(s.whole ? '' : ' The designs are no whole grid: shares of the variance need not add up.'),
		tornadoChart(s, single, id),
		el(
			'p',
			'soft',
			'How much of the variance each axis explains' +
				(pairs ? ', and what two explain together beyond each alone:' : ':'),
		),
		sharesChart(s, pairs, id),
	);
}
