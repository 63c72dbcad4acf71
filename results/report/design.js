/* design.js - a design: what to build and why, the way to it, what lies around it, its machine to copy. Which designs no other beats,
 * what fails and by how much is npusim's own; here it is drawn. */

/* --- head -------------------------------------------------------------------------------------------------- */

const HEAD = ['answer', 'goal', 'missed', 'price', 'sure'];

/* "Build this", what it reaches, its price, how sure that is. */
function buildBox(x) {
	const box = el('div', 'verdict');
	x.answer.explained
		.filter((s) => HEAD.includes(s.about))
		.forEach((s, i) => box.append(el(i === 0 ? 'b' : 'span', s.about === 'missed' ? 'failed' : '', s.text)));
	return box;
}

/* The other sentences, each with what it is of and what says so. */
function whyCard(x) {
	const rest = x.answer.explained.filter((s) => !HEAD.includes(s.about));
	return rest.length ? sentencesCard('Why', rest) : null;
}

/* Figures that a design has, in one order everywhere. */
const DESIGN_FIGURES = ['tokens_per_s', 'latency_us', 'max_rate', 'ttft_p99_ms', 'tpot_p99_ms', 'area_mm2', 'power_w', 'cost_usd'];
const figureNames = (x) =>
	DESIGN_FIGURES.filter((name) => x.answer[name] !== null && x.answer[name] !== undefined);
const objectiveApart = (x) => !DESIGN_FIGURES.includes(x.objective);

function designTiles(x) {
	const a = x.answer,
		name = x.objective;
	return el(
		'div',
		'tiles',
		tile(valueText(name, a.objective), `${a.maximize ? 'most' : 'least'} ${short(name, 40)}`,
			x.changed && a.base.objective !== null ? `${valueText(name, a.base.objective)} as it is` : null),
		...figureNames(x)
			.filter((f) => f !== name)
			.map((f) =>
				tile(
					valueText(f, a[f]),
					f,
					f === 'tokens_per_s' && a.low !== null && a.high > a.low
						? `${num(a.low)} to ${num(a.high)}, four times in five`
						: null,
				),
			),
		tile(num(a.evaluations), 'designs run', `of ${num(a.space)}; ${num(a.event_evaluations)} of them with events`),
	);
}

const marginText = (b) => (b.margin < 0 ? `missed by ${pct(-100 * b.margin)}` : `${pct(100 * b.margin)} to spare`);

function goalsCard(x) {
	if (!x.answer.bounds.length) return null;
	return card(
		'What was asked',
		null,
		el(
			'div',
			'scroll whole',
			table(
				[{ title: 'goal', text: true }, { title: 'this design' }, { title: '' , text: true }],
				x.answer.bounds.map((b) => [b.bound, num(b.value), marginText(b)]),
				x.answer.bounds.map((b) => (b.margin < 0 ? 'knee' : '')),
			),
		),
	);
}

/* What nobody could build or feed, of this design and of the machine as it is. */
function beyondCard(x) {
	const rows = x.answer.beyond
		.map((text) => ['this design', text])
		.concat(x.changed ? x.answer.base.beyond.map((text) => ['as it is', text]) : []);
	if (!rows.length) return null;
	const list = el('ul', 'warnings');
	rows.forEach(([whose, text]) => list.append(el('li', '', el('b', '', whose + ': '), text)));
	return card('Beyond what anybody builds', null, list);
}

/* --- rows of designs --------------------------------------------------------------------------------------- */

const heldText = (d) => (d.held ? `${d.held} ${pct(100 * d.held_share)}` : '–');
const goalText = (d) => (d.refused ? d.refused : d.meets ? 'met' : 'missed');

function figureColumns(x) {
	return (objectiveApart(x) ? [{ title: valueTitle(x.objective) }] : []).concat(
		figureNames(x).map((f) => ({ title: valueTitle(f) })),
	);
}
const figureCells = (x, d) =>
	(objectiveApart(x) ? [num(d.objective)] : []).concat(figureNames(x).map((f) => num(d[f])));

function designsCard(x) {
	const rows = [['as it is', x.answer.base]];
	if (x.changed) rows.push([x.answer.reached ? 'build this' : 'nearest', x.answer]);
	if (x.answer.runner_up && x.answer.reached) rows.push(['runner-up', x.answer.runner_up]);
	return card(
		'Beside each other',
		null,
		el(
			'div',
			'scroll whole',
			table(
				[{ title: 'design', text: true }].concat(figureColumns(x), [
					{ title: 'waits for', text: true },
					{ title: 'goal', text: true },
				]),
				rows.map(([name, d]) => [name].concat(figureCells(x, d), [heldText(d), goalText(d)])),
				rows.map(([name]) => (name === 'build this' ? 'front' : '')),
			),
		),
	);
}

