/* compared.js - two runs of one workload: what npusim compare says of them, drawn. */

const RUN_COLORS = ['var(--measured)', 'var(--simulated)'];

/* "+40 %"; null where there is none to tell. */
function change(was, is) {
	const by = was > 0 ? 100 * (is / was - 1) : 0;
	return Math.abs(by) < 0.05 ? null : (by > 0 ? '+' : '') + pct(by);
}

/* Two bars a name, of the first run and of the second; `unit` stands on the axis. */
function pairChart(id, c, field, rows, values, unit) {
	const shown = rows.filter((r) => Math.max(...values(r).map(Math.abs)) > 0),
		more = (r, i) => (i && !NARROW ? change(...values(r)) : null),
		note = (r, i) => num(values(r)[i]) + (more(r, i) ? `  (${more(r, i)})` : '');
	return chart(
		id,
		barsSpec(
			{
				x: { title: unit },
				categories: shown.map((r) => r[field]),
				series: c.columns.map((x, i) => ({ kind: 'bars', label: x.title, color: RUN_COLORS[i], points: shown.map((r, y) => ({ x: values(r)[i], y, note: note(r, i) })) })),
			},
			[
				['name', field],
				['of', 'of'],
				['note', unit],
			],
		),
	);
}


function showCompared(c) {
	const said = el('div', 'verdict');
	c.said.forEach((line, i) => said.append(el(i === 0 ? 'b' : 'span', '', line)));
	const tiles = el('div', 'tiles');
	for (const t of c.totals) {
		const [a, b] = t.values;
		if (a !== null && b !== null)
			tiles.append(tile(`${num(b)} ${t.unit}`, t.figure, a === b ? 'in both' : `instead of ${num(a)}${change(a, b) ? `, ${change(a, b)}` : ''}`));
	}
	return [
		said,
		c.parameters.length
			? card(
					'What is changed of the machine',
					null,
					el(
						'div',
						'scroll whole',
						table(
							[{ title: 'parameter', text: true }, ...c.columns.map((x) => ({ title: x.title, text: true }))],
							c.parameters.map((x) => [x.parameter, ...x.values.map((v) => v ?? '–')]),
						),
					),
				)
			: card('What is changed of the machine', 'Nothing: the runs were asked otherwise, or made by another build.'),
		tiles,
		card('By kind of op', null, pairChart('compared-kinds', c, 'kind', c.by_kind, (r) => r.us, 'time (µs)')),
		card('By what was waited for', 'What differs most comes first.', pairChart('compared-stalls', c, 'resource', c.by_resource, (r) => r.values, 'time (µs)')),
		c.by_block ? card('Energy by block', null, pairChart('compared-energy', c, 'block', c.by_block, (r) => r.values, 'energy (µJ)')) : null,
	].filter((x) => x);
}
