/* run_points.js - every op of a run as a point: under the machine's roofline, and beside what was measured. */

/* --- roofline ---------------------------------------------------------------------------------------------- */

/* How fast each op went that both computes and moves bytes. */
function rooflinePoints(ops) {
	return ops
		.filter((o) => o.us > 0 && o.flops > 0 && o.mem > 0)
		.map((o) => ({
			kind: o.kind,
			x: o.flops / o.mem,
			y: (o.flops / o.us) * 1e6,
			us: o.us,
			t_x: num(o.flops / o.mem) + ' FLOP/byte',
			t_y: rate((o.flops / o.us) * 1e6, 'FLOP/s'),
			...tipOf(o),
		}));
}

/* Whole decades around the points, up to the ridge and the highest roof. */
function rooflineFrame(points, slopes, flats) {
	const top = Math.max(...flats.map((f) => f.peak)),
		[x0, x1] = span(points.map((p) => p.x)),
		y0 = span(points.map((p) => p.y))[0];
	return {
		top,
		x0: Math.pow(10, Math.floor(Math.log10(x0 / 2))),
		x1: Math.pow(10, Math.ceil(Math.log10(Math.max(x1 * 2, (2 * top) / slopes[0].peak)))),
		y0: Math.pow(10, Math.floor(Math.log10(y0 / 1.5))),
		y1: Math.pow(10, Math.ceil(Math.log10(top * 1.5))),
		width: room(210),
		height: 420,
	};
}

/* The roofs as lines, each with a label on it. */
function roofLines(frame, slopes, flats) {
	const lines = [],
		labels = [];
	slopes.forEach((s, i) => {
		/* From the edge of the picture up to the highest roof. */
		const from = Math.max(frame.x0, frame.y0 / s.peak),
			to = frame.top / s.peak;
		lines.push(
			{ roof: s.name, dash: i, x: from, y: from * s.peak },
			{ roof: s.name, dash: i, x: to, y: frame.top },
		);
		/* Lines lie near each other: the name of a third stands farther up than the second's. */
		const at = from * Math.pow(to / from, i < 2 ? 0.22 : 0.76);
		labels.push({ x: at, y: at * s.peak, text: s.text ?? `${s.name} ${rate(s.peak, 'B/s')}`, slope: i + 1 });
	});
	flats.forEach((f) => {
		const from = f.peak / slopes[slopes.length - 1].peak;
		lines.push(
			{ roof: f.name, dash: 0, x: Math.max(from, frame.x0), y: f.peak },
			{ roof: f.name, dash: 0, x: frame.x1, y: f.peak },
		);
		labels.push({ x: frame.x1, y: f.peak, text: f.text ?? `${f.name} ${rate(f.peak, 'FLOP/s')}`, slope: 0 });
	});
	return { lines, labels };
}

function roofLayer(lines) {
	return {
		data: { values: lines },
		mark: { type: 'line', strokeWidth: 1.6, color: 'var(--ink)' },
		encoding: {
			x: { field: 'x' },
			y: { field: 'y' },
			detail: { field: 'roof' },
			strokeDash: {
				field: 'dash',
				type: 'nominal',
				legend: null,
				scale: {
					domain: [0, 1, 2],
					range: [
						[1, 0],
						[5, 4],
						[2, 3],
					],
				},
			},
		},
	};
}

/* Along their lines: the steepest bandwidth's name above, the others' below; those of the flat roofs (slope 0) on the
 * right. */
function roofNames(frame, labels, slope, slopes) {
	const { width, height, x0, x1, y0, y1 } = frame;
	const angle = (-Math.atan2(height / Math.log10(y1 / y0), width / Math.log10(x1 / x0)) * 180) / Math.PI;
	return {
		data: { values: labels.filter((l) => l.slope === slope) },
		mark: {
			type: 'text',
			align: slope ? 'center' : 'right',
			dy: slope === 1 && slopes.length > 1 ? 9 : -8,
			angle: slope ? angle : 0,
			baseline: 'middle',
			fontSize: 11,
			color: 'var(--soft)',
			clip: false,
		},
		encoding: {
			x: { field: 'x', type: 'quantitative' },
			y: { field: 'y', type: 'quantitative' },
			text: { field: 'text' },
		},
	};
}

function rooflineOps(points, scale, words) {
	return {
		data: { values: points },
		mark: { type: 'circle', opacity: 0.65 },
		encoding: {
			x: { field: 'x' },
			y: { field: 'y' },
			size: { field: 'us', type: 'quantitative', scale: { range: [25, 420] }, legend: null },
			color: {
				field: 'kind',
				type: 'nominal',
				scale,
				legend: {
					title: words,
					labelLimit: 200,
					values: scale.domain.filter((k) => points.some((p) => p.kind === k)),
				},
			},
			tooltip: tipsOf(
				points,
				OP_TIPS.concat([
					['t_x', 'intensity'],
					['t_y', 'reaches'],
				]),
			),
		},
	};
}

function rooflineWords(ops) {
	const silent = ops.filter((o) => o.us > 0 && !(o.flops > 0 && o.mem > 0));
	return (
		`Each point is an op: how much it computes for each byte it moves, and how fast it went. ${
			silent.length
				? `${num(silent.length)} ops (${us(silent.reduce((a, o) => a + o.us, 0))}) only ` +
					`move data and are not in the picture.`
				: ''
		}` +
		' Above the DRAM line an op was served by what is on chip, or ran while others were ' +
		'still running: its time is what it added to the run.' +
		' Point at one for its kernel.'
	);
}

