/* browse.js - the pages of npusim report in a real Chromium, without a network: every chart has its marks, the brush moves
 * the table and the lines, what is copied is the design, the theme changes colours, names of strangers stay text, and the
 * console stays silent.
 *
 *   node browse.js gate DIR     DIR/run.html, sweep.html, hostile.html, as run.sh makes them; writes DIR/copied.yaml
 *   node browse.js nightly DIR  the same, and each width in both themes
 *   node browse.js shots DIR    pictures of the charts into DIR, from the same pages
 *
 * Prints a line for each failure and "N passed, M failed". CHROMIUM names the browser. */
'use strict';
const fs = require('fs');
const path = require('path');
const { chromium } = require('playwright-core');

/* How long a page may take, on a host that does much else at once. Whatever is waited for is waited for in the very state that
 * is checked then, so a quick host loses nothing, and a slow one sees no half of it. */
const PATIENCE = 120000;

let passed = 0,
	failed = 0;

function check(what, holds, seen) {
	if (holds) {
		passed++;
	} else {
		failed++;
		console.log(`FAILED ${what}` + (seen === undefined ? '' : `: ${JSON.stringify(seen)}`));
	}
}

/* --- a page ------------------------------------------------------------------------------------------------ */

async function open(browser, file, options) {
	const context = await browser.newContext(
		Object.assign(
			{ viewport: { width: 1120, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] },
			options,
		),
	);
	const page = await context.newPage(),
		said = [],
		asked = [];

	await context.setOffline(true);
	context.setDefaultTimeout(PATIENCE);
	page.on('console', (m) => said.push(`${m.type()}: ${m.text()}`));
	page.on('pageerror', (e) => said.push(`error: ${e.message}`));
	page.on('dialog', (d) => {
		said.push(`dialog: ${d.message()}`);
		d.dismiss();
	});
	page.on('request', (r) => asked.push(r.url()));
	const url = 'file://' + path.resolve(file);
	await page.goto(url);
	await page.waitForSelector('body[data-ready]').catch(() => said.push('never ready'));
	return {
		page,
		said,
		asked: () => asked.filter((u) => u !== url && !u.startsWith('data:')),
		close: () => context.close(),
	};
}

/* Whether the page comes to say yes to the question. */
const comes = (page, question, of) =>
	page.waitForFunction(question, of).then(
		() => true,
		() => false,
	);

/* The words in the bubble once they hold the text, else those that are there after all patience. */
async function pointedAt(page, text) {
	await comes(
		page,
		(t) => {
			const bubble = document.querySelector('#vg-tooltip-element.visible');
			return bubble !== null && bubble.textContent.includes(t);
		},
		text,
	);
	return page.evaluate(() => (document.getElementById('vg-tooltip-element') || { textContent: '' }).textContent);
}

const data = (page) => page.evaluate(() => JSON.parse(document.getElementById('data').textContent));

/* Marks with a place and a size: symbols, bars, lines, ticks; and whether a number went wrong on the way. */
const marks = (page, id) =>
	page.evaluate((at) => {
		const chart = document.getElementById(at);
		if (!chart) return null;
		const all = [
			...chart.querySelectorAll(
				'.mark-symbol path, .mark-rect path, .mark-line path, .mark-rule line',
			),
		].filter((m) => !m.closest('.role-legend, .role-axis'));
		const seen = all.filter((m) => {
			const b = m.getBoundingClientRect();
			return b.width + b.height > 0;
		});
		return {
			seen: seen.length,
			text: chart.querySelectorAll('.mark-text text').length,
			wrong: /NaN|undefined|Infinity/.test(chart.innerHTML),
			failed: chart.querySelectorAll('.failed').length,
		};
	}, id);

async function checkChart(page, id, least) {
	const m = await marks(page, id);
	check(`chart ${id} is there`, m !== null);
	if (!m) return;
	check(`chart ${id} has its marks (at least ${least})`, m.seen >= least, m.seen);
	check(`chart ${id} has text`, m.text > 0);
	check(`chart ${id} is of numbers`, !m.wrong && !m.failed);
}

