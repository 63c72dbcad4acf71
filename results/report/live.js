/* live.js - a machine on sliders: the library as WebAssembly and its data, packed in the elements "module" and "live", answer each move
 * in closed form. */
const LIVE = `
<div>
<section class="card"><h3>Machine and workload</h3><div class="asked">
<label for="machine">machine</label><select id="machine"></select>
<label for="work">workload</label><input id="work" spellcheck="false">
</div><small>KEY=VALUE with blanks between, as <code>npusim run --KEY VALUE</code> has them: model=llama-3.2-1b batch=4</small></section>
<section class="card"><h3>Parameters</h3><div id="sliders"></div>
<label for="any" class="soft">any other, KEY=VALUE</label> <input id="any" list="keys" spellcheck="false"><datalist id="keys"></datalist>
<div><button id="undo" disabled>Undo</button><button id="reset">As it was</button><button id="yaml">Copy YAML</button><button id="line">Copy command</button></div>
<pre id="copied" hidden></pre></section>
</div>
<div>
<section class="card figures"><h3 id="head">…</h3><p id="why" class="bad" role="alert" hidden></p><div class="tiles" id="tiles"></div>
<div class="bar" id="bar" role="img"></div><div id="legend"></div></section>
<section class="card" aria-live="polite"><h3>What is said of it</h3><div id="verdict">…</div></section>
<section class="card"><h3>Longest ops</h3><div class="scroll whole"><table id="ops"></table></div></section>
<p class="soft">In closed form: the figures of <code>npusim run --fidelity analytic</code>. <span id="speed"></span> npusim <span id="version"></span></p>
</div>
`;