/* The way: what held the design before, what was changed, what that made of it. */
function stepRows(x) {
	return x.answer.steps.map((s, i) => ({
		i,
		label: `${i + 1}  ${s.key} ${s.from} → ${s.to}`,
		y: s.objective,
		text: num(s.objective),
		met: s.meets ? 'goal met' : 'goal missed',
		t_held: s.held_before ? `${s.held_before} ${pct(100 * s.held_before_share)}` : '–',
	}));
}

function stepsCard(x, id) {
	const steps = x.answer.steps,
		base = x.answer.base;
	if (!steps.length) return null;
	const start = { i: -1, label: 'as it is', y: base.objective, text: num(base.objective), met: base.meets ? 'goal met' : 'goal missed', t_held: '–' },
		rows = (base.objective === null ? [] : [start]).concat(stepRows(x).filter((r) => r.y !== null));
	return card(
		'The way to it',
		'A change at a time, that first which brings the goal nearest; beside each what held the design before it.',
		chart(id + '-steps', {
			width: room(360, 96),
			height: { step: NARROW ? 46 : 28 },
			data: { values: rows },
			encoding: {
				y: namesDown('label', rows.map((r) => r.label), { labelLimit: 330, ...namesAbove }),
			},
			layer: [
				{
					mark: { type: 'bar', height: 16 },
					encoding: {
						x: { field: 'y', type: 'quantitative', axis: { title: valueTitle(x.objective), format: ',~r' } },
						color: {
							field: 'met',
							type: 'nominal',
							scale: { domain: ['goal met', 'goal missed'], range: ['var(--accent)', 'var(--other)'] },
							legend: { title: null, orient: 'top' },
						},
						tooltip: tips([['label', 'change'], ['t_held', 'before it waited for'], ['text', x.objective], ['met', '']]),
					},
				},
				{
					mark: { ...BESIDE_BAR },
					encoding: { x: { field: 'y', type: 'quantitative' }, text: { field: 'text' } },
				},
			],
		}),
		el(
			'div',
			'scroll whole',
			table(
				[
					{ title: 'waited for', text: true },
					{ title: 'so change', text: true },
					{ title: 'from', text: true },
					{ title: 'to', text: true },
				].concat(figureColumns(x), [{ title: 'goal', text: true }]),
				steps.map((s) =>
					[s.held_before ? `${s.held_before} ${pct(100 * s.held_before_share)}` : '–', s.key, s.from, s.to].concat(
						figureCells(x, s),
						[goalText(s)],
					),
				),
			),
		),
	);
}

/* --- what lies around it ----------------------------------------------------------------------------------- */

const ROLES = ['build this', 'runner-up', 'as it is', 'a step away, fails', 'on the front', 'beaten', 'in closed form alone'];
const ROLE_COLORS = ['var(--mark)', 'var(--c4)', 'var(--c3)', 'var(--c7)', 'var(--accent)', 'var(--soft)', 'var(--soft)'];

function roleOf(x, p) {
	const role = { best: 'build this', 'runner-up': 'runner-up', base: 'as it is', beside: 'a step away, fails' }[p.role];
	if (role) return role;
	if (p.front) return 'on the front';
	return p.by_events || x.answer.fidelity === 'analytic' ? 'beaten' : 'in closed form alone';
}

function aroundRows(x, plot) {
	return plot.points
		.map(([px, y, front, role, meets, by_events, changes]) => ({ x: px, y, front, role, meets, by_events, changes }))
		.map((p) => {
			const is = roleOf(x, p);
			return {
				x: p.x,
				y: p.y,
				front: p.front ? 1 : 0,
				is,
				big: ROLES.indexOf(is) < 4 ? 1 : 0,
				faint: ROLES.indexOf(is) === 6 ? 1 : 0,
				/* small ones first, so that what is named lies on top */
				order: -ROLES.indexOf(is),
				t_x: valueText(plot.x, p.x),
				t_y: valueText(x.objective, p.y),
				t_changes: p.changes || 'nothing changed',
				t_goal: p.meets ? 'met' : 'missed',
			};
		})
		.sort((a, b) => a.order - b.order);
}