function checkSilent(what, p) {
	check(`${what}: the console is silent`, p.said.length === 0, p.said);
	check(`${what}: nothing is asked of a network`, p.asked().length === 0, p.asked());
}

/* --- a run ------------------------------------------------------------------------------------------------- */

/* As many marks as there are kinds, resources and ops to draw. */
async function checkRunCharts(page, d, timed, at) {
	const run = d.runs[0],
		kinds = run.kinds.filter((k) => k.us > 0);

	await checkChart(page, 'run0-kinds', 2 * kinds.length);
	await checkChart(page, 'run0-stalls', kinds.length + 1);
	await checkChart(
		page,
		'run0-roofline',
		timed.filter((o) => o[at('flops')] > 0 && o[at('mem_bytes')] > 0).length + 4,
	);
	await checkChart(page, 'run0-scatter', timed.filter((o) => o[at('measured_us')] > 0).length + 1);
	await checkChart(page, 'overview', 2 * d.runs.length + 1);
}

/* The differences of two runs are those of npusim compare, and sum to those of the runs. */
async function checkCompared(page, d) {
	const c = d.compared,
		[a, b] = d.runs,
		sum = (rows, of) => [0, 1].map((i) => rows.reduce((s, r) => s + of(r)[i], 0)),
		near = (x, y) => Math.abs(x - y) < 1e-6 * Math.abs(y);

	check('two runs open with what differs', (await page.textContent('main h2')) === 'What differs');
	check('the difference is told', (await page.textContent('.verdict b')) === c.said[0]);
	for (const [what, v] of [['kinds', sum(c.by_kind, (r) => r.us)], ['stalls', sum(c.by_resource, (r) => r.values)]])
		check(`${what} of both sum to their times`, near(v[0], a.total_us) && near(v[1], b.total_us), v);
	await checkChart(page, 'compared-kinds', c.by_kind.length);
	await checkChart(page, 'compared-stalls', c.by_resource.length);
}

async function checkLimits(page, run) {
	const more = run.limits.rows.filter((x) => x.move === 'more' && x.gain !== null),
		drawn = run.limits.rows.filter((x) => x.move !== 'less' && x.gain !== null && !x.within_error && Math.abs(x.gain) >= 5e-4),
		sure = (x) => (x.within_error ? 0 : x.gain),
		listed = await page.$$eval('section:has(#run0-limits) tbody tr', (rows) => rows.map((r) => r.children[1].textContent));

	await checkChart(page, 'run0-limits', drawn.length);
	check(
		'limits are listed, the most useful first',
		more.length > 3 &&
			more.every((x, i) => i === 0 || sure(x) <= sure(more[i - 1])) &&
			listed[run.limits.rows.indexOf(more[0])] === more[0].key,
	);
	check(
		'all limits are in the table',
		(await page.$$('section:has(#run0-limits) tbody tr')).length === run.limits.rows.length,
	);
	check('a run without limits has no card of them', (await page.$$('#run1-limits')).length === 0);
}

async function checkRunWords(page, run) {
	for (const text of ['measured, GPU kernels', 'measured, copies and sets too'])
		check(`the overview has the bar '${text}'`, (await page.textContent('#overview')).includes(text));
	check(
		'the accuracy note is the one that run prints',
		(await page.textContent('.trust')).includes(run.trust[0]),
	);
	check('the simulated time is told', (await page.textContent('.tile b')).length > 0);
	check('kinds sum to the total', Math.abs(run.kinds.reduce((a, k) => a + k.us, 0) / run.total_us - 1) < 1e-6);
	check(
		'stalls sum to the total',
		Math.abs(run.resources.reduce((a, r) => a + r.stall_us, 0) / run.total_us - 1) < 1e-6,
	);
}

