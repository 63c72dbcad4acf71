/* run.js - a run: its totals, time by kind of op, what it waited for, its longest ops; its points are run_points.js'. */

/* Objects of the op rows, in the order of the run; those that ran as part of another op have no time of their own. */
function opsOf(r) {
	const at = {};
	r.op_columns.forEach((name, i) => {
		at[name] = i;
	});
	return r.ops.map((o, i) => ({
		id: i,
		name: o[at.name],
		kind: o[at.kind],
		family: o[at.family],
		layer: o[at.layer],
		us: o[at.us],
		measured: o[at.measured_us],
		limit: o[at.limit_us],
		bound: o[at.bound],
		dram: o[at.dram_bytes],
		mem: o[at.mem_bytes],
		flops: o[at.flops],
		share: o[at.bound_share],
		mfu: o[at.mfu],
		bandwidth: o[at.bandwidth_use],
	}));
}

/* Kinds in colours, the same for all runs of a page: those with most time first; what is beyond the palette is grey. */
const kindColors = new Map();
function kindScale(r) {
	const kinds = r.kinds.filter((k) => k.us > 0).map((k) => k.kind);
	for (const k of kinds) if (!kindColors.has(k)) kindColors.set(k, color(kindColors.size));
	return { domain: kinds, range: kinds.map((k) => kindColors.get(k)) };
}

const share = (x) => (x === null ? '–' : pct(100 * x));

/* What most of its time was waited for, and how much of it; of an op without time, what it would need. */
function boundText(o) {
	if (!o.bound) return '–';
	return o.us > 0 ? `${o.bound} ${pct(100 * o.share)}` : o.bound;
}

function tipOf(o) {
	return {
		t_name: short(o.name, 160),
		t_kind: o.kind + (o.layer >= 0 ? `, layer ${o.layer}` : ''),
		t_family: short(o.family, 60),
		t_us: us(o.us),
		t_measured: us(o.measured),
		t_bound: boundText(o),
		t_use: `${share(o.mfu)} of multiply-adds, ${share(o.bandwidth)} of DRAM`,
		t_mem: bytes(o.mem),
		t_dram: bytes(o.dram),
		t_flops: rate(o.flops, 'FLOP'),
		t_id: String(o.id),
	};
}

const OP_TIPS = [
	['t_name', 'op'],
	['t_id', 'number'],
	['t_kind', 'kind'],
	['t_family', 'kernel family'],
	['t_us', 'simulated'],
	['t_measured', 'measured'],
	['t_bound', 'bound by'],
	['t_use', 'uses'],
	['t_mem', 'moves'],
	['t_dram', 'of it DRAM'],
	['t_flops', 'computes'],
];

/* --- totals ------------------------------------------------------------------------------------------------ */

/* Times of the GPU that was traced, where they are known, beside the simulated one. */
function measuredTiles(r) {
	/* With what is carried along, as measured. */
	const whole = r.total_us + r.carried_us,
		ratio = (measured) => (r.total_us > 0 ? times(measured / whole) : '–');
	return [
		r.kernels_us > 0
			? tile(
					us(r.kernels_us),
					'measured, GPU kernels',
					`${ratio(r.kernels_us)} the simulated time; with copies and sets ${us(r.measured_us)}, ${ratio(r.measured_us)}`,
				)
			: null,
		r.fused_us !== null
			? tile(
					us(r.fused_us),
					r.kernels_us > 0 ? 'that GPU fused and graphed, simulated' : 'an H200 fused and graphed, simulated',
					`${ratio(r.fused_us + r.carried_us)} the simulated time`,
				)
			: null,
		r.wall_us !== null
			? tile(
					us(r.wall_us),
					'measured, wall',
					`${ratio(r.wall_us)} the simulated time`,
				)
			: null,
	];
}

