/* run.js - a run: its totals, time by kind of op, what it waited for, its ops under the roofline and beside the GPU. */

/* Objects of the op rows, in the order of the run; those that ran as part of another op have no time of their own. */
function opsOf(r) {
	const at = {};
	r.op_columns.forEach((name, i) => { at[name] = i; });
	return r.ops.map((o, i) => ({
		id: i, name: o[at.name], kind: o[at.kind], family: o[at.family], layer: o[at.layer], us: o[at.us],
		measured: o[at.measured_us], limit: o[at.limit_us], bound: o[at.bound], dram: o[at.dram_bytes], mem: o[at.mem_bytes],
		flops: o[at.flops],
	}));
}

/* Kinds in colours, the same for all runs of a page: those with most time first; what is beyond the palette is grey. */
const kindColors = new Map();
function kindScale(r) {
	const kinds = r.kinds.filter((k) => k.us > 0).map((k) => k.kind);
	for (const k of kinds)
		if (!kindColors.has(k))
			kindColors.set(k, color(kindColors.size));
	return { domain: kinds, range: kinds.map((k) => kindColors.get(k)) };
}

function tipOf(o) {
	return {
		t_name: short(o.name, 160), t_kind: o.kind + (o.layer >= 0 ? `, layer ${o.layer}` : ''), t_family: short(o.family, 60),
		t_us: us(o.us), t_measured: us(o.measured), t_bound: o.bound || '–', t_mem: bytes(o.mem), t_dram: bytes(o.dram),
		t_flops: rate(o.flops, 'FLOP'), t_id: String(o.id),
	};
}

const OP_TIPS = [['t_name', 'op'], ['t_id', 'number'], ['t_kind', 'kind'], ['t_family', 'kernel family'], ['t_us', 'simulated'],
	['t_measured', 'measured'], ['t_bound', 'bound by'], ['t_mem', 'moves'], ['t_dram', 'of it DRAM'], ['t_flops', 'computes']];

/* --- totals ------------------------------------------------------------------------------------------------ */

function runTiles(r) {
	const kernels = r.carried_us > 0 ? r.modelled_us : r.kernels_us;
	return el('div', 'tiles',
		tile(us(r.total_us), 'simulated', r.fidelity === 'analytic' ? 'in closed form' : null),
		tile(us(r.roofline_us), `roofline, bound by ${r.roofline_bound}`,
			r.roofline_us > 0 ? `the run is ${pct(100 * (r.total_us / r.roofline_us - 1))} above it` : null),
		r.kernels_us > 0 ? tile(us(r.kernels_us), 'measured, GPU kernels', r.total_us > 0 ? `${times(kernels / r.total_us)} the simulated time` : null) : null,
		r.wall_us !== null ? tile(us(r.wall_us), 'measured, wall', `${times(Math.max(0, r.wall_us - r.carried_us) / r.total_us)} the simulated time`) : null,
		tile(bytes(r.dram_read_bytes + r.dram_write_bytes), 'through DRAM', `${bytes(r.dram_write_bytes)} of it written`),
		r.carried_us > 0 ? tile(us(r.carried_us), 'carried', 'ops that no rule knows, at their measured time') : null);
}

function runFacts(r) {
	return facts([
		['machine', `${r.name} (${r.config}, hash ${r.hash})`],
		['workload', workloadText(r)],
		['start', r.start === 'cold' ? 'cold: the first time through, with nothing on chip' : 'steady: run once to warm up, then measured'],
		['fidelity', r.gpu ? 'a GPU’s launches in closed form, its L2 by events' : r.fidelity],
		['stored as', `run ${r.id} in ${r.from}, by build ${r.build}, seed ${r.seed}`],
	]);
}

/* --- by kind ----------------------------------------------------------------------------------------------- */

