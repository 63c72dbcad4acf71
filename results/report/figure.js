/* figure.js - series on two axes, and bars by category: the one drawing of them, for sections of the page and for what `npusim plot`
 * draws (results/plot/plot.h). A figure is {x, y: {title, scale, from, to}, series: [{kind, label, color, points: [{x, y, to, note}]}],
 * categories, marks, texts, diagonal}; points may have fields for a tooltip beside. */

const FIGURE_COLORS = { grey: 'var(--measured)', blue: 'var(--c1)', orange: 'var(--c2)', green: 'var(--c3)', purple: 'var(--c4)', red: 'var(--c5)' };

/* What series are called, and their colours: those without one take the palette's in turn. */
function seriesColors(f) {
	let turn = 0;
	const names = f.series.map((s, i) => s.label ?? `${i}`),
		colors = f.series.map((s) => FIGURE_COLORS[s.color] ?? s.color ?? color(turn++));
	return { names, scale: { domain: names, range: colors }, labels: f.series.filter((s) => s.points.length && s.label).map((s) => s.label) };
}

/* --- axes -------------------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, not above `v`, or not below. */
function roundNumber(v, up) {
	const ten = Math.pow(10, Math.floor(Math.log10(v) + 1e-9)),
		head = up ? [1, 2, 5, 10].find((r) => r >= (v / ten) * (1 - 1e-9)) : [5, 2, 1].find((r) => r <= (v / ten) * (1 + 1e-9));
	return Number((head * ten).toPrecision(9));
}

/* Labels of powers of two. */
const BYTES_LABEL = [4, 3, 2, 1].map((i) => `datum.value >= ${1024 ** i} ? format(datum.value / ${1024 ** i}, '~g') + ' ${'KMGT'[i - 1]}iB' : `).join('') + "datum.value + ' B'";

/* Ends and ticks of an axis over these values: {scale, axis, at: where a value lies on it, from 0 to 1}. */
function figureAxis(a, values) {
	let [from, to] = span(values), ticks = null;
	const log = a.scale === 'log' || a.scale === 'bytes';
	if (a.from !== undefined) [from, to] = [a.from, a.to];
	else if (!log) from = Math.min(from, 0);
	if (!(from < to)) to = from ? from + Math.abs(from) : 1;
	if (a.scale === 'bytes') {
		[from, to] = [2 ** Math.floor(Math.log2(from) + 1e-6), 2 ** Math.ceil(Math.log2(to) - 1e-6)];
		const by = to / from <= 512 ? 1 : to / from <= 2 ** 18 ? 2 : 4;
		ticks = Array.from({ length: 60 }, (_, i) => 2 ** (i * by)).filter((v) => v >= from && v <= to);
	} else if (log) {
		if (a.from === undefined) [from, to] = [roundNumber(from), roundNumber(to, true)];
		ticks = Array.from({ length: 36 }, (_, i) => [1, 2, 5].map((m) => Number(`${m}e${i - 18}`)))
			.flat()
			.filter((v) => v >= from && v <= to && (to / from <= 3000 || /^1/.test(v.toExponential())));
	} else if (a.from === undefined) {
		const step = roundNumber((to - from) / 4);
		[from, to] = [Math.floor(from / step + 1e-9) * step, Math.ceil(to / step - 1e-9) * step];
	}
	return {
		scale: { type: log ? 'log' : 'linear', domain: [from, to], nice: false, ...(log ? { base: a.scale === 'bytes' ? 2 : 10 } : { zero: false }) },
		axis: {
			title: a.title && valueTitle(a.title),
			...(ticks ? { values: ticks } : { tickCount: 6 }),
			...(a.scale === 'bytes' ? { labelExpr: BYTES_LABEL } : { format: ',~r' }),
		},
		at: (v) => (log ? Math.log(v / from) / Math.log(to / from) : (v - from) / (to - from)),
		from,
		to,
	};
}

/* --- texts ------------------------------------------------------------------------------------------------- */

