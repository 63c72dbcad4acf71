/* live.js - npusim page in a real Chromium, without a network: 200 random moves have the very document of the program, to the byte;
 * sliders, undo, address, errors; phone, keyboard, dark; no request, and a silent console.
 *
 *   node live.js DIR    DIR/bench.html as live.sh makes it; NPUSIM: the program; CHROMIUM: the browser
 *
 * Prints a line for each failure and "N passed, M failed". */
'use strict';
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');
const { chromium } = require('playwright-core');

const MOVES = 200,
	PATIENCE = 120000;
let passed = 0,
	failed = 0,
	seed = 33;

function check(what, holds, seen) {
	if (holds) passed++;
	else failed++, console.log(`FAILED ${what}` + (seen === undefined ? '' : `: ${JSON.stringify(seen)}`));
}
/* xorshift: the same moves in every run. */
function draw(n) {
	seed ^= seed << 13;
	seed ^= seed >>> 17;
	seed ^= seed << 5;
	return (seed >>> 0) % n;
}
function run(machine, sets, first) {
	const words = ['run', '-c', machine, '-m', 'qwen3-0.6b', '--layers', '1', '--context', '64', '--fidelity', 'analytic', '--format', 'json'];
	for (const [k, v] of Object.entries({ ...first, ...sets })) words.push('--set', `${k}=${v}`);
	try {
		return execFileSync(process.env.NPUSIM, words, { stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 26 }).toString();
	} catch (e) {
		return e.stderr.toString().replace(/^npusim: /, '').replace(/\n$/, '');
	}
}

async function open(browser, file, options) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options }),
		page = await context.newPage(),
		said = [],
		asked = [],
		url = 'file://' + path.resolve(file);
	await context.setOffline(true);
	context.setDefaultTimeout(PATIENCE);
	page.on('console', (m) => said.push(m.text()));
	page.on('pageerror', (e) => said.push(e.message));
	page.on('request', (r) => asked.push(r.url()));
	await page.goto(url + (options.hash ?? ''));
	await page.waitForSelector('body[data-ready]').catch(() => said.push('never ready'));
	return { page, said, asked: () => asked.filter((u) => !u.startsWith(url)), close: () => context.close() };
}

async function moves(p, machine, n, first) {
	const keys = await p.page.$$eval('.slider input', (all) => all.map((i) => i.dataset.key));
	let same = 0,
		refused = 0;
	check('ten sliders', keys.length === 10, keys);
	for (let i = 0; i < n; i++) {
		const sets = {};
		for (let k = draw(3) + 1; k > 0; k--) {
			const at = await p.page.$$(`.slider input`),
				input = at[draw(at.length)],
				[key, value] = await input.evaluate((e, n) => {
					e.value = n % (Number(e.max) + 1);
					e.dispatchEvent(new Event('input'));
					return [e.dataset.key, e.getAttribute('aria-valuetext')];
				}, draw(1000));
			sets[key] = value;
		}
		const state = await p.page.evaluate(() => window.npusim.state()),
			want = run(machine, state.sets, first),
			got = await p.page.evaluate(() => window.npusim.ask({}, true)),
			few = await p.page.evaluate(() => window.npusim.ask({}, false));
		if (got.why !== undefined) {
			check(`move ${i}: refused in the same words`, got.why === want, [state.sets, got.why, want]);
			check(`move ${i}: shown`, (await p.page.textContent('#why')) === want);
			refused++;
			continue;
		}
		check(`move ${i}: the document of npusim run`, got.text === want, state.sets);
		const all = JSON.parse(want);
		check(`move ${i}: the figures of npusim run`,
			Object.entries(few.of).every(([k, v]) => (k === 'stall_us' ? Object.entries(v).every(([r, us]) => all.stall_us[r] === us) : all[k] === v)), few.of);
		same++;
	}
	check('most moves run', same > n / 2, [same, refused]);
	console.log(`${same} moves have the document of npusim run to the byte, ${refused} are refused in its words`);
}

async function controls(browser, p, file) {
	const head = () => p.page.textContent('#head'),
		last = await p.page.evaluate(() => location.hash);
	await p.page.click('#reset');
	const start = await head();
	await p.page.focus('.slider input');
	await p.page.keyboard.press('ArrowRight');
	await p.page.waitForFunction((was) => document.getElementById('head').textContent !== was || document.querySelector('.slider.changed'), start);
	await p.page.waitForFunction(() => location.hash.includes('sets') && Object.keys(JSON.parse(decodeURIComponent(location.hash.slice(1))).sets).length === 1);
	await p.page.click('#undo');
	check('undo of a slider', (await head()) === start && !(await p.page.$('.slider.changed')));
	await p.page.fill('#any', 'dram.channels=2');
	await p.page.press('#any', 'Enter');
	const now = await head();
	check('any parameter by name', now !== start, [start, now]);
	const again = await open(browser, file, { hash: await p.page.evaluate(() => location.hash) });
	check('the address keeps it', (await again.page.textContent('#head')) === now);
	await again.close();
	await p.page.click('#undo');
	check('undo', (await head()) === start);
	await p.page.fill('#any', 'dram.chanels=2');
	await p.page.press('#any', 'Enter');
	check('a mistyped key', /did you mean 'dram.channels'/.test(await p.page.textContent('#why')));
	await p.page.click('#undo');
	await p.page.selectOption('#machine', 'configs/npu/edge.yaml');
	check('another machine', JSON.parse(run('edge', {})).total_us === (await p.page.evaluate(() => window.npusim.ask({}, false).of.total_us)));
	await p.page.click('#yaml');
	check('YAML to copy', /^clock: /m.test(await p.page.textContent('#copied')));
	await p.page.click('#line');
	check('the command to copy', /^npusim run -c edge --model 'qwen3-0.6b'/.test(await p.page.textContent('#copied')));
	const broken = await open(browser, file, { hash: '#%7Bhalf' });
	check('an address of somebody else', (await broken.page.textContent('#head')) === start && broken.said.length === 0, broken.said);
	await broken.close();
	return last;
}