/* The largest point of the roofline is the longest op: pointing at it names it. */
async function checkPointing(page, timed, at) {
	const longest = timed.filter((o) => o[at('flops')] > 0).sort((a, b) => b[at('us')] - a[at('us')])[0];
	const box = await page.evaluate(() => {
		const all = [...document.querySelectorAll('#run0-roofline .mark-symbol path')].filter(
			(m) => !m.closest('.role-legend'),
		);
		all.sort((a, b) => b.getBoundingClientRect().width - a.getBoundingClientRect().width)[0].scrollIntoView(
			{ block: 'center' },
		);
		const r = all[0].getBoundingClientRect();
		return { x: r.x + r.width * 0.12, y: r.y + r.height / 2 };
	});

	await page.mouse.move(box.x, box.y);
	const op = await pointedAt(page, longest[at('name')]);
	check('pointing at an op names its kernel', op.includes(longest[at('name')]), op);
}

async function checkRun(browser, dir) {
	const p = await open(browser, path.join(dir, 'run.html')),
		d = await data(p.page),
		run = d.runs[0],
		at = (name) => run.op_columns.indexOf(name),
		timed = run.ops.filter((o) => o[at('us')] > 0);

	await checkCompared(p.page, d);
	await checkRunCharts(p.page, d, timed, at);
	await checkLimits(p.page, run);
	await checkRunWords(p.page, run);
	await checkPointing(p.page, timed, at);
	checkSilent('run', p);
	await p.close();
}

/* --- a sweep ----------------------------------------------------------------------------------------------- */

const drawn = (page, id) =>
	page.evaluate(
		(at) =>
			[...document.querySelectorAll(`#${at} .mark-symbol path`)]
				.filter((m) => !m.closest('.role-legend'))
				.map((m) => {
					const r = m.getBoundingClientRect();
					return { x: r.x + r.width / 2, y: r.y + r.height / 2, w: r.width };
				}),
		id,
	);

/* In the page: how many lines are faint; where a number is asked for, whether it is so many. */
const faint = (asked) => {
	const n = [...document.querySelectorAll('#sweep0-parallel .mark-line path')].filter(
		(m) =>
			Number(
				m.getAttribute('stroke-opacity') ||
					m.getAttribute('opacity') ||
					m.style.opacity ||
					m.style.strokeOpacity ||
					1,
			) < 0.05,
	).length;
	return asked === null ? n : n === asked;
};

const chartFrame = (page) =>
	page.evaluate(() => {
		const r = document.querySelector('#sweep0-front .role-frame .background').getBoundingClientRect();
		return { x: r.x, y: r.y, w: r.width, h: r.height };
	});

/* Drags over a part of the front's picture, in fractions of its frame, until the words count the designs that lie in there. */
async function drag(page, x0, y0, x1, y1) {
	const all = (await data(page)).sweeps[0].points.length;

	await page.evaluate(() => document.getElementById('sweep0-front').scrollIntoView({ block: 'center' }));
	const frame = await chartFrame(page),
		from = { x: frame.x + frame.w * x0, y: frame.y + frame.h * y0 },
		to = { x: frame.x + frame.w * x1, y: frame.y + frame.h * y1 };
	const points = (await drawn(page, 'sweep0-front')).slice(0, all);
	const inside = points.filter((m) => m.x > from.x && m.x < to.x && m.y > from.y && m.y < to.y).length;

	await page.mouse.move(from.x, from.y);
	await page.mouse.down();
	for (let i = 1; i <= 8; i++)
		await page.mouse.move(from.x + ((to.x - from.x) * i) / 8, from.y + ((to.y - from.y) * i) / 8);
	await page.mouse.up();
	const counted = await comes(
		page,
		(words) => document.getElementById('sweep0-count').textContent.startsWith(words),
		`${inside} of ${all} designs chosen`,
	);
	return { frame, inside, counted };
}

async function checkBrush(page, sweep) {
	const all = sweep.points.length;

	check(
		'the table begins with all designs',
		(await page.textContent('#sweep0-count')).startsWith(`All ${all} designs`),
		await page.textContent('#sweep0-count'),
	);
	/* Corners between points, so that none lies on the edge. */
	const { frame, inside, counted } = await drag(page, 0.311, 0.307, 0.713, 0.903);

	check('the brush takes some and leaves some', inside > 0 && inside < all, inside);
	check('the words count what the brush holds', counted, [inside, await page.textContent('#sweep0-count')]);
	check('the table lists what the brush holds', (await page.$$('#sweep0-table tbody tr')).length === inside);
	check('the other lines turn faint', await comes(page, faint, all - inside), await page.evaluate(faint, null));
	await page.mouse.dblclick(frame.x + 4, frame.y + 4);
	check(
		'a double click chooses all again',
		(await comes(page, () => document.getElementById('sweep0-count').textContent.startsWith('All'))) &&
			(await page.$$('#sweep0-table tbody tr')).length === Math.min(all, 300) &&
			(await comes(page, faint, 0)),
		[await page.textContent('#sweep0-count'), await page.evaluate(faint, null)],
	);
}