function runTiles(r) {
	return el(
		'div',
		'tiles',
		tile(us(r.total_us), 'simulated', r.fidelity === 'analytic' ? 'in closed form' : null),
		tile(
			us(r.roofline_us),
			`roofline, bound by ${r.roofline_bound}`,
			r.roofline_us > 0
				? `the run is ${pct(100 * (r.total_us / r.roofline_us - 1))} above it` +
						(r.mapped_us === null ? '' : `; as mapped ${us(r.mapped_us)}`)
				: null,
		),
		r.mfu === null
			? null
			: tile(pct(100 * r.mfu), 'MFU', 'multiply-adds, of the fastest unit’s peak for their formats'),
		r.bandwidth_use === null
			? null
			: tile(pct(100 * r.bandwidth_use), 'bandwidth use', 'DRAM’s bytes, of the peak of its pins'),
		...measuredTiles(r),
		tile(
			bytes(r.dram_read_bytes + r.dram_write_bytes),
			'through DRAM',
			`${bytes(r.dram_write_bytes)} of it written`,
		),
		r.carried_us > 0
			? tile(us(r.carried_us), 'carried', 'ops that no rule knows, at their measured time')
			: null,
	);
}

function runFacts(r) {
	return facts([
		['machine', `${r.name} (${r.config}, hash ${r.hash})`],
		['workload', workloadText(r)],
		[
			'start',
			r.start === 'cold'
				? 'cold: the first time through, with nothing on chip'
				: 'steady: run once to warm up, then measured',
		],
		['fidelity', r.gpu ? 'a GPU’s launches in closed form, its L2 by events' : r.fidelity],
		['stored as', `run ${r.id} in ${r.from}, by build ${r.build}, seed ${r.seed}`],
	]);
}

/* --- by kind ----------------------------------------------------------------------------------------------- */

/* Kinds that take time here or took it on the GPU, the longest first. */
function kindsWithTime(r) {
	return r.kinds
		.filter((k) => k.us > 0 || k.measured_us > 0)
		.sort(
			(a, b) =>
				Math.max(b.us, b.measured_us) - Math.max(a.us, a.measured_us) ||
				(a.kind < b.kind ? -1 : 1),
		);
}

const KIND_TIPS = [
	['name', 'kind'],
	['t_ops', 'ops'],
	['t_us', 'simulated'],
	['t_measured', 'measured'],
	['t_ratio', 'measured / simulated'],
];

/* A bar a kind, and one above it where the workload was measured. */
function kindsChart(r, id) {
	const measured = r.kinds.some((k) => k.measured_us > 0),
		kinds = kindsWithTime(r),
		bar = (k, y, time, ratio) => ({
			x: time,
			y,
			note: num(time) + ratio,
			t_ops: num(k.ops),
			t_us: us(k.us),
			t_measured: us(k.measured_us),
			t_ratio: k.us > 0 ? times(k.measured_us / k.us) : '–',
		}),
		simulated = {
			kind: 'bars',
			label: 'simulated',
			color: 'var(--simulated)',
			points: kinds.map((k, i) => bar(k, i, k.us, measured && k.us > 0 && !NARROW ? `  (${times(k.measured_us / k.us)})` : '')),
		},
		was = { kind: 'bars', label: 'measured on the GPU', color: 'var(--measured)', points: kinds.map((k, i) => bar(k, i, k.measured_us, '')) };
	return card(
		'Time by kind of op',
		measured
			? 'Simulated time beside that of the same ops on the GPU that was traced; in brackets ' +
					'measured over simulated: above 1× this machine is the faster.'
			: 'Simulated time; the workload has no measured times.',
		chart(id + '-kinds', barsSpec({ x: { title: 'time (µs)' }, categories: kinds.map((k) => k.kind), series: measured ? [was, simulated] : [simulated] }, KIND_TIPS)),
	);
}

/* --- stalls ------------------------------------------------------------------------------------------------ */

/* The parts of one bar that fills the width: what `total` was waited for, by the resources of `order`. */
function stallParts(r, order, label, total, of) {
	const parts = [];
	let from = 0;
	for (const i of order) {
		const v = of(i);
		if (v > 0) {
			parts.push({
				label,
				resource: r.resources[i].name,
				from: from / total,
				to: (from + v) / total,
				t_us: us(v),
				t_share: pct((100 * v) / total),
			});
			from += v;
		}
	}
	return parts;
}