async function looks(browser, file, options, what) {
	const p = await open(browser, file, options),
		wide = await p.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
	check(`${what}: nothing is wider than the page`, wide <= 0, wide);
	const at = () => p.page.getAttribute('.slider input', 'aria-valuetext'),
		before = await at();
	await p.page.focus('.slider input');
	await p.page.keyboard.press('ArrowRight');
	const more = await at();
	await p.page.keyboard.press('ArrowLeft');
	check(`${what}: a slider by keyboard`, more !== before && (await at()) === before, [before, more]);
	check(`${what}: silent, and no request`, p.said.length === 0 && p.asked().length === 0, [p.said, p.asked()]);
	await p.close();
}

/* The page of a stored run opens with its answer, and goes on from the machine as it ran. */
async function lead(browser, dir) {
	const p = await open(browser, path.join(dir, 'lead.html'), {}),
		said = await p.page.textContent('main'),
		told = JSON.parse(fs.readFileSync(path.join(dir, 'explained.json'), 'utf8')),
		first = fs.readFileSync(path.join(dir, 'said.txt'), 'utf8').split('\n')[0],
		all = JSON.parse(run('array-128', { 'dram.channels': 3 }));
	check('the page of a run opens with its verdict', (await p.page.textContent('.verdict b')) === first, first);
	check('then what to change', /next: .* saves/.test(said));
	check('then why, as npusim explain says it', told.length > 5 && told.every((x) => said.includes(x.text) && said.includes(x.source)));
	check('its charts are there too', (await p.page.$$('.chart svg')).length >= 3);
	check('it begins with the machine as it ran', (await p.page.evaluate(() => window.npusim.ask({}, false).of.total_us)) === all.total_us);
	check('what follows from others does not hold it fast', (await p.page.evaluate(() => window.npusim.ask({ sets: { 'dram.channels': '5' } }, false))).of?.total_us ===
		JSON.parse(run('array-128', { 'dram.channels': 5 })).total_us);
	await p.page.click('#yaml');
	fs.writeFileSync(path.join(dir, 'copied.yaml'), await p.page.textContent('#copied'));
	check('its YAML is that machine', JSON.parse(run(path.join(dir, 'copied.yaml'), {})).total_us === all.total_us);
	await moves(p, 'configs/npu/array-128.yaml', 20, { 'dram.channels': '3' });
	check('silent, and no request', p.said.length === 0 && p.asked().length === 0, [p.said, p.asked()]);
	await p.close();
	for (const width of [390, 1280, 1920]) {
		const q = await open(browser, path.join(dir, 'lead.html'), { viewport: { width, height: 900 }, colorScheme: 'dark' }),
			wide = await q.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
		check(`${width} px: a run's page is no wider than the window`, wide <= 0, wide);
		await q.close();
	}
}

(async () => {
	const file = path.join(process.argv[2], 'bench.html'),
		browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] }),
		p = await open(browser, file, {});
	await moves(p, 'configs/npu/array-128.yaml', MOVES);
	await controls(browser, p, file);
	check('silent, and no request', p.said.length === 0 && p.asked().length === 0, [p.said, p.asked()]);
	await p.page.click('#reset');
	const ms = await p.page.evaluate(() => {
		const all = [];
		for (let i = 0; i < 60; i++) {
			const from = performance.now();
			window.npusim.ask({ sets: { 'dram.channels': String(3 + (i % 20)) } }, false);
			all.push(performance.now() - from);
		}
		return all.sort((a, b) => a - b)[30];
	});
	console.log(`a move takes ${ms.toFixed(1)} ms in the middle`);
	await p.close();
	await looks(browser, file, { viewport: { width: 390, height: 800 } }, '390 px');
	await looks(browser, file, { viewport: { width: 1920, height: 1000 }, colorScheme: 'dark' }, '1920 px, dark');
	await lead(browser, process.argv[2]);
	await browser.close();
	console.log(`${passed} passed, ${failed} failed`);
	process.exit(failed ? 1 : 0);
})();
