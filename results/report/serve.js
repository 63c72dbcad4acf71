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

const ms = (title) => ({ title: `${title} (ms)`, scale: 'log' });

function measuredCard(x, id) {
	const m = x.answer.measured;
	if (!m) return null;
	const shown = WAITS.filter(([key]) => m[key]);
	return card(
		'Measured beside simulated',
		shown.map(([key, name]) => `${name} ${num(m[key].mape)} % off in the mean, ${num(m[key].p50_off)} % of the medians`).join('; ') +
			'. On the line both are the same.',
		chart(
			id + '-measured',
			xySpec(
				{
					x: ms('measured'),
					y: ms('simulated'),
					diagonal: 10,
					series: shown.map(([key, label, tint]) => ({
						kind: 'points',
						label,
						color: tint,
						points: x.requests
							.filter((r) => r[key] > 0 && r['was_' + key] > 0)
							.map((r) => ({ x: r['was_' + key], y: r[key], t: `${label}: ${msText(r['was_' + key])} measured, ${msText(r[key])} simulated` })),
					})),
				},
				[['t', '']],
			),
		),
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
	const points = x.answer.curve
		.filter((p) => p.tokens_per_s_user !== null)
		.map((p) => ({
			x: p.tokens_per_s_user,
			y: p.tokens_per_s_machine,
			text: String(p.concurrency),
			t: `${num(p.tokens_per_s_user)} a user, ${num(p.tokens_per_s_machine)} of the machine`,
			t_tpot: msText(p.tpot_p99_ms),
		}));
	return card(
		'What a user gets, and what the machine makes',
		'By requests at a time. Up and to the right is better.',
		chart(
			id + '-curve',
			xySpec({ x: { title: 'tokens/s of a user', scale: 'linear' }, y: { title: 'tokens/s of the machine', scale: 'log' }, series: [{ kind: 'dotted', points }], texts: points }, [
				['text', 'at a time'],
				['t', 'tokens/s'],
				['t_tpot', 'TPOT p99'],
			]),
		),
	);
}

function saidBox(name, lines) {
	if (!lines.length) return null;
	const box = el('div', name);
	lines.forEach((line, i) => box.append(el(i === 0 ? 'b' : 'span', '', line)));
	return box;
}

/* Both ends of it. */
function curveVerdict(x) {
	const points = x.answer.curve.filter((p) => p.tokens_per_s_user !== null),
		few = points[0],
		many = points[points.length - 1],
		at = (p) => `${num(p.tokens_per_s_user)} tokens/s each, ${num(p.tokens_per_s_machine)} of the machine`;
	if (!points.length) return [];
	return [`${num(few.concurrency)} at a time: ${at(few)}`].concat(points.length > 1 ? [`${num(many.concurrency)} at a time: ${at(many)}`] : []);
}

function showServe(x, id) {
	return (
		x.answer.curve
			? [saidBox('verdict', curveVerdict(x)), curveCard(x, id)]
			: [
					saidBox('verdict', x.verdict),
					saidBox('verdict next', x.next),
					serveTiles(x.answer),
					waitsCard(x, id),
					measuredCard(x, id),
					latencyCard(x.answer),
				]
	).filter((e) => e);
}
