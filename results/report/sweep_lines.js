/* sweep_lines.js - a grid as lines over one of its axes: the knee of each in the picture, in words and in a table. */

/* "at 1.125 GiB"; "between 640 MiB and 1.125 GiB, whatever the channels"; each where the lines are no numbers. */
function kneeWhere(s, lines, byText) {
	const c = s.curves,
		at = lines.map((l) => l.xy[l.knee]).sort((a, b) => a[1] - b[1]);
	const mark = (text) => el('span', 'knee', text);
	if (c.by === null) return [mark(`at ${at[0][0]}`)];
	if (lines.length === 1) return [mark(`at ${at[0][0]}`), ` with ${s.axes[c.by].key} ${byText(lines[0].by)}`];
	if (s.axes[c.by].values.some((v) => v[1] === null))
		return lines.flatMap((l, i) => [i ? ', ' : '', mark(`at ${l.xy[l.knee][0]}`), ` with ${l.by}`]);
	const range =
		at[0][0] === at[at.length - 1][0]
			? `at ${at[0][0]}`
			: `between ${at[0][0]} and ${at[at.length - 1][0]}`;
	return [mark(range), `, whatever the ${s.axes[c.by].key}`];
}

function kneeWords(s, byText) {
	const c = s.curves,
		x = s.axes[c.x].key,
		goal = short(s.goals[0].name, 40);
	const p = el('p', '');
	for (const panel of new Set(c.lines.map((l) => l.panel))) {
		const lines = c.lines.filter((l) => l.panel === panel && l.knee !== null);
		if (!lines.length) continue;
		const saved = lines
			.map((l) => ({ by: l.by, v: 100 * Math.abs(1 - l.xy[l.knee][2] / l.xy[0][2]) }))
			.sort((a, b) => b.v - a.v);
		const most = saved[0],
			least = saved[saved.length - 1];
		p.append(
			panel === null
				? `The knee of ${x} lies `
				: `With ${s.axes[c.panel].key} ${panel} the knee of ${x} lies `,
			...kneeWhere(s, lines, byText),
			`: ${goal} is there ${pct(most.v)} better than at the smallest ${x}`,
			saved.length > 1
				? ` with ${s.axes[c.by].key} ${byText(most.by)}, ${pct(least.v)} with ` +
						`${byText(least.by)}. `
				: '. ',
		);
	}
	const none = c.lines.filter((l) => l.knee === null).length;
	if (none === c.lines.length)
		p.append(`${goal} gains nothing of ${x} along any of these lines, or gains evenly: there is no knee.`);
	else if (none) p.append(`${none} of ${c.lines.length} lines have none.`);
	return p;
}

/* Which line's smallest x is as good as this line's knee: what x saves of the other axis. */
function sameAs(s, line) {
	const more = s.goals[0].more,
		y = line.xy[line.knee][2];
	const others = s.curves.lines.filter(
		(l) => l.panel === line.panel && l.by !== line.by && (more ? l.xy[0][2] >= y : l.xy[0][2] <= y),
	);
	if (!others.length) return null;
	return others.reduce((a, b) => ((more ? b.xy[0][2] < a.xy[0][2] : b.xy[0][2] > a.xy[0][2]) ? b : a));
}

function kneeTable(s, byText) {
	const c = s.curves,
		goal = s.goals[0].name,
		more = s.goals[0].more;
	const columns = [],
		rows = [];
	if (c.panel !== null) columns.push({ title: s.axes[c.panel].key, text: true });
	if (c.by !== null) columns.push({ title: s.axes[c.by].key });
	columns.push(
		{ title: `knee at ${s.axes[c.x].key}` },
		{ title: valueTitle(goal) },
		{ title: 'better than the smallest by' },
		{ title: 'still to gain beyond' },
	);
	if (c.by !== null) columns.push({ title: `the smallest does as well with ${s.axes[c.by].key}`, text: true });
	for (const l of c.lines) {
		const row = [],
			y = l.knee === null ? null : l.xy[l.knee][2];
		if (c.panel !== null) row.push(l.panel);
		if (c.by !== null) row.push(byText(l.by));
		if (l.knee === null) {
			row.push('none', '–', '–', '–');
		} else {
			const best = l.xy.map((p) => p[2]).reduce((a, b) => (more ? Math.max(a, b) : Math.min(a, b)));
			row.push(
				el('span', 'knee', l.xy[l.knee][0]),
				num(y),
				pct(100 * Math.abs(1 - y / l.xy[0][2])),
				pct(100 * Math.abs(1 - best / y)),
			);
		}
		if (c.by !== null) {
			const other = l.knee === null ? null : sameAs(s, l);
			row.push(other ? byText(other.by) : l.knee === null ? '–' : 'none of these');
		}
		rows.push(row);
	}
	return el('div', 'scroll whole', table(columns, rows));
}

