/* compared.js - two runs of one workload: what npusim compare says of them, drawn. */

const RUN_COLORS = ['var(--measured)', 'var(--simulated)'];

/* Two bars a name, of the first run and of the second; `unit` stands on the axis. */
function pairChart(id, c, field, rows, values, unit) {
	const names = c.columns.map((x) => x.title),
		shown = rows.filter((r) => Math.max(...values(r).map(Math.abs)) > 0);
	return chart(id, {
		width: room(280, 150),
		height: { step: 15 },
		data: {
			values: shown.flatMap((r) =>
				values(r).map((v, i) => ({
					name: r[field],
					run: names[i],
					at: v,
					text: num(v) + (i && values(r)[0] > 0 && !NARROW ? `  (${signed(pct(100 * (v / values(r)[0] - 1)))})` : ''),
				})),
			),
		},
		encoding: {
			y: namesDown('name', shown.map((r) => r[field])),
			yOffset: { field: 'run', type: 'nominal', scale: { domain: names } },
			x: { field: 'at', type: 'quantitative', axis: { title: unit, tickCount: 6 } },
		},
		layer: [
			{
				mark: 'bar',
				encoding: {
					color: {
						field: 'run',
						type: 'nominal',
						legend: { title: null, orient: 'top' },
						scale: { domain: names, range: RUN_COLORS },
					},
					tooltip: tips([
						['name', field],
						['run', 'of'],
						['text', unit],
					]),
				},
			},
			{ mark: BESIDE_BAR, encoding: { text: { field: 'text' } } },
		],
	});
}

const signed = (text) => (text.startsWith('-') ? text : '+' + text);

function showCompared(c) {
	const said = el('div', 'verdict');
	c.said.forEach((line, i) => said.append(el(i === 0 ? 'b' : 'span', '', line)));
	const tiles = el('div', 'tiles');
	for (const t of c.totals) {
		const [a, b] = t.values;
		if (a !== null && b !== null)
			tiles.append(tile(`${num(b)} ${t.unit}`, t.figure, `instead of ${num(a)}${a > 0 ? `, ${signed(pct(100 * (b / a - 1)))}` : ''}`));
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
