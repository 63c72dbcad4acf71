/* serve.js - requests that were served: what people waited for, request by request, beside what was measured; and a curve of loops. */

const WAITS = [
	['ttft', 'first token', 'var(--c1)'],
	['tpot', 'each one more', 'var(--c2)'],
	['total', 'last token', 'var(--c3)'],
];
const WAIT_COLORS = {
	field: 'what',
	type: 'nominal',
	scale: { domain: WAITS.map((w) => w[1]), range: WAITS.map((w) => w[2]) },
	legend: { title: null, orient: 'top' },
};
const msText = (v) => (v === null || v === undefined ? '–' : num(v) + ' ms');

function serveTiles(a) {
	const two = (s, what) => (s ? tile(msText(s.p50), what, `one in a hundred above ${msText(s.p99)}`) : null);
	return el(
		'div',
		'tiles',
		...[
			a.max_rate !== undefined ? tile(num(a.max_rate) + '/s', 'requests, at the most', `held by ${a.held_by || 'nothing'}`) : null,
			a.tokens_per_s !== null ? tile(num(a.tokens_per_s), 'tokens/s', `${num(a.requests_per_s)} requests/s`) : null,
			two(a.ttft_ms, 'to the first token'),
			two(a.tpot_ms, 'each one more'),
			two(a.total_ms, 'to the last token'),
			a.power_w !== null ? tile(num(a.power_w) + ' W', 'in the mean', a.joules_per_token ? `${num(a.joules_per_token)} J a token` : null) : null,
		].filter((x) => x),
	);
}

/* A dot a request and wait, by when it came. */
function waitsCard(x, id) {
	const rows = x.requests.flatMap((r) =>
		WAITS.filter(([key]) => r[key] > 0).map(([key, name]) => ({
			at: r.at,
			ms: r[key],
			what: name,
			t_ms: msText(r[key]),
			t_tokens: `${num(r.prompt)} in, ${num(r.output)} out`,
		})),
	);
	return card(
		'Who waits how long',
		'Each request by when it came.' + (x.left_out ? ` ${num(x.left_out)} more are not drawn.` : ''),
		chart(id + '-waits', {
			width: room(110),
			height: NARROW ? 300 : 340,
			data: { values: rows },
			mark: { type: 'circle', size: 26, opacity: 0.7 },
			encoding: {
				x: { field: 'at', type: 'quantitative', axis: { title: 'came after (s)' } },
				y: { field: 'ms', type: 'quantitative', scale: { type: 'log' }, axis: logAxis('wait (ms)') },
				color: WAIT_COLORS,
				tooltip: tips([
					['what', ''],
					['t_ms', 'wait'],
					['t_tokens', 'tokens'],
				]),
			},
		}),
	);
}

function measuredCard(x, id) {
	const m = x.answer.measured;
	if (!m) return null;
	const rows = x.requests.flatMap((r) =>
		WAITS.filter(([key]) => r[key] > 0 && r['was_' + key] > 0).map(([key, name]) => ({
			was: r['was_' + key],
			is: r[key],
			what: name,
			t: `${msText(r['was_' + key])} measured, ${msText(r[key])} simulated`,
		})),
	);
	const [low, high] = span(rows.flatMap((r) => [r.was, r.is]));
	const at = (field, title) => ({
		field,
		type: 'quantitative',
		scale: { type: 'log', domain: [low, high] },
		axis: logAxis(title),
	});
	return card(
		'Measured beside simulated',
		WAITS.filter(([key]) => m[key])
			.map(([key, name]) => `${name} ${num(m[key].mape)} % off in the mean, ${num(m[key].p50_off)} % of the medians`)
			.join('; ') + '. On the line both are the same.',
		chart(id + '-measured', {
			width: room(110),
			height: NARROW ? 300 : 420,
			layer: [
				{
					data: { values: [{ was: low, is: low }, { was: high, is: high }] },
					mark: { type: 'line', color: 'var(--soft)', strokeWidth: 1 },
					encoding: { x: at('was', 'measured (ms)'), y: at('is', 'simulated (ms)') },
				},
				{
					data: { values: rows },
					mark: { type: 'circle', size: 30, opacity: 0.75 },
					encoding: {
						x: at('was', 'measured (ms)'),
						y: at('is', 'simulated (ms)'),
						color: WAIT_COLORS,
						tooltip: tips([
							['what', ''],
							['t', ''],
						]),
					},
				},
			],
		}),
	);
}

function latencyCard(a) {
	const rows = [
		['first token', a.ttft_ms],
		['each one more', a.tpot_ms],
		['last token', a.total_ms],
		['in the queue', a.queue_ms],
		['between tokens', a.itl_ms],
	].filter(([, s]) => s);
	return card(
		'What people wait for, ms',
		null,
		el(
			'div',
			'scroll whole',
			table(
				[{ title: '', text: true }, { title: 'requests' }].concat(
					['mean', 'p50', 'p90', 'p95', 'p99', 'max'].map((title) => ({ title })),
				),
				rows.map(([name, s]) =>
					[name, num(s.requests)].concat(['mean', 'p50', 'p90', 'p95', 'p99', 'max'].map((k) => num(s[k]))),
				),
			),
		),
	);
}

function curveCard(x, id) {
	const rows = x.answer.curve
		.filter((p) => p.tokens_per_s_user !== null)
		.map((p) => ({
			user: p.tokens_per_s_user,
			machine: p.tokens_per_s_machine,
			loop: String(p.concurrency),
			t: `${num(p.tokens_per_s_user)} a user, ${num(p.tokens_per_s_machine)} of the machine`,
			t_tpot: msText(p.tpot_p99_ms),
		}));
	const place = {
		x: { field: 'user', type: 'quantitative', scale: { zero: true }, axis: { title: 'tokens/s of a user', format: ',~r', tickCount: 8 } },
		y: { field: 'machine', type: 'quantitative', scale: { type: 'log' }, axis: logAxis('tokens/s of the machine') },
	};
	return card(
		'What a user gets, and what the machine makes',
		'By requests at a time. Up and to the right is better.',
		chart(id + '-curve', {
			width: room(110),
			height: NARROW ? 300 : 380,
			data: { values: rows },
			layer: [
				{
					mark: { type: 'line', point: true, color: 'var(--accent)' },
					encoding: {
						...place,
						order: { field: 'machine', type: 'quantitative' },
						tooltip: tips([
							['loop', 'at a time'],
							['t', 'tokens/s'],
							['t_tpot', 'TPOT p99'],
						]),
					},
				},
				...haloed({ mark: { type: 'text', align: 'left', dx: 7, dy: -5 }, encoding: { ...place, text: { field: 'loop' } } }, 3),
			],
		}),
	);
}

function showServe(x, id) {
	return (
		x.answer.curve
			? [curveCard(x, id)]
			: [serveTiles(x.answer), waitsCard(x, id), measuredCard(x, id), latencyCard(x.answer)]
	).filter((e) => e);
}
