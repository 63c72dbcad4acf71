/* run_points.js - every op of a run as a point: under the machine's roofline, and beside what was measured. */

/* --- roofline ---------------------------------------------------------------------------------------------- */

function rooflineChart(r, ops, id) {
	const points = ops
		.filter((o) => o.us > 0 && o.flops > 0 && o.mem > 0)
		.map((o) =>
			Object.assign(
				{
					kind: o.kind,
					x: o.flops / o.mem,
					y: (o.flops / o.us) * 1e6,
					us: o.us,
					t_x: num(o.flops / o.mem) + ' FLOP/byte',
					t_y: rate((o.flops / o.us) * 1e6, 'FLOP/s'),
				},
				tipOf(o),
			),
		);
	const silent = ops.filter((o) => o.us > 0 && !(o.flops > 0 && o.mem > 0));
	const slopes = r.roofs.filter((f) => f.kind === 'bytes'),
		flats = r.roofs.filter((f) => f.kind === 'flops');
	if (!points.length || !slopes.length || !flats.length)
		return card(
			'Roofline',
			points.length
				? 'The stored configuration has no peaks that this build knows.'
				: 'No op of this run both computes and moves bytes.',
		);

	const top = Math.max(...flats.map((f) => f.peak));
	let [x0, x1] = span(points.map((p) => p.x)),
		y0 = span(points.map((p) => p.y))[0];
	x0 = Math.pow(10, Math.floor(Math.log10(x0 / 2)));
	x1 = Math.pow(10, Math.ceil(Math.log10(Math.max(x1 * 2, (2 * top) / slopes[0].peak))));
	y0 = Math.pow(10, Math.floor(Math.log10(y0 / 1.5)));
	const y1 = Math.pow(10, Math.ceil(Math.log10(top * 1.5)));
	const lines = [],
		labels = [];
	slopes.forEach((s, i) => {
		/* From the edge of the picture up to the highest roof. */
		const from = Math.max(x0, y0 / s.peak),
			to = top / s.peak;
		lines.push(
			{ roof: s.name, dash: i, x: from, y: from * s.peak },
			{ roof: s.name, dash: i, x: to, y: top },
		);
		const at = from * Math.pow(to / from, 0.22);
		labels.push({ x: at, y: at * s.peak, text: `${s.name} ${rate(s.peak, 'B/s')}`, slope: i + 1 });
	});
	flats.forEach((f) => {
		const from = f.peak / slopes[slopes.length - 1].peak;
		lines.push(
			{ roof: f.name, dash: 0, x: Math.max(from, x0), y: f.peak },
			{ roof: f.name, dash: 0, x: x1, y: f.peak },
		);
		labels.push({ x: x1, y: f.peak, text: `${f.name} ${rate(f.peak, 'FLOP/s')}`, slope: 0 });
	});
	const width = WIDTH - 210,
		height = 420;
	const angle = (-Math.atan2(height / Math.log10(y1 / y0), width / Math.log10(x1 / x0)) * 180) / Math.PI;
	/* Along its line: the steepest bandwidth's name above, the others' below. */
	const text = (slope) => ({
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
	});
	const scale = kindScale(r);
	return card(
		'Roofline of the run’s ops',
		`Each point is an op: how much it computes for each byte it moves, and how fast it went. ${
			silent.length
				? `${num(silent.length)} ops (${us(silent.reduce((a, o) => a + o.us, 0))}) only ` +
					`move data and are not in the picture.`
				: ''
		}` +
			' Above the DRAM line an op was served by what is on chip, or ran while others were ' +
			'still running: its time is what it added to the run.' +
			' Point at one for its kernel.',
		chart(id + '-roofline', {
			width,
			height,
			encoding: {
				x: {
					type: 'quantitative',
					scale: { type: 'log', domain: [x0, x1], nice: false },
					axis: logAxis('FLOP per byte moved', { format: '~g', tickCount: 8 }),
				},
				y: {
					type: 'quantitative',
					scale: { type: 'log', domain: [y0, y1], nice: false },
					axis: logAxis('FLOP/s'),
				},
			},
			layer: [
				{
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
				},
				text(0),
				...slopes.map((f, i) => text(i + 1)),
				{
					data: { values: points },
					mark: { type: 'circle', opacity: 0.65 },
					encoding: {
						x: { field: 'x' },
						y: { field: 'y' },
						size: {
							field: 'us',
							type: 'quantitative',
							scale: { range: [25, 420] },
							legend: null,
						},
						color: {
							field: 'kind',
							type: 'nominal',
							scale,
							legend: {
								title: 'kind; size: its time',
								values: scale.domain.filter((k) =>
									points.some((p) => p.kind === k),
								),
							},
						},
						tooltip: tips(
							OP_TIPS.concat([
								['t_x', 'intensity'],
								['t_y', 'reaches'],
							]),
						),
					},
				},
			],
		}),
	);
}

/* --- against measured -------------------------------------------------------------------------------------- */

function scatterChart(r, ops, id) {
	const points = ops
		.filter((o) => o.us > 0 && o.measured > 0)
		.map((o) =>
			Object.assign(
				{ kind: o.kind, x: o.measured, y: o.us, t_ratio: times(o.measured / o.us) },
				tipOf(o),
			),
		);
	if (!points.length) return null;
	const decades = (values) =>
		span(values).map((v, i) => Math.pow(10, i ? Math.ceil(Math.log10(v)) : Math.floor(Math.log10(v))));
	const [x0, x1] = decades(points.map((p) => p.x)),
		[y0, y1] = decades(points.map((p) => p.y));
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
	const both = ops.filter((o) => o.us !== null && o.us === 0).length;
	const scale = kindScale(r);
	const domain = (a, b) => ({ type: 'log', domain: [a, b], nice: false });
	return card(
		'Simulated against measured, op by op',
		(r.gpu
			? 'On the line an op takes as long as it was measured to take.'
			: 'Below the line this machine is faster than the GPU that was measured; launch gaps ' +
				'are in neither.') +
			(both
				? ` ${num(both)} ops take no time of their own here, being fused into others or ` +
					`views, and are left out.`
				: ''),
		chart(id + '-scatter', {
			width: WIDTH - 290,
			height: 400,
			encoding: {
				x: {
					type: 'quantitative',
					scale: domain(x0, x1),
					axis: logAxis('measured on the GPU (µs)', { format: '~g' }),
				},
				y: {
					type: 'quantitative',
					scale: domain(y0, y1),
					axis: logAxis('simulated (µs)', { format: '~g' }),
				},
			},
			layer: [
				{
					data: { values: lines },
					mark: { type: 'line', color: 'var(--soft)', strokeWidth: 1.2 },
					encoding: {
						x: { field: 'x' },
						y: { field: 'y' },
						detail: { field: 'f' },
						strokeDash: {
							condition: { test: 'datum.f === 1', value: [1, 0] },
							value: [4, 4],
						},
					},
				},
				...[0, 1].map((top) => ({
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
				})),
				{
					data: { values: points },
					mark: { type: 'circle', size: 45, opacity: 0.6 },
					encoding: {
						x: { field: 'x' },
						y: { field: 'y' },
						color: {
							field: 'kind',
							type: 'nominal',
							scale,
							legend: { title: 'kind', offset: 90 },
						},
						tooltip: tips(OP_TIPS.concat([['t_ratio', 'measured / simulated']])),
					},
				},
			],
		}),
	);
}