function stallBars(rows, names) {
	return {
		data: { values: rows },
		mark: { type: 'bar', height: 16, cornerRadiusEnd: 0, stroke: 'var(--card)', strokeWidth: 1 },
		encoding: {
			x: {
				field: 'from',
				type: 'quantitative',
				scale: { domain: [0, 1] },
				axis: { title: 'share of the time', format: '.0%' },
			},
			x2: { field: 'to' },
			color: {
				field: 'resource',
				type: 'nominal',
				legend: { title: null, orient: 'top', columns: NARROW ? 3 : PAIRS ? 6 : 12 },
				scale: { domain: names, range: names.map((n, i) => color(i)) },
			},
			tooltip: tips([
				['label', 'kind'],
				['resource', 'waited for'],
				['t_us', 'time'],
				['t_share', 'share'],
			]),
		},
	};
}

/* Resources that anything waited for, the longest first. */
function stallOrder(r) {
	return r.resources
		.map((x, i) => i)
		.filter((i) => r.resources[i].stall_us > 0)
		.sort((a, b) => r.resources[b].stall_us - r.resources[a].stall_us);
}

function stallsChart(r, id) {
	const order = stallOrder(r),
		kinds = r.kinds.filter((k) => k.us > 0);
	if (!order.length) return null;
	const rows = stallParts(r, order, 'all ops', r.total_us, (i) => r.resources[i].stall_us).concat(
		...kinds.map((k) => stallParts(r, order, k.kind, k.us, (i) => k.stalls[i])),
	);
	const totals = [{ label: 'all ops', text: us(r.total_us) }].concat(
		kinds.map((k) => ({ label: k.kind, text: us(k.us) })),
	);
	return card(
		'What the time was waited for',
		'Every picosecond of a run is put down to one resource; the shares of each kind of op, its time ' +
			'on the right.',
		chart(id + '-stalls', {
			width: room(280, 150),
			height: { step: 24 },
			encoding: {
				y: namesDown(
					'label',
					totals.map((t) => t.label),
				),
			},
			layer: [
				stallBars(
					rows,
					order.map((i) => r.resources[i].name),
				),
				{
					data: { values: totals },
					mark: { type: 'text', align: 'left', fontSize: 11, color: 'var(--soft)' },
					encoding: { x: { value: room(280, 150) + 8 }, text: { field: 'text' } },
				},
			],
		}),
	);
}

/* --- energy ------------------------------------------------------------------------------------------------ */

const joules = (uj) => (uj >= 1e6 ? num(uj / 1e6) + ' J' : uj >= 1e3 ? num(uj / 1e3) + ' mJ' : num(uj) + ' µJ');

/* Blocks, the largest first, each with its parts as text. */
function energyBlocks(r) {
	const all = r.energy.reduce((sum, x) => sum + x.uj, 0),
		names = [...new Set(r.energy.map((x) => x.block))];
	return names
		.map((block) => {
			const parts = r.energy.filter((x) => x.block === block).sort((a, b) => b.uj - a.uj),
				uj = parts.reduce((sum, x) => sum + x.uj, 0);
			return {
				block,
				uj,
				text: `${joules(uj)}, ${pct((100 * uj) / all)}`,
				t_watts: `${num(uj / r.total_us)} W`,
				t_parts: parts.map((x) => `${x.name} ${joules(x.uj)}`).join(', '),
			};
		})
		.sort((a, b) => b.uj - a.uj);
}