function aroundSpec(x, plot) {
	const rows = aroundRows(x, plot),
		at = (field, axis) => ({
			field,
			type: 'quantitative',
			axis,
			scale: (([a, b]) => (a > 0 && b / a >= 50 ? { type: 'log' } : { zero: false, nice: true }))(
				span(rows.map((r) => r[field])),
			),
		}),
		used = ROLES.filter((role) => rows.some((r) => r.is === role)),
		/* of a figure that is to be more, the front falls to the left where the price is least */
		step = plot.more === !x.answer.maximize ? 'step-before' : 'step-after';
	const place = {
		x: at('x', { title: valueTitle(plot.x), format: ',~r', tickCount: 8 }),
		y: at('y', { title: valueTitle(x.objective), format: ',~r' }),
	};
	const front = {
		transform: [{ filter: 'datum.front === 1' }],
		mark: { type: 'line', interpolate: step, color: 'var(--accent)', strokeWidth: 1.2, opacity: 0.7 },
		encoding: { ...place, order: { field: 'x', type: 'quantitative' } },
	};
	const dots = {
		mark: { type: 'circle' },
		encoding: {
			...place,
			color: {
				field: 'is',
				type: 'nominal',
				scale: { domain: used, range: used.map((role) => ROLE_COLORS[ROLES.indexOf(role)]) },
				legend: { title: null, orient: NARROW ? 'top' : 'right' },
			},
			opacity: { condition: { test: 'datum.faint === 1', value: 0.45 }, value: 0.95 },
			size: { condition: { test: 'datum.big === 1', value: 110 }, value: 40 },
			tooltip: tips([
				['is', ''],
				['t_changes', 'changes'],
				['t_y', x.objective],
				['t_x', plot.x],
				['t_goal', 'goal'],
			]),
		},
	};
	return {
		width: room(250),
		height: NARROW ? 320 : 380,
		data: { values: rows },
		layer: rows.some((r) => r.front) ? [front, dots] : [dots],
	};
}

function aroundCard(x, plot, id, i) {
	return card(
		plot.bound ? `The price of ${plot.bound}` : `${x.objective} against ${plot.x}`,
		'Every design that was run. Those on the line no other beats' +
			(x.answer.bounds.length > 1 ? ' that meets the rest of the goal.' : '.'),
		chart(`${id}-around${i}`, aroundSpec(x, plot)),
	);
}

function besideCard(x) {
	const rows = x.answer.beside;
	if (!rows.length) return null;
	return card(
		'A step away, and better but for the goal',
		`Each design that differs in one axis by one value and has ${x.answer.maximize ? 'more' : 'less'} ` +
			`${short(x.objective, 40)}: by what it fails.`,
		el(
			'div',
			'scroll',
			table(
				[
					{ title: 'change', text: true },
					{ title: 'from', text: true },
					{ title: 'to', text: true },
				].concat(figureColumns(x), [{ title: 'fails', text: true, long: true }, { title: 'by' }]),
				rows.map((b) =>
					[b.key, b.from, b.to].concat(figureCells(x, b), [
						b.fails,
						b.refused ? '–' : pct(-100 * Math.min(0, ...b.bounds.map((y) => y.margin))),
					]),
				),
			),
		),
	);
}

/* The parts of a mix: each one's time on the machine as it is, this design and the runner-up. */
function partsCard(x, id) {
	const designs = [['as it is', x.answer.base]].concat(
			x.changed ? [['build this', x.answer]] : [],
			x.answer.runner_up ? [['runner-up', x.answer.runner_up]] : [],
		),
		rows = [];
	for (const [design, d] of designs)
		for (const p of d.parts)
			if (p.us !== null)
				rows.push({ design, part: p.name, us: p.us, text: us(p.us), t_weight: num(p.weight) });
	return rows.length ? mixCard(rows, designs.map(([d]) => d), id) : null;
}

/* --- the machine ------------------------------------------------------------------------------------------- */

function machineToCopy(x) {
	const sets = Object.entries(x.answer.sets)
		.filter(([key, value]) => value !== x.answer.base.sets[key])
		.map(([key, value]) => `--set '${key}=${value}'`.replace(/[^\x20-\x7e]/g, '?'))
		.join(' ');
	return el(
		'section',
		'card design',
		el(
			'div',
			'row',
			el('h3', '', 'The machine to take along'),
			el('span', 'row', copyButton(() => x.yaml, 'copy YAML'), sets ? copyButton(() => sets, 'copy --set') : null),
		),
		el(
			'p',
			'soft',
			`Save it and run it with npusim run -c. Or take ${x.machine} with the changes as --set options.`,
		),
		facts(
			Object.entries(x.answer.sets).map(([key, value]) => [
				key,
				value === x.answer.base.sets[key] ? value : `${value}, was ${x.answer.base.sets[key]}`,
			]),
		),
		el('details', '', el('summary', '', 'show the YAML'), el('pre', '', x.yaml)),
	);
}

function showDesign(x, id) {
	x.changed = Object.entries(x.answer.sets).some(([key, value]) => value !== x.answer.base.sets[key]);
	return [
		buildBox(x),
		whyCard(x),
		designTiles(x),
		goalsCard(x),
		beyondCard(x),
		designsCard(x),
		stepsCard(x, id),
		...x.plots.map((plot, i) => aroundCard(x, plot, id, i)),
		besideCard(x),
		partsCard(x, id),
		machineToCopy(x),
	].filter((e) => e);
}