async function showLive(at) {
at.className = 'live';
at.innerHTML = LIVE;
const $ = (id) => document.getElementById(id);
const COLORS = Array.from({ length: 12 }, (_, i) => `var(--c${i + 1})`);

const data = JSON.parse(new TextDecoder().decode(await unpack('live'))),
	library = await openLibrary(await unpack('module'), data.files);

/* --- what is asked ------------------------------------------------------------------------------------------ */

const first = () => ({ machine: data.machine, work: data.work.join(' '), sets: Object.fromEntries(data.sets.map((s) => s.split(/=(.*)/s).slice(0, 2))) });
let state = first(), was = [], base = null, parameters = new Map();

const fromAddress = () => {
	try {
		const s = JSON.parse(decodeURIComponent(location.hash.slice(1)));
		if (s && data.files[s.machine] && typeof s.work === 'string' && s.sets && typeof s.sets === 'object')
			return { machine: s.machine, work: s.work, sets: Object.fromEntries(Object.entries(s.sets).map(([k, v]) => [k, String(v)])) };
	} catch (e) { /* an address of somebody else */ }
	return null;
};
const clean = (s) => String(s).replace(/\n/g, ' ');
const question = (s) => [`@${s.machine}`, ...clean(s.work).split(/\s+/).filter(Boolean).map((w) => '+' + w),
	...Object.entries(s.sets).map(([k, v]) => `=${clean(k)}=${clean(v)}`), '-fidelity=analytic'].join('\n');
/* {text}: the document or its figures; {why}: what is wrong. */
function ask(s, whole) {
	const a = library.ask(question(s), whole);
	return a.why === undefined ? { text: a.text, of: JSON.parse(a.text) } : a;
}
function readParameters() {
	parameters = new Map(library.parameters().map(([key, value, range, help]) => [key, { value, range, help }]));
}

/* --- sliders ------------------------------------------------------------------------------------------------ */

/* Of "192 MiB" eighths to eight times, in the same unit, and whole where it is whole: those that the machine can have alone. */
function values(key, text) {
	const m = /^(\d+(?:\.\d+)?)(\s.*)?$/.exec(text);
	if (!m || Number(m[1]) === 0) return [text];
	const all = [1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1, 5 / 4, 3 / 2, 2, 3, 4, 6, 8].map((f) => Number(m[1]) * f)
		.filter((v) => !/^\d+$/.test(m[1]) || Number.isInteger(v)).map((v) => String(+v.toPrecision(9)) + (m[2] ?? ''));
	return [...new Set(all)].filter((v) => v === text || library.check(`${key}=${v}`));
}
function slider(key) {
	let held = false; /* from the first move until it is let go: one step to undo */
	const at = parameters.get(key), now = state.sets[key] ?? at.value, list = values(key, at.value);
	if (!list.includes(now)) list.push(now);
	const box = document.createElement('div'), label = document.createElement('label'), out = document.createElement('output'), input = document.createElement('input');
	box.className = 'slider' + (key in state.sets ? ' changed' : '');
	label.textContent = key;
	label.title = `${at.help} (${at.range})`;
	label.htmlFor = input.id = 'p-' + key;
	Object.assign(input, { type: 'range', min: 0, max: list.length - 1, step: 1, value: list.indexOf(now) });
	input.dataset.key = key;
	out.textContent = now;
	input.setAttribute('aria-valuetext', now);
	input.addEventListener('input', () => {
		const v = list[input.value], sets = { ...state.sets, [key]: v };
		if (v === at.value) delete sets[key];
		out.textContent = v;
		input.setAttribute('aria-valuetext', v);
		box.classList.toggle('changed', v !== at.value);
		drag({ ...state, sets }, held);
		held = true;
	});
	input.addEventListener('change', () => { held = false; });
	box.append(label, out, input);
	return box;
}
function drawSliders() {
	const keys = [...new Set([...data.keys, ...Object.keys(state.sets)])].filter((k) => parameters.has(k));
	$('sliders').replaceChildren(...keys.map(slider));
	$('keys').replaceChildren(...[...parameters.keys()].map((k) => Object.assign(document.createElement('option'), { value: k + '=' })));
}

/* --- what comes of it --------------------------------------------------------------------------------------- */

const num = (v) => (v >= 100 ? Math.round(v).toLocaleString('en-US') : String(+v.toPrecision(3)));
const time = (us) => (us < 1e4 ? num(us) + ' µs' : num(us / 1e3) + ' ms');
function tile(value, what, now, then) {
	const box = document.createElement('div');
	box.append(Object.assign(document.createElement('b'), { textContent: value }), Object.assign(document.createElement('span'), { textContent: what }));
	if (then && now !== then)
		box.append(Object.assign(document.createElement('span'), { className: 'more', textContent: `${now > then ? '+' : ''}${num(100 * (now / then - 1))} % of the start` }));
	return box;
}
function drawFigures(f) {
	const b = base ?? f, tiles = [tile(time(f.total_us), 'simulated', f.total_us, b.total_us)];
	if (f.energy_uj) tiles.push(tile(num(f.energy_uj / 1e3) + ' mJ', 'energy', f.energy_uj, b.energy_uj), tile(num(f.power_w) + ' W', 'mean power', f.power_w, b.power_w));
	if (f.area_mm2) tiles.push(tile(num(f.area_mm2) + ' mm²', 'die', f.area_mm2, b.area_mm2));
	tiles.push(tile(time(f.roofline_us), 'no mapping under', f.roofline_us, b.roofline_us));
	$('tiles').replaceChildren(...tiles);
	const parts = Object.entries(f.stall_us).sort((p, q) => q[1] - p[1]), all = parts.reduce((s, p) => s + p[1], 0);
	const color = (name) => COLORS[Math.max(0, Object.keys(b.stall_us).indexOf(name)) % COLORS.length];
	$('bar').replaceChildren(...parts.map(([name, us]) => {
		const i = document.createElement('i');
		i.style.cssText = `width:${(100 * us) / all}%;background:${color(name)}`;
		i.title = `${name} ${time(us)}`;
		return i;
	}));
	$('bar').setAttribute('aria-label', 'waited for: ' + parts.map(([n, us]) => `${n} ${num((100 * us) / all)} %`).join(', '));
	$('legend').replaceChildren(...parts.slice(0, 6).map(([name, us]) => {
		const k = Object.assign(document.createElement('span'), { className: 'key' }), i = document.createElement('i');
		i.style.background = color(name);
		k.append(i, `${name} ${num((100 * us) / all)} %`);
		return k;
	}));
	$('head').textContent = `${time(f.total_us)} a step, in closed form`;
}
function drawDocument(d) {
	$('verdict').replaceChildren(...d.verdict.map((t, i) => Object.assign(document.createElement('div'), { textContent: t, style: i ? '' : 'font-weight:600' })));
	const row = (tag, cells) => { const tr = document.createElement('tr'); tr.append(...cells.map((c) => Object.assign(document.createElement(tag), { textContent: c }))); return tr; };
	$('ops').replaceChildren(row('th', ['op', 'µs', 'held by', 'MiB']),
		...[...d.ops].filter((o) => o.us !== null).sort((p, q) => q.us - p.us).slice(0, 12).map((o) => row('td', [`${o.id} ${o.name}`, num(o.us), o.bound, num(o.dram_bytes / 1048576)])));
}
let waiting = 0;
function draw() {
	const from = performance.now(), a = ask(state, false);
	$('why').hidden = !a.why;
	$('why').textContent = a.why ?? '';
	if (!a.of) return;
	base ??= a.of;
	drawFigures(a.of);
	$('speed').textContent = `This took ${num(performance.now() - from)} ms.`;
	clearTimeout(waiting);
	waiting = setTimeout(rest, 350);
}
const address = () => history.replaceState(null, '', '#' + encodeURIComponent(JSON.stringify(state)));
/* What a slider need not wait for: the address, which browsers let change some times a second, and all that is said of a run. */
function rest() {
	const d = ask(state, true);
	address();
	if (d.of) drawDocument(d.of);
}
let asked = false;
function drag(to, held) {
	if (!held) was.push(state);
	$('undo').disabled = false;
	state = to;
	if (asked) return; /* it is drawn with the next frame, once */
	asked = true;
	requestAnimationFrame(() => { asked = false; draw(); });
}
/* `anew`: another machine or workload, which the page begins again from. */
function change(to, anew) {
	was.push(state);
	$('undo').disabled = false;
	state = to;
	address();
	show(anew);
}
function show(anew) {
	$('machine').value = state.machine;
	$('work').value = state.work;
	if (anew) {
		const a = ask({ ...state, sets: state.machine === data.machine ? first().sets : {} }, false);
		base = a.of ?? null;
		readParameters();
		drawSliders();
	}
	draw();
}

/* --- controls ----------------------------------------------------------------------------------------------- */

const named = (path) => path.replace(/^.*\//, '').replace(/\.yaml$/, '');
const words = (s) => s.split(/\s+/).filter(Boolean).map((w) => w.split(/=(.*)/s)).map(([k, v]) => `--${k} '${v ?? ''}'`).join(' ');
function copy(text) {
	$('copied').hidden = false;
	$('copied').textContent = text;
	navigator.clipboard?.writeText(text).catch(() => {});
}
function yaml() {
	const top = [], sections = {};
	for (const [k, p] of parameters) {
		const v = state.sets[k] ?? p.value, [s, key] = k.includes('.') ? k.split(/\.(.*)/s) : ['', k];
		if (s) (sections[s] ??= []).push(`  ${key}: ${JSON.stringify(v)}`);
		else top.push(`${key}: ${JSON.stringify(v)}`);
	}
	return [...top, ...Object.entries(sections).flatMap(([s, rows]) => [s + ':', ...rows])].join('\n') + '\n';
}
$('undo').addEventListener('click', () => { const last = was.pop(); if (last) { const anew = last.machine !== state.machine || last.work !== state.work; state = last; address(); show(anew); drawSliders(); } $('undo').disabled = !was.length; });
$('reset').addEventListener('click', () => change(first(), true));
/* A stored run's machine has no file that others have: its YAML is the one to copy. */
const own = () => data.stored && state.machine === data.machine;
$('line').addEventListener('click', () => copy(own() ? `# ${named(state.machine)}.yaml: what 'Copy YAML' gives\nnpusim run -c ./${named(state.machine)}.yaml ${words(state.work)} --fidelity analytic`
	: `npusim run -c ${named(state.machine)} ${words(state.work)}${Object.entries(state.sets).map(([k, v]) => ` --set '${k}=${v}'`).join('')} --fidelity analytic`));
$('yaml').addEventListener('click', () => copy(yaml()));
$('any').addEventListener('change', () => {
	const [key, v] = $('any').value.split(/=(.*)/s);
	if (v === undefined || v === '') return;
	change({ ...state, sets: { ...state.sets, [key.trim()]: v.trim() } }, false);
	drawSliders();
	$('any').value = '';
});
$('work').addEventListener('change', () => change({ ...state, work: $('work').value.trim() }, true));
$('machine').addEventListener('change', () => change({ ...state, machine: $('machine').value, sets: {} }, true));
const machines = Object.keys(data.files).filter((f) => /^(page|configs\/npu)\//.test(f));
$('machine').replaceChildren(...machines.map((f) => Object.assign(document.createElement('option'), { value: f, textContent: named(f) + (f.startsWith('page/') ? ' (as given)' : '') })));
$('version').textContent = data.version;
state = fromAddress() ?? state;
show(true);
/* For tests: a question as the page asks it. */
window.npusim = { ask: (s, whole) => ask({ ...state, ...s }, whole), state: () => state };
}