/* Texts beside places and inside of the picture, none over another; of a diagonal each on the side of its place. */
function placeTexts(texts, x, y, width, height, diagonal) {
	const placed = [];
	for (const t of texts) {
		const long = 6.4 * t.text.length,
			at = x.at(t.x) * width,
			left = diagonal ? t.y > t.x : at + long + 8 > width,
			wanted = left ? at - long - 8 : at + 8,
			from = Math.max(0, Math.min(wanted, width - long)),
			away = wanted === from ? 9 : 18;
		let up = Math.min(y.at(t.y) * height + (diagonal && !left ? -away : away), height - 7);
		for (let i = 0; i < placed.length; i++)
			if (Math.abs(placed[i].up - up) < 14 && placed[i].from < from + long && from < placed[i].from + placed[i].long) {
				up = placed[i].up - 14.5;
				i = -1; /* anew: the place below may be another's */
			}
		placed.push({ from, up, long, left, text: t.text, px: left ? from + long : from, py: height - up });
	}
	return placed;
}

function textLayers(placed) {
	return [true, false].flatMap((left) => {
		const values = placed.filter((p) => p.left === left);
		return values.length
			? haloed(
					{
						data: { values },
						mark: { type: 'text', align: left ? 'right' : 'left', baseline: 'middle', fontSize: 11 },
						encoding: { x: { field: 'px', type: 'quantitative', scale: null, axis: null }, y: { field: 'py', type: 'quantitative', scale: null, axis: null }, text: { field: 'text' } },
					},
					3,
				)
			: [];
	});
}

/* A dashed line across, with its name along it. */
function markLayers(marks, x) {
	return marks.flatMap((m) => {
		const data = { values: [m] },
			across = m.axis === 'x',
			at = { [m.axis]: { field: 'x' } },
			name = {
				data,
				mark: { type: 'text', align: 'left', fontSize: 11, color: 'var(--soft)', ...(across ? { angle: 270, dx: 8, dy: x.at(m.x) > 0.97 ? -8 : 10 } : { dx: 6, dy: -8 }) },
				encoding: { ...at, ...(across ? { y: { value: 'height' } } : { x: { value: 0 } }), text: { field: 'text' } },
			};
		return [{ data, mark: { type: 'rule', strokeDash: [5, 4], strokeWidth: 1 }, encoding: { ...at, ...(across ? { y: { value: 0 }, y2: { value: 'height' } } : { x: { value: 0 }, x2: { value: 'width' } }) } }].concat(
			m.text ? haloed(name, 3) : [],
		);
	});
}

/* --- series ------------------------------------------------------------------------------------------------ */

/* Equality, and a band of so many percent around it. */
function diagonalLayers(percent, { from, to }) {
	const part = percent / 100,
		values = Array.from({ length: 65 }, (_, k) => (from > 0 ? from * Math.pow(to / from, k / 64) : from + ((to - from) * k) / 64)).map((v) => ({ x: v, y: v, low: v * (1 - part), high: v * (1 + part) }));
	return [
		{ data: { values }, mark: { type: 'area', color: 'var(--soft)', opacity: 0.18, clip: true }, encoding: { x: { field: 'x' }, y: { field: 'low', type: 'quantitative' }, y2: { field: 'high' } } },
		{ data: { values }, mark: { type: 'line', color: 'var(--soft)', strokeWidth: 1 }, encoding: { x: { field: 'x' }, y: { field: 'y' } } },
	];
}

const DOTTED = [
	{ type: 'line', strokeWidth: 1.8 },
	{ type: 'circle', size: 26, opacity: 1 },
];
const SERIES_MARKS = {
	line: [{ type: 'line', strokeWidth: 2 }],
	dotted: DOTTED,
	points: [{ type: 'circle', size: 34, opacity: 0.7 }],
	steps: [{ type: 'bar', cornerRadiusEnd: 0, stroke: 'var(--card)', strokeWidth: 0.5 }],
};