function energyChart(r, id) {
	if (!r.energy.length) return null;
	const rows = energyBlocks(r),
		all = rows.reduce((sum, x) => sum + x.uj, 0),
		[per, unit] = rows[0].uj >= 1e6 ? [1e6, 'J'] : rows[0].uj >= 1e3 ? [1e3, 'mJ'] : [1, 'µJ'];
	rows.forEach((x) => (x.shown = x.uj / per));
	return card(
		'Where the energy went',
		`${joules(all)}, ${num(all / r.total_us)} W in the mean, by block; what each did is in the tooltip.`,
		chart(id + '-energy', {
			width: room(280, 150),
			height: { step: 20 },
			data: { values: rows },
			encoding: {
				y: namesDown(
					'block',
					rows.map((x) => x.block),
				),
			},
			layer: [
				{
					mark: { type: 'bar', color: 'var(--simulated)' },
					encoding: {
						x: { field: 'shown', type: 'quantitative', axis: { title: `energy (${unit})`, tickCount: NARROW ? 3 : 6 } },
						tooltip: tips([
							['block', 'block'],
							['text', 'energy'],
							['t_watts', 'power'],
							['t_parts', 'parts'],
						]),
					},
				},
				{
					mark: BESIDE_BAR,
					encoding: { x: { field: 'shown', type: 'quantitative' }, text: { field: 'text' } },
				},
			],
		}),
	);
}

/* --- limits ------------------------------------------------------------------------------------------------ */

const gainText = (x) => (x.gain === null ? '–' : `${(100 * x.gain).toFixed(2)} %`);
const byText = (x) => (x.gain === null ? '–' : `${x.by === 'analytic' ? 'closed form' : 'events'}${x.within_error ? ', within error' : ''}`);

/* A choice or a part has several rows: its value tells them apart. */
const limitName = (r, x) => (r.limits.rows.some((y) => y !== x && y.key === x.key) || x.move !== 'more' ? `${x.key} ${x.then}` : x.key);

/* What surely saves time, all moves together; gains too small to see or to tell are in the table only. */
function limitRows(r) {
	return r.limits.rows
		.filter((x) => x.move !== 'less' && x.gain !== null && !x.within_error && Math.abs(x.gain) >= 5e-4)
		.sort((a, b) => b.gain - a.gain)
		.map((x) => ({
			key: limitName(r, x),
			gain: x.gain,
			at: Math.max(x.gain, 0),
			text: gainText(x),
			t_now: x.now,
			t_then: x.then,
			t_us: us(x.us),
			t_by: byText(x),
			t_step: x.step ? pct(100 * x.step) : '–',
		}));
}

function limitBars(rows, per, id) {
	return chart(id + '-limits', {
		width: room(330, 190),
		height: { step: 20 },
		data: { values: rows },
		encoding: {
			y: namesDown(
				'key',
				rows.map((x) => x.key),
			),
		},
		layer: [
			{
				mark: { type: 'bar', color: 'var(--simulated)' },
				encoding: {
					x: {
						field: 'gain',
						type: 'quantitative',
						axis: { title: 'time saved', format: '.1%' },
					},
					tooltip: tips([
						['key', 'parameter'],
						['t_now', 'from'],
						['t_then', 'to'],
						['t_step', 'step'],
						['t_us', 'time'],
						['text', `saved per ${per}`],
						['t_by', 'judged by'],
					]),
				},
			},
			{
				mark: BESIDE_BAR,
				encoding: { x: { field: 'at', type: 'quantitative' }, text: { field: 'text' } },
			},
		],
	});
}

function limitTable(r, per) {
	return table(
		[
			{ title: 'move', text: true },
			{ title: 'parameter', text: true },
			{ title: 'now' },
			{ title: 'then' },
			{ title: 'step' },
			{ title: 'time µs' },
			{ title: per === '100 %' ? 'saved' : `saved per ${per}` },
			{ title: 'judged by', text: true },
			{ title: 'note', text: true, long: true },
		],
		r.limits.rows.map((x) => [
			x.move,
			x.key,
			x.now,
			x.then,
			x.step ? pct(100 * x.step) : '–',
			x.us === null ? '–' : num(x.us),
			gainText(x),
			byText(x),
			x.refused || '',
		]),
	);
}

function limitsChart(r, id) {
	if (!r.limits) return null;
	const per = pct(100 * r.limits.per),
		rows = limitRows(r);
	return card(
		'What more of each part buys, and what less costs',
		'The same run with one thing changed: how much of the time that saves, against the same design by the fidelity that judged it. ' +
			`Amounts are moved both ways, scaled to ${per} (of a latency: less is more); choices, parts and pairs are as they stand.`,
		rows.length ? limitBars(rows, per, id) : null,
		el('div', 'scroll', limitTable(r, per)),
	);
}