/* `axes`: titles of both, and the legend's. */
function rooflineSpec(roofs, points, scale, axes) {
	const slopes = roofs.filter((f) => f.kind === 'bytes'),
		flats = roofs.filter((f) => f.kind === 'flops'),
		frame = rooflineFrame(points, slopes, flats),
		{ lines, labels } = roofLines(frame, slopes, flats),
		domain = (a, b) => ({ type: 'log', domain: [a, b], nice: false });
	return {
		width: frame.width,
		height: frame.height,
		encoding: {
			x: {
				type: 'quantitative',
				scale: domain(frame.x0, frame.x1),
				axis: logAxis(axes.x, { format: '~g', tickCount: 8 }),
			},
			y: { type: 'quantitative', scale: domain(frame.y0, frame.y1), axis: logAxis(axes.y, axes.format) },
		},
		layer: [
			roofLayer(lines),
			...slopes.map((f, i) => roofNames(frame, labels, i + 1, slopes)),
			roofNames(frame, labels, 0, slopes),
			rooflineOps(points, scale, axes.legend),
		],
	};
}

function rooflineChart(r, ops, id) {
	const points = rooflinePoints(ops);
	if (!points.length) return card('Roofline', 'No op of this run both computes and moves bytes.');
	if (new Set(r.roofs.map((f) => f.kind)).size < 2)
		return card('Roofline', 'The stored configuration has no peaks that this build knows.');
	return card(
		'Roofline of the run’s ops',
		rooflineWords(ops),
		chart(id + '-roofline', rooflineSpec(r.roofs, points, kindScale(r), { x: 'FLOP per byte moved', y: 'FLOP/s', legend: 'kind; size: its time' })),
	);
}

/* Kernels of a trace, by class. */
function rooflineCard(r, id) {
	return card(r.title, r.subtitle, chart(id, rooflineSpec(r.roofs, r.points, { domain: r.classes, range: r.classes.map((c, i) => color(i)) }, r.axes)));
}

/* --- against measured -------------------------------------------------------------------------------------- */

/* Lines of equal speed-up across the picture, each named where it leaves it: above, or on the right. */
function speedLines(x0, x1, y0, y1) {
	const lines = [],
		labels = [];
	for (const f of [0.1, 1, 10, 100, 1000]) {
		const from = Math.max(x0, y0 * f),
			to = Math.min(x1, y1 * f);
		if (from >= to) continue;
		lines.push({ f, x: from, y: from / f }, { f, x: to, y: to / f });
		labels.push({
			x: to,
			y: to / f,
			top: to < x1 ? 1 : 0,
			text: f === 1 ? 'as measured' : f > 1 ? `${f}× faster` : '10× slower',
		});
	}
	return { lines, labels };
}

function speedLayers({ lines, labels }) {
	const names = [0, 1].map((top) => ({
		data: { values: labels.filter((l) => l.top === top) },
		mark: {
			type: 'text',
			align: top ? 'center' : 'left',
			dx: top ? 0 : 6,
			dy: top ? -8 : 0,
			fontSize: 11,
			color: 'var(--soft)',
		},
		encoding: { x: { field: 'x' }, y: { field: 'y' }, text: { field: 'text' } },
	}));
	return [
		{
			data: { values: lines },
			mark: { type: 'line', color: 'var(--soft)', strokeWidth: 1.2 },
			encoding: {
				x: { field: 'x' },
				y: { field: 'y' },
				detail: { field: 'f' },
				strokeDash: { condition: { test: 'datum.f === 1', value: [1, 0] }, value: [4, 4] },
			},
		},
		...names,
	];
}

function scatterOps(points, scale) {
	return {
		data: { values: points },
		mark: { type: 'circle', size: 45, opacity: 0.6 },
		encoding: {
			x: { field: 'x' },
			y: { field: 'y' },
			color: { field: 'kind', type: 'nominal', scale, legend: { title: 'kind', offset: NARROW ? 4 : 90 } },
			tooltip: tipsOf(points, OP_TIPS.concat([['t_ratio', 'measured / simulated']])),
		},
	};
}

function scatterWords(r, ops) {
	const both = ops.filter((o) => o.us !== null && o.us === 0).length;
	return (
		(r.gpu
			? 'On the line an op takes as long as it was measured to take.'
			: 'Below the line this machine is faster than the GPU that was measured; launch gaps ' +
				'are in neither.') +
		(both
			? ` ${num(both)} ops take no time of their own here, being fused into others or ` +
				`views, and are left out.`
			: '')
	);
}

function scatterChart(r, ops, id) {
	const points = ops
		.filter((o) => o.us > 0 && o.measured > 0)
		.map((o) => ({ kind: o.kind, x: o.measured, y: o.us, t_ratio: times(o.measured / o.us), ...tipOf(o) }));
	if (!points.length) return null;
	const decades = (values) =>
		span(values).map((v, i) => Math.pow(10, i ? Math.ceil(Math.log10(v)) : Math.floor(Math.log10(v))));
	const [x0, x1] = decades(points.map((p) => p.x)),
		[y0, y1] = decades(points.map((p) => p.y));
	const log = (title, a, b) => ({
		type: 'quantitative',
		scale: { type: 'log', domain: [a, b], nice: false },
		axis: logAxis(title, { format: '~g' }),
	});
	return card(
		'Simulated against measured, op by op',
		scatterWords(r, ops),
		chart(id + '-scatter', {
			width: room(290, 170),
			height: 400,
			encoding: { x: log('measured on the GPU (µs)', x0, x1), y: log('simulated (µs)', y0, y1) },
			layer: [...speedLayers(speedLines(x0, x1, y0, y1)), scatterOps(points, kindScale(r))],
		}),
	);
}