function kindsChart(r, id) {
	const measured = r.kinds.some((k) => k.measured_us > 0);
	const kinds = r.kinds.filter((k) => k.us > 0 || k.measured_us > 0)
		.sort((a, b) => Math.max(b.us, b.measured_us) - Math.max(a.us, a.measured_us) || (a.kind < b.kind ? -1 : 1));
	const rows = [];
	for (const k of kinds) {
		const common = { kind: k.kind, t_ops: num(k.ops), t_us: us(k.us), t_measured: us(k.measured_us),
			t_ratio: k.us > 0 ? times(k.measured_us / k.us) : '–' };
		if (measured)
			rows.push(Object.assign({ what: 'measured on the GPU', us: k.measured_us, text: num(k.measured_us) }, common));
		rows.push(Object.assign({ what: 'simulated', us: k.us,
			text: num(k.us) + (measured && k.us > 0 ? `  (${times(k.measured_us / k.us)})` : '') }, common));
	}
	const what = measured ? ['measured on the GPU', 'simulated'] : ['simulated'];
	return card('Time by kind of op', measured
		? 'Simulated time beside that of the same ops on the GPU that was traced; in brackets measured over simulated: above 1× this machine is the faster.'
		: 'Simulated time; the workload has no measured times.',
	chart(id + '-kinds', {
		width: WIDTH - 240, height: { step: measured ? 15 : 22 },
		data: { values: rows },
		encoding: {
			y: { field: 'kind', type: 'nominal', scale: { domain: kinds.map((k) => k.kind), paddingInner: 0.25 }, axis: { title: null, domain: false, ticks: false } },
			yOffset: { field: 'what', type: 'nominal', scale: { domain: what } },
			x: { field: 'us', type: 'quantitative', axis: { title: 'time (µs)' } },
		},
		layer: [
			{
				mark: 'bar',
				encoding: {
					color: { field: 'what', type: 'nominal', legend: { title: null, orient: 'top' },
						scale: { domain: what, range: measured ? ['var(--measured)', 'var(--simulated)'] : ['var(--simulated)'] } },
					tooltip: tips([['kind', 'kind'], ['t_ops', 'ops'], ['t_us', 'simulated'], ['t_measured', 'measured'], ['t_ratio', 'measured / simulated']]),
				},
			},
			{ mark: { type: 'text', align: 'left', dx: 4, fontSize: 11, color: 'var(--soft)' }, encoding: { text: { field: 'text' } } },
		],
	}));
}

/* --- stalls ------------------------------------------------------------------------------------------------ */

function stallsChart(r, id) {
	const order = r.resources.map((x, i) => i).filter((i) => r.resources[i].stall_us > 0)
		.sort((a, b) => r.resources[b].stall_us - r.resources[a].stall_us);
	const names = order.map((i) => r.resources[i].name);
	const kinds = r.kinds.filter((k) => k.us > 0);
	const rows = [], totals = [];
	const add = (label, total, of) => {
		let from = 0;
		for (const i of order) {
			const v = of(i);
			if (v > 0) {
				rows.push({ label, resource: r.resources[i].name, from: from / total, to: (from + v) / total,
					t_us: us(v), t_share: pct(100 * v / total) });
				from += v;
			}
		}
		totals.push({ label, text: us(total) });
	};
	if (!order.length)
		return null;
	add('all ops', r.total_us, (i) => r.resources[i].stall_us);
	for (const k of kinds)
		add(k.kind, k.us, (i) => k.stalls[i]);
	return card('What the time was waited for', 'Every picosecond of a run is put down to one resource; the shares of each kind of op, its time on the right.',
		chart(id + '-stalls', {
			width: WIDTH - 280, height: { step: 24 },
			encoding: { y: { field: 'label', type: 'nominal', scale: { domain: totals.map((t) => t.label) }, axis: { title: null, domain: false, ticks: false } } },
			layer: [
				{
					data: { values: rows },
					mark: { type: 'bar', height: 16, cornerRadiusEnd: 0, stroke: 'var(--card)', strokeWidth: 1 },
					encoding: {
						x: { field: 'from', type: 'quantitative', scale: { domain: [0, 1] }, axis: { title: 'share of the time', format: '.0%' } },
						x2: { field: 'to' },
						color: { field: 'resource', type: 'nominal', legend: { title: null, orient: 'top', columns: 12 },
							scale: { domain: names, range: names.map((n, i) => color(i)) } },
						tooltip: tips([['label', 'kind'], ['resource', 'waited for'], ['t_us', 'time'], ['t_share', 'share']]),
					},
				},
				{
					data: { values: totals },
					mark: { type: 'text', align: 'left', fontSize: 11, color: 'var(--soft)' },
					encoding: { x: { value: WIDTH - 280 + 8 }, text: { field: 'text' } },
				},
			],
		}));
}

/* --- roofline ---------------------------------------------------------------------------------------------- */