function curvesChart(s, points, id) {
	const c = s.curves;
	if (!c) return null;
	const axis = s.axes[c.x],
		[unit] = unitOf(axis),
		goal = s.goals[0];
	const byText = c.by === null ? (t) => t : alias(s, points, c.by);
	const bys = c.by === null ? [goal.name] : s.axes[c.by].values.map((v) => byText(v[0]));
	const panels = c.panel === null ? [''] : s.axes[c.panel].values.map((v) => `${s.axes[c.panel].key} ${v[0]}`);
	const rows = [];
	for (const l of c.lines) {
		const by = c.by === null ? goal.name : byText(l.by),
			panel = c.panel === null ? '' : `${s.axes[c.panel].key} ${l.panel}`;
		l.xy.forEach(([text, x, y], i) =>
			rows.push({
				by,
				panel,
				x: x / unit,
				y,
				knee: i === l.knee ? 1 : 0,
				text,
				t_y: valueText(goal.name, y),
				t_point: String(l.points[i]),
				t_knee: i === l.knee ? 'the knee of this line' : '',
			}),
		);
	}
	const [x0, x1] = span(rows.map((r) => r.x)),
		[y0, y1] = span(rows.map((r) => r.y));
	const log = (a, b, from) => a > 0 && b / a >= from;
	const width =
		Math.floor((WIDTH - 190 - 30 * (panels.length - 1)) / Math.min(panels.length, 3)) -
		(panels.length > 1 ? 14 : 0);
	const scaleX = log(x0, x1, 1000) ? { type: 'log' } : { zero: false },
		scaleY = log(y0, y1, 3)
			? { type: 'log', nice: false, domain: [y0 * 0.93, y1 * 1.07] }
			: { zero: false };
	const ticks = Array.from({ length: 7 }, (_, k) => [1, 1.5, 2, 3, 5, 7].map((m) => m * Math.pow(10, k - 2)))
		.flat()
		.filter((v) => v >= y0 * 0.93 && v <= y1 * 1.07);
	/* Of knees that lie on each other one is named. */
	const named = [],
		high = (y) =>
			380 *
			(scaleY.type === 'log' ? Math.log(y / y0) / Math.log(y1 / y0) : (y - y0) / (y1 - y0 || 1));
	for (const r of rows.filter((row) => row.knee === 1)) {
		if (
			!named.some(
				(k) => k.panel === r.panel && k.text === r.text && Math.abs(high(k.y) - high(r.y)) < 14,
			)
		) {
			named.push(r);
			r.knee = 2;
		}
	}
	const spec = {
		data: { values: rows },
		facet: {
			column: {
				field: 'panel',
				type: 'nominal',
				sort: panels,
				header: { title: null, labels: panels.length > 1 },
			},
		},
		spec: {
			width,
			height: 380,
			encoding: {
				x: {
					field: 'x',
					type: 'quantitative',
					scale: scaleX,
					axis: { title: axisTitle(axis), tickCount: 6, format: ',~r' },
				},
				y: {
					field: 'y',
					type: 'quantitative',
					scale: scaleY,
					axis: Object.assign(
						{ title: valueTitle(goal.name), format: ',~r' },
						scaleY.type === 'log' ? { values: ticks } : {},
					),
				},
				color: {
					field: 'by',
					type: 'nominal',
					scale: { domain: bys, range: bys.map((b, i) => color(i)) },
					legend:
						c.by === null
							? null
							: {
									title: s.axes[c.by].key,
									symbolType: 'circle',
									orient: 'right',
								},
				},
			},
			layer: [
				{ mark: { type: 'line', strokeWidth: 1.8 } },
				{
					mark: { type: 'circle', size: 26, opacity: 1 },
					encoding: {
						tooltip: tips([
							['text', axis.key],
							['by', c.by === null ? 'value' : s.axes[c.by].key],
							['t_y', goal.name],
							['t_point', 'design'],
							['t_knee', ''],
						]),
					},
				},
				{
					transform: [{ filter: 'datum.knee > 0' }],
					mark: {
						type: 'point',
						size: 170,
						strokeWidth: 2,
						filled: false,
						color: 'var(--mark)',
					},
					encoding: { color: { value: 'var(--mark)' } },
				},
				...haloed(
					{
						transform: [{ filter: 'datum.knee === 2' }],
						mark: {
							type: 'text',
							align: 'left',
							dx: 8,
							dy: -10,
							fontSize: 12,
							fontWeight: 'bold',
							clip: false,
						},
						encoding: { text: { field: 'text' }, color: { value: 'var(--mark)' } },
					},
					3
				),
			],
		},
		resolve: { scale: { color: 'shared' } },
	};
	const title =
		`${short(goal.name, 40)} over ${axis.key}` +
		(c.by === null ? '' : ` against ${s.axes[c.by].key}`) +
		', and the knee';
	return card(
		title,
		null,
		kneeWords(s, byText),
		chart(id + '-curves', spec),
		kneeTable(s, byText),
		el(
			'p',
			'soft',
			'A ring marks the knee of a line: the point farthest on the good side of the straight ' +
				'way from its first point to its last, both ' +
				`directions scaled to the line’s span. Up to there ${axis.key} buys more than ` +
				`it does on the whole, beyond it less. A line that is nearly straight ` +
				`or gains less than 1 % has none.`,
		),
	);
}