/* What the words say of the knee is what the data says. */
async function checkKnee(page, sweep) {
	const words = await page.textContent('section:has(#sweep0-curves) > p'),
		lines = sweep.curves.lines;
	for (const panel of new Set(lines.map((l) => l.panel))) {
		const at = lines
			.filter((l) => l.panel === panel && l.knee !== null)
			.map((l) => l.xy[l.knee])
			.sort((a, b) => a[1] - b[1]);
		const where =
			at[0][0] === at[at.length - 1][0]
				? `at ${at[0][0]}`
				: `between ${at[0][0]} and ${at[at.length - 1][0]}`;
		check(
			`the words say where the knee of ${panel} is`,
			words.includes(`With l2.policy ${panel} the knee of l2.size lies ${where}`),
			words,
		);
		for (const l of lines.filter((x) => x.panel === panel && x.knee !== null))
			check(
				`the picture names the knee ${l.xy[l.knee][0]}`,
				(await page.textContent('#sweep0-curves')).includes(l.xy[l.knee][0]),
			);
	}
	const rings = await page.evaluate(
		() => document.querySelectorAll('#sweep0-curves .mark-symbol path[stroke="var(--mark)"]').length,
	);
	check('each knee has its ring', rings === lines.filter((l) => l.knee !== null).length, rings);
}

const fillOf = (page) =>
	page.evaluate(() => getComputedStyle(document.querySelector('#sweep0-tornado .mark-rect path')).fill);

async function checkSweep(browser, dir) {
	const p = await open(browser, path.join(dir, 'sweep.html')),
		{ page } = p;
	const sweep = (await data(page)).sweeps[0],
		n = sweep.points.length;

	await checkChart(page, 'sweep0-curves', n + sweep.curves.lines.length);
	await checkChart(page, 'sweep0-front', n);
	await checkChart(page, 'sweep0-parallel', n);
	await checkChart(page, 'sweep0-tornado', 2 * sweep.effects.filter((t) => t.a === t.b).length);
	await checkChart(page, 'sweep0-shares', sweep.effects.filter((t) => t.share > 0).length);
	await checkKnee(page, sweep);
	await checkBrush(page, sweep);

	/* The clipboard is written some time after the click. */
	await page.click('.design button');
	const until = Date.now() + PATIENCE;
	let copied;
	do copied = await page.evaluate(() => navigator.clipboard.readText());
	while (copied !== sweep.designs[0].yaml && Date.now() < until);
	check('the button copies the design', copied === sweep.designs[0].yaml);
	fs.writeFileSync(path.join(dir, 'copied.yaml'), copied);
	fs.writeFileSync(path.join(dir, 'copied.us'), String(sweep.designs[0].values[0]));

	const light = await fillOf(page);
	await page.emulateMedia({ colorScheme: 'dark' });
	check('the dark theme has colours of its own', (await fillOf(page)) !== light);
	await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
	check('print is light', (await fillOf(page)) === light);
	check('print has no buttons', !(await page.isVisible('button')));
	check('it prints', (await page.pdf({ format: 'A4' })).length > 10000);
	await page.emulateMedia({ colorScheme: 'light', media: 'screen' });
	await page.setViewportSize({ width: 420, height: 800 });
	check(
		'on a narrow screen only the charts scroll',
		await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
		await page.evaluate(() => document.documentElement.scrollWidth),
	);
	checkSilent('sweep', p);
	await p.close();
}

/* --- names of strangers ------------------------------------------------------------------------------------ */