function rooflineChart(r, ops, id) {
	const points = ops.filter((o) => o.us > 0 && o.flops > 0 && o.mem > 0)
		.map((o) => Object.assign({ kind: o.kind, x: o.flops / o.mem, y: o.flops / o.us * 1e6, us: o.us,
			t_x: num(o.flops / o.mem) + ' FLOP/byte', t_y: rate(o.flops / o.us * 1e6, 'FLOP/s') }, tipOf(o)));
	const silent = ops.filter((o) => o.us > 0 && !(o.flops > 0 && o.mem > 0));
	const slopes = r.roofs.filter((f) => f.kind === 'bytes'), flats = r.roofs.filter((f) => f.kind === 'flops');
	if (!points.length || !slopes.length || !flats.length)
		return card('Roofline', points.length ? 'The stored configuration has no peaks that this build knows.'
			: 'No op of this run both computes and moves bytes.');

	const top = Math.max(...flats.map((f) => f.peak));
	let [x0, x1] = span(points.map((p) => p.x)), y0 = span(points.map((p) => p.y))[0];
	x0 = Math.pow(10, Math.floor(Math.log10(x0 / 2)));
	x1 = Math.pow(10, Math.ceil(Math.log10(Math.max(x1 * 2, 2 * top / slopes[0].peak))));
	y0 = Math.pow(10, Math.floor(Math.log10(y0 / 1.5)));
	const y1 = Math.pow(10, Math.ceil(Math.log10(top * 1.5)));
	const lines = [], labels = [];
	slopes.forEach((s, i) => {
		/* From the edge of the picture up to the highest roof. */
		const from = Math.max(x0, y0 / s.peak), to = top / s.peak;
		lines.push({ roof: s.name, dash: i, x: from, y: from * s.peak }, { roof: s.name, dash: i, x: to, y: top });
		const at = from * Math.pow(to / from, 0.22);
		labels.push({ x: at, y: at * s.peak, text: `${s.name} ${rate(s.peak, 'B/s')}`, slope: i + 1 });
	});
	flats.forEach((f) => {
		const from = f.peak / slopes[slopes.length - 1].peak;
		lines.push({ roof: f.name, dash: 0, x: Math.max(from, x0), y: f.peak }, { roof: f.name, dash: 0, x: x1, y: f.peak });
		labels.push({ x: x1, y: f.peak, text: `${f.name} ${rate(f.peak, 'FLOP/s')}`, slope: 0 });
	});
	const width = WIDTH - 210, height = 420;
	const angle = -Math.atan2(height / Math.log10(y1 / y0), width / Math.log10(x1 / x0)) * 180 / Math.PI;
	/* Along its line: the steepest bandwidth's name above, the others' below. */
	const text = (slope) => ({
		data: { values: labels.filter((l) => l.slope === slope) },
		mark: { type: 'text', align: slope ? 'center' : 'right', dy: slope === 1 && slopes.length > 1 ? 9 : -8, angle: slope ? angle : 0,
			baseline: 'middle', fontSize: 11, color: 'var(--soft)', clip: false },
		encoding: { x: { field: 'x', type: 'quantitative' }, y: { field: 'y', type: 'quantitative' }, text: { field: 'text' } },
	});
	const scale = kindScale(r);
	return card('Roofline of the run’s ops',
		`Each point is an op: how much it computes for each byte it moves, and how fast it went. ${silent.length
			? `${num(silent.length)} ops (${us(silent.reduce((a, o) => a + o.us, 0))}) only move data and are not in the picture.` : ''}`
		+ ' Above the DRAM line an op was served by what is on chip, or ran while others were still running: its time is what it added to the run.'
		+ ' Point at one for its kernel.',
		chart(id + '-roofline', {
			width, height,
			encoding: {
				x: { type: 'quantitative', scale: { type: 'log', domain: [x0, x1], nice: false }, axis: logAxis('FLOP per byte moved', { format: '~g', tickCount: 8 }) },
				y: { type: 'quantitative', scale: { type: 'log', domain: [y0, y1], nice: false }, axis: logAxis('FLOP/s') },
			},
			layer: [
				{
					data: { values: lines },
					mark: { type: 'line', strokeWidth: 1.6, color: 'var(--ink)' },
					encoding: { x: { field: 'x' }, y: { field: 'y' }, detail: { field: 'roof' },
						strokeDash: { field: 'dash', type: 'nominal', legend: null, scale: { domain: [0, 1, 2], range: [[1, 0], [5, 4], [2, 3]] } } },
				},
				text(0), ...slopes.map((f, i) => text(i + 1)),
				{
					data: { values: points },
					mark: { type: 'circle', opacity: 0.65 },
					encoding: {
						x: { field: 'x' }, y: { field: 'y' },
						size: { field: 'us', type: 'quantitative', scale: { range: [25, 420] }, legend: null },
						color: { field: 'kind', type: 'nominal', scale, legend: { title: 'kind; size: its time', values: scale.domain.filter((k) => points.some((p) => p.kind === k)) } },
						tooltip: tips(OP_TIPS.concat([['t_x', 'intensity'], ['t_y', 'reaches']])),
					},
				},
			],
		}));
}

/* --- against measured -------------------------------------------------------------------------------------- */