/* `rows`: of a tooltip. */
function seriesLayers(s, i, colors, legend, rows) {
	const data = { values: s.points.map((p, k) => ({ ...p, k, zero: 0 })) };
	return SERIES_MARKS[s.kind].map((mark) => ({
		data,
		mark,
		encoding: {
			x: { field: 'x' },
			y: { field: 'y' },
			...(s.kind === 'steps' ? { x2: { field: 'to' }, y2: { field: 'zero' } } : {}),
			...(mark.type === 'line' ? { order: { field: 'k', type: 'quantitative' } } : {}),
			color: { datum: colors.names[i], type: 'nominal', scale: colors.scale, legend },
			...(rows && mark.type !== 'line' ? { tooltip: tips(rows) } : {}),
		},
	}));
}

/* On the right of the chart, where names are short, or above it. */
function seriesLegend(labels) {
	const longest = Math.max(0, ...labels.map((x) => x.length));
	if (!labels.length || (labels.length === 1 && longest > 60)) return { legend: null, beside: 90 };
	return longest <= 30 && !NARROW
		? { legend: { title: null, values: labels, symbolType: 'circle', orient: 'right' }, beside: 150 + 7 * longest }
		: { legend: { title: null, values: labels, symbolType: 'circle', orient: 'top', direction: 'vertical', columns: 1, labelLimit: 640 }, beside: 90 };
}

function xySpec(f, rows) {
	const colors = seriesColors(f),
		{ legend, beside } = seriesLegend(colors.labels),
		points = f.series.flatMap((s) => s.points),
		marks = f.marks ?? [],
		all = (axis) => points.map((p) => p[axis]).concat(axis === 'x' ? points.map((p) => p.to ?? p.x) : [], marks.filter((m) => m.axis === axis).map((m) => m.x)),
		alike = f.diagonal === undefined ? null : all('x').concat(all('y')),
		x = figureAxis(f.x, alike ?? all('x')),
		y = figureAxis(f.y, alike ?? all('y')),
		height = NARROW ? 300 : alike ? 440 : 380,
		width = alike ? Math.min(room(beside), 540) : room(beside);
	return {
		width,
		height,
		encoding: { x: { type: 'quantitative', scale: x.scale, axis: x.axis }, y: { type: 'quantitative', scale: y.scale, axis: y.axis } },
		layer: [].concat(
			alike ? diagonalLayers(f.diagonal, x) : [],
			markLayers(marks, x),
			f.series.flatMap((s, i) => seriesLayers(s, i, colors, legend, rows)),
			textLayers(placeTexts(f.texts ?? [], x, y, width, height, alike)),
		),
	};
}

/* --- bars -------------------------------------------------------------------------------------------------- */

/* Text on the right of a bar. */
const BESIDE_BAR = { type: 'text', align: 'left', dx: 4, fontSize: 11, color: 'var(--soft)' };

/* A bar a category and series, with its note beside. */
function barsSpec(f, rows) {
	const colors = seriesColors(f),
		several = f.series.length > 1;
	return {
		width: room(290, 150),
		height: { step: several ? 15 : 22 },
		data: { values: f.series.flatMap((s, i) => s.points.map((p) => ({ ...p, name: f.categories[p.y], of: colors.names[i] }))) },
		encoding: {
			y: namesDown('name', f.categories),
			...(several ? { yOffset: { field: 'of', type: 'nominal', scale: { domain: colors.names } } } : {}),
			x: { field: 'x', type: 'quantitative', axis: { title: f.x.title, tickCount: 6 } },
		},
		layer: [
			{
				mark: 'bar',
				encoding: {
					color: { field: 'of', type: 'nominal', scale: colors.scale, legend: { title: null, orient: 'top', labelLimit: 640 } },
					...(rows ? { tooltip: tips(rows) } : {}),
				},
			},
			{ mark: BESIDE_BAR, encoding: { text: { field: 'note' } } },
		],
	};
}

const figureSpec = (f, rows) => (f.series[0].kind === 'bars' ? barsSpec : xySpec)(f, rows);