async function checkHostile(browser, dir) {
	const p = await open(browser, path.join(dir, 'hostile.html')),
		{ page } = p;
	const seen = await page.evaluate(() => ({
		owned: window.owned === undefined,
		scripts: document.scripts.length,
		title: document.title,
		images: document.images.length,
		heading: document.querySelector('h1').textContent,
		text: document.body.innerText,
	}));
	check('no name became a script', seen.owned);
	check('no name became an element', seen.scripts === 5 && seen.images === 0, [seen.scripts, seen.images]);
	check(
		'the title is text',
		seen.title === '</title><script>window.owned=6</script>' && seen.heading === seen.title,
		seen.title,
	);
	check('a kernel’s name is text', seen.text.includes('</script><script>window.owned=1</script>'));
	check('a machine’s name is text', seen.text.includes('<img src=x onerror=window.owned=5>'));
	check('a range’s name is text', seen.text.includes('</title><script>window.owned=4</script>'));
	/* What is pointed at is text too. */
	await page.evaluate(() => document.getElementById('overview').scrollIntoView({ block: 'center' }));
	const bar = await page.evaluate(() => {
		const all = [...document.querySelectorAll('#overview .mark-rect path[aria-roledescription="bar"]')];
		const r = all[all.length - 1].getBoundingClientRect();
		return { x: r.x + r.width / 2, y: r.y + r.height / 2 };
	});
	await page.mouse.move(bar.x, bar.y);
	const name = await pointedAt(page, '<img src=x');
	check('a name pointed at is text', name.includes('<img src=x'), name);
	check('and no element', await page.evaluate(() => document.images.length === 0 && window.owned === undefined));
	checkSilent('hostile', p);
	await p.close();
}

/* A sweep opens with what to build, which is on its front and can be built, and with what is next to it. */
async function checkSweepVerdict(browser, dir) {
	const p = await open(browser, path.join(dir, 'sweep.html')),
		seen = await p.page.evaluate(() => {
			const s = JSON.parse(document.getElementById('data').textContent).sweeps[0],
				box = document.querySelector('#sweep0').nextElementSibling;
			return {
				first: box.className,
				lines: [...box.children].map((e) => e.textContent),
				front: s.points.filter((q) => q[1]).map((q) => q[0]),
			};
		}),
		built = seen.lines[0] && /^Build design (\d+): /.exec(seen.lines[0]),
		next = /^Next to it, design (\d+) /.exec(seen.lines[seen.lines.length - 1]);

	check('a sweep opens with what to build', seen.first === 'verdict' && built, seen.lines);
	check('which is on its front', built && seen.front.includes(Number(built[1])), [seen.lines, seen.front]);
	check(
		'and ends with another of the front',
		next && seen.front.includes(Number(next[1])) && next[1] !== built[1],
		seen.lines,
	);
	checkSilent('sweep verdict', p);
	await p.close();
}

/* --- a design ---------------------------------------------------------------------------------------------- */