function scatterChart(r, ops, id) {
	const points = ops.filter((o) => o.us > 0 && o.measured > 0)
		.map((o) => Object.assign({ kind: o.kind, x: o.measured, y: o.us, t_ratio: times(o.measured / o.us) }, tipOf(o)));
	if (!points.length)
		return null;
	const decades = (values) => span(values).map((v, i) => Math.pow(10, i ? Math.ceil(Math.log10(v)) : Math.floor(Math.log10(v))));
	const [x0, x1] = decades(points.map((p) => p.x)), [y0, y1] = decades(points.map((p) => p.y));
	const lines = [], labels = [];
	for (const f of [0.1, 1, 10, 100, 1000]) {
		const from = Math.max(x0, y0 * f), to = Math.min(x1, y1 * f);
		if (from >= to)
			continue;
		lines.push({ f, x: from, y: from / f }, { f, x: to, y: to / f });
		labels.push({ x: to, y: to / f, top: to < x1 ? 1 : 0, text: f === 1 ? 'as measured' : f > 1 ? `${f}× faster` : '10× slower' });
	}
	const both = ops.filter((o) => o.us !== null && o.us === 0).length;
	const scale = kindScale(r);
	const domain = (a, b) => ({ type: 'log', domain: [a, b], nice: false });
	return card('Simulated against measured, op by op',
		(r.gpu ? 'On the line an op takes as long as it was measured to take.'
			: 'Below the line this machine is faster than the GPU that was measured; launch gaps are in neither.')
		+ (both ? ` ${num(both)} ops take no time of their own here, being fused into others or views, and are left out.` : ''),
	chart(id + '-scatter', {
		width: WIDTH - 290, height: 400,
		encoding: {
			x: { type: 'quantitative', scale: domain(x0, x1), axis: logAxis('measured on the GPU (µs)', { format: '~g' }) },
			y: { type: 'quantitative', scale: domain(y0, y1), axis: logAxis('simulated (µs)', { format: '~g' }) },
		},
		layer: [
			{ data: { values: lines }, mark: { type: 'line', color: 'var(--soft)', strokeWidth: 1.2 },
				encoding: { x: { field: 'x' }, y: { field: 'y' }, detail: { field: 'f' },
					strokeDash: { condition: { test: 'datum.f === 1', value: [1, 0] }, value: [4, 4] } } },
			...[0, 1].map((top) => ({ data: { values: labels.filter((l) => l.top === top) },
				mark: { type: 'text', align: top ? 'center' : 'left', dx: top ? 0 : 6, dy: top ? -8 : 0, fontSize: 11, color: 'var(--soft)' },
				encoding: { x: { field: 'x' }, y: { field: 'y' }, text: { field: 'text' } } })),
			{
				data: { values: points },
				mark: { type: 'circle', size: 45, opacity: 0.6 },
				encoding: {
					x: { field: 'x' }, y: { field: 'y' },
					color: { field: 'kind', type: 'nominal', scale, legend: { title: 'kind', offset: 90 } },
					tooltip: tips(OP_TIPS.concat([['t_ratio', 'measured / simulated']])),
				},
			},
		],
	}));
}

function longestOps(r, ops) {
	const top = ops.filter((o) => o.us > 0).sort((a, b) => b.us - a.us || a.id - b.id).slice(0, 15);
	const rows = top.map((o) => [String(o.id), o.name, o.kind, o.layer >= 0 ? String(o.layer) : '–', num(o.us), pct(100 * o.us / r.total_us),
		num(o.measured), o.us > 0 && o.measured > 0 ? times(o.measured / o.us) : '–', o.bound || '–']);
	const scroll = el('div', 'scroll', table([{ title: 'op' }, { title: 'name', text: true, long: true }, { title: 'kind', text: true }, { title: 'layer' },
		{ title: 'simulated µs' }, { title: 'of all' }, { title: 'measured µs' }, { title: 'ratio' }, { title: 'bound by', text: true }], rows));
	return card('Longest ops', null, scroll);
}

function carriedOps(r, ops) {
	const carried = ops.filter((o) => o.us === null).sort((a, b) => b.measured - a.measured || a.id - b.id);
	if (!carried.length)
		return null;
	return card('Ops that no rule knows', `${num(carried.length)} of them are carried along at their measured time and are in no picture`
		+ (carried.length > 15 ? '; the longest:' : ':'),
	el('div', 'scroll', table([{ title: 'op' }, { title: 'name', text: true, long: true }, { title: 'family', text: true }, { title: 'measured µs' }],
		carried.slice(0, 15).map((o) => [String(o.id), o.name, o.family, num(o.measured)]))));
}

function showRun(r, id) {
	const ops = opsOf(r);
	return [runTiles(r), trust(r.trust), el('section', 'card', runFacts(r)), kindsChart(r, id), stallsChart(r, id), rooflineChart(r, ops, id),
		scatterChart(r, ops, id), longestOps(r, ops), carriedOps(r, ops)].filter((x) => x);
}