/* --- longest ops ------------------------------------------------------------------------------------------- */

function longestOps(r, ops) {
	const columns = [
		{ title: 'op' },
		{ title: 'name', text: true, long: true },
		{ title: 'kind', text: true },
		{ title: 'layer' },
		{ title: 'simulated µs' },
		{ title: 'of all' },
		{ title: 'measured µs' },
		{ title: 'ratio' },
		{ title: 'bound by', text: true },
	];
	const rows = ops
		.filter((o) => o.us > 0)
		.sort((a, b) => b.us - a.us || a.id - b.id)
		.slice(0, 15)
		.map((o) => [
			String(o.id),
			o.name,
			o.kind,
			o.layer >= 0 ? String(o.layer) : '–',
			num(o.us),
			pct((100 * o.us) / r.total_us),
			num(o.measured),
			o.us > 0 && o.measured > 0 ? times(o.measured / o.us) : '–',
			boundText(o),
		]);
	return card('Longest ops', null, el('div', 'scroll', table(columns, rows)));
}

function carriedOps(r, ops) {
	const carried = ops.filter((o) => o.us === null).sort((a, b) => b.measured - a.measured || a.id - b.id);
	if (!carried.length) return null;
	return card(
		'Ops that no rule knows',
		`${num(carried.length)} of them are carried along at their measured time and are in no picture` +
			(carried.length > 15 ? '; the longest:' : ':'),
		el(
			'div',
			'scroll',
			table(
				[
					{ title: 'op' },
					{ title: 'name', text: true, long: true },
					{ title: 'family', text: true },
					{ title: 'measured µs' },
				],
				carried.slice(0, 15).map((o) => [String(o.id), o.name, o.family, num(o.measured)]),
			),
		),
	);
}

/* What the machine cannot do as it is written, and what the run did not use. */
function warningsCard(r) {
	if (!r.warnings.length) return null;
	const list = el('ul', 'warnings');
	r.warnings.forEach((w) => list.append(el('li', null, w)));
	return card('Warnings', null, list);
}

/* What a person repeats of it. */
function verdictBox(r) {
	if (!r.verdict.length) return null;
	const box = el('div', 'verdict');
	r.verdict.forEach((line, i) => box.append(el(i === 0 ? 'b' : 'span', '', line)));
	return box;
}

/* What to change, with its price and how sure that is. */
function nextBox(r) {
	if (!r.next.length) return null;
	const box = el('div', 'verdict next');
	r.next.forEach((text, i) => box.append(el(i === 0 ? 'b' : 'span', '', (i === 0 ? 'next: ' : 'or: ') + text)));
	box.append(el('small', '', 'By a quick look in closed form; in brackets what it saves four times in five, of two machines of one family.'));
	return box;
}

/* The same in sentences; below each what it is of and where its constant is from. */
function sentencesCard(title, sentences) {
	const list = el('ol', 'explained');
	sentences.forEach((x) => list.append(el('li', '', x.text, el('small', '', `${x.where}; ${x.source}`))));
	return card(title, null, list);
}

const explainedCard = (r) => (r.explained.length ? sentencesCard('Why, in sentences', r.explained) : null);

/* The machine in a few rows. */
function machineCard(r) {
	if (!r.machine.length) return null;
	return card('The machine', null, facts(r.machine));
}

/* Where the page can simulate. */
function liveSection() {
	if (!document.getElementById('module')) return null;
	const at = el('div');
	drawing.push(library.then(() => showLive(at)));
	return at;
}

function showRun(r, id) {
	const ops = opsOf(r);
	return [
		verdictBox(r),
		nextBox(r),
		explainedCard(r),
		liveSection(),
		runTiles(r),
		warningsCard(r),
		trust(r.trust),
		el('section', 'card', runFacts(r)),
		machineCard(r),
		kindsChart(r, id),
		stallsChart(r, id),
		energyChart(r, id),
		limitsChart(r, id),
		rooflineChart(r, ops, id),
		scatterChart(r, ops, id),
		longestOps(r, ops),
		carriedOps(r, ops),
	].filter((x) => x);
}