/* It opens with what to build; its figures are the document's, and the machine to copy has the changes. */
async function checkDesign(browser, dir) {
	const p = await open(browser, path.join(dir, 'design.html')),
		{ page } = p,
		seen = await page.evaluate(() => {
			const x = JSON.parse(document.getElementById('data').textContent).designs[0];
			return {
				x,
				first: document.querySelector('#design0').nextElementSibling.className,
				text: document.querySelector('#design0 + .verdict').textContent,
				titles: [...document.querySelectorAll('.card h3')].map((e) => e.textContent),
				steps: document.querySelectorAll('#design0-steps .mark-rect path').length,
				dots: [...document.querySelectorAll('[id^=design0-around]')].map(
					(c) => c.querySelectorAll('.mark-symbol path').length,
				),
				bars: document.querySelectorAll('#design0-parts .mark-rect path').length,
			};
		}),
		a = seen.x.answer,
		changed = Object.keys(a.sets).filter((key) => a.sets[key] !== a.base.sets[key]);

	check('a design opens with what to build', seen.first === 'verdict' && /^Build /.test(seen.text), seen.text);
	check('it says all that was asked', seen.x.answer.bounds.every((b) => seen.text.includes(b.bound)), seen.text);
	check('and how sure it is', /four times in five/.test(seen.text), seen.text);
	check('it changes something', changed.length > 0, a.sets);
	check('and says what', changed.slice(0, 6).every((key) => seen.text.includes(`${key} ${a.sets[key]}`)), seen.text);
	check('a bar for the start and each step', seen.steps === a.steps.length + 1, seen.steps);
	check(
		'a chart a bound, a point a design',
		seen.dots.length === a.bounds.length && seen.dots.every((n, i) => n >= seen.x.plots[i].points.length),
		seen.dots,
	);
	check('one design is the answer', seen.x.plots.every((c) => c.points.filter((q) => q[3] === 'best').length === 1));
	check(
		'no point of a front is beaten',
		seen.x.plots.every((c) => {
			const front = c.points.filter((q) => q[2]),
				sign = c.more ? -1 : 1;
			return (
				front.length > 0 &&
				front.every((q) => !front.some((o) => sign * o[0] < sign * q[0] && o[1] <= q[1]))
			);
		}),
	);
	check('a bar a part and a design', seen.bars === a.parts.length * (a.runner_up ? 3 : 2), seen.bars);
	check('neighbours that fail', !a.beside.length || seen.titles.includes('A step away, and better but for the goal'));
	await page.click('text=copy YAML');
	const yaml = await page.evaluate(() => navigator.clipboard.readText());
	check('the YAML is the machine', yaml === seen.x.yaml && /^# /.test(yaml), yaml.slice(0, 80));
	checkSilent('design', p);
	await p.close();
}

/* --- widths ------------------------------------------------------------------------------------------------ */

/* Nothing is wider than the page, no chart than its card, and bars are as long as they are: on a phone, a laptop, a wall. */
/* --- requests ---------------------------------------------------------------------------------------------- */

/* A dot a request and wait, simulated and beside what was measured; of a curve one a loop. */
async function checkServe(browser, dir) {
	const p = await open(browser, path.join(dir, 'serve.html')),
		seen = await p.page.evaluate(() => ({
			x: JSON.parse(document.getElementById('data').textContent).serves[0],
			waits: document.querySelectorAll('#serve0-waits .mark-symbol path').length,
			measured: document.querySelectorAll('#serve0-measured .mark-symbol path').length,
			text: document.querySelector('main').textContent,
		})),
		n = 3 * seen.x.requests.length;

	check('a dot a wait of each request', n === 6 && seen.waits >= n, seen.waits);
	check('and one beside what was measured', seen.measured >= n, seen.measured);
	check('what it was off is said', /off in the mean/.test(seen.text), seen.text);
	checkSilent('serve', p);
	await p.close();

	const q = await open(browser, path.join(dir, 'curve.html')),
		loops = await q.page.evaluate(() => [
			JSON.parse(document.getElementById('data').textContent).serves[0].answer.curve.length,
			[...document.querySelectorAll('#serve0-curve .mark-text text')].map((e) => e.textContent),
		]);
	check('a point a loop', loops[0] === 3 && ['1', '2', '4'].every((t) => loops[1].includes(t)), loops);
	checkSilent('curve', q);
	await q.close();
}

async function checkWidth(browser, dir, name, width, colorScheme) {
	const p = await open(browser, path.join(dir, name + '.html'), {
			colorScheme,
			viewport: { width, height: 900 },
		}),
		what = `${name}.html at ${width} px, ${colorScheme}:`,
		seen = await p.page.evaluate(() => {
			const right = (e) => e.getBoundingClientRect().right;
			return {
				page: document.documentElement.scrollWidth - window.innerWidth,
				clipped: [...document.querySelectorAll('.chart svg')]
					.filter((s) => s.closest('.card') && right(s) > right(s.closest('.card')) + 1)
					.map((s) => s.closest('.chart').id),
				sideways: [...document.querySelectorAll('.card, .tile, .verdict, h2')]
					.filter((e) => right(e) > window.innerWidth + 1)
					.map((e) => e.textContent.slice(0, 30)),
			};
		});

	if (name !== 'sweep') {
		check(`${what} it is no wider than the window`, seen.page <= 0, seen.page);
		check(`${what} no chart is clipped`, seen.clipped.length === 0, seen.clipped);
	}
	check(`${what} no card lies sideways`, seen.sideways.length === 0, seen.sideways);
	checkSilent(what, p);
	await p.close();
}

/* The verdict stands first, and bars of one chart are as long as their times. */
async function checkVerdict(browser, dir) {
	const p = await open(browser, path.join(dir, 'run.html'), { viewport: { width: 390, height: 900 } }),
		seen = await p.page.evaluate(() => ({
			first: document.querySelector('#run0').nextElementSibling.className,
			lines: document.querySelectorAll('#run0 + .verdict > *').length,
			text: document.querySelector('#run0 + .verdict').textContent,
			bars: [...document.querySelectorAll('#overview .mark-rect path[aria-roledescription="bar"]')].map(
				(b) => b.getBoundingClientRect().width,
			),
			data: JSON.parse(document.getElementById('data').textContent).runs.map((r) => r.total_us),
		})),
		n = seen.data.length,
		own = seen.bars.slice(-n);

	check('the verdict stands first', seen.first === 'verdict', seen.first);
	check('it has at most four lines', seen.lines >= 2 && seen.lines <= 4, seen.lines);
	check('it says tokens a second', /tokens\/s/.test(seen.text), seen.text);
	check(
		'bars on a phone are as long as their times',
		own.length === n && Math.abs(own[0] / own[n - 1] - seen.data[0] / seen.data[n - 1]) < 0.02,
		[own, seen.data],
	);
	await p.close();
}

/* A theme changes colours and no widths, so that taking turns is enough for the gate. */
async function checkWidths(browser, dir, all) {
	let turn = 0;

	await checkVerdict(browser, dir);
	for (const name of ['run', 'sweep', 'design', 'serve'])
		for (const width of [390, 1280, 1920]) {
			const schemes = all ? ['light', 'dark'] : [turn++ % 2 ? 'dark' : 'light'];

			for (const scheme of schemes) await checkWidth(browser, dir, name, width, scheme);
		}
}

/* --- pictures ---------------------------------------------------------------------------------------------- */

async function shots(browser, dir) {
	const cards = {
		run: {
			kinds: '#run0-kinds',
			stalls: '#run0-stalls',
			limits: '#run0-limits',
			roofline: '#run0-roofline',
			scatter: '#run0-scatter',
		},
		sweep: {
			curves: '#sweep0-curves',
			front: '#sweep0-front',
			parallel: '#sweep0-parallel',
			tornado: '#sweep0-tornado',
			designs: '.designs',
		},
	};
	for (const [name, charts] of Object.entries(cards)) {
		const { page, close } = await open(browser, path.join(dir, name + '.html'));
		if (name === 'run') await page.screenshot({ path: path.join(dir, 'report-run.png') });
		else await drag(page, 0.24, 0.53, 0.6, 0.99);
		for (const [shot, of] of Object.entries(charts))
			await (
				await page.$(`section:has(${of})`)
			).screenshot({ path: path.join(dir, `report-${shot}.png`) });
		await close();
		const dark = await open(browser, path.join(dir, name + '.html'), {
			colorScheme: 'dark',
			viewport: { width: 1120, height: 1500 },
		});
		await dark.page.screenshot({ path: path.join(dir, `report-${name}-dark.png`) });
		await dark.close();
	}
}

(async () => {
	const [mode, dir] = process.argv.slice(2);
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
		args: ['--no-sandbox', '--force-color-profile=srgb'],
		timeout: PATIENCE,
	});
	if (mode === 'shots') {
		await shots(browser, dir);
	} else {
		await checkRun(browser, dir);
		await checkSweep(browser, dir);
		await checkSweepVerdict(browser, dir);
		await checkDesign(browser, dir);
		await checkServe(browser, dir);
		await checkHostile(browser, dir);
		await checkWidths(browser, dir, mode === 'nightly');
		console.log(`${passed} passed, ${failed} failed`);
	}
	await browser.close();
	process.exit(failed ? 1 : 0);
})().catch((why) => {
	console.log(`FAILED ${why.stack}`);
	console.log(`${passed} passed, ${failed + 1} failed`);
	process.exit(1);
});
