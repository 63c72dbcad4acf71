/* draw.js CHART svg|spec <PAGE - one chart of a page that npusim wrote, without a browser: the page's own script runs over elements that
 * keep what is put into them and nothing else; then it is Vega that writes the SVG. Colours are those of the page's style in the light,
 * the chart's heading is that of its card. `spec`: what is drawn, as Vega-Lite. */
'use strict';
const vm = require('vm');
const page = require('fs').readFileSync(0, 'utf8'),
	[, wanted, kind] = process.argv;

const FONT = '"DejaVu Sans", Verdana, sans-serif',
	WIDTH = 1000;

process.on('unhandledRejection', (why) => {
	console.error(why.message);
	process.exit(1);
});

/* Of the font's size, as wide as the letters of FONT are. */
const letter = (c) => (/[iIjl.,:;|!'()[\]]/.test(c) ? 0.34 : /[ frt/"-]/.test(c) ? 0.4 : /[mMW%@→]/.test(c) ? 0.93 : /[A-Z+=<>~×µ]/.test(c) ? 0.72 : 0.62);
const textWidth = (text, size) => [...text].reduce((sum, c) => sum + letter(c) * size, 0);

/* --- elements ---------------------------------------------------------------------------------------------- */

class Element {
	constructor(tag) {
		Object.assign(this, { tag, inside: [], dataset: {}, style: {}, clientWidth: WIDTH, className: '' });
		if (tag === 'canvas')
			this.getContext = () => ({ font: '', measureText: function (text) { return { width: textWidth(text, parseFloat(/([\d.]+)px/.exec(this.font)[1])) }; } });
	}
	append(...inside) {
		for (const x of inside) {
			this.inside.push(x);
			if (x.tag) x.parent = this;
			if (x.tag === 'script') vm.runInThisContext(x.textContent);
		}
	}
	replaceChildren(...inside) {
		this.inside = [];
		this.append(...inside);
	}
	get textContent() { return this.inside.map((x) => x.textContent ?? String(x)).join(''); }
	set textContent(text) { this.inside = [text]; }
	get children() { return this.inside; }
	find(tag, cls) { return this.inside.find((x) => x.tag === tag && (!cls || x.className.includes(cls))); }
	addEventListener() {}
	setAttribute() {}
	remove() {}
}

const parts = new Map();
function part(id) {
	const found = new RegExp(`<script[^>]* id="${id}">([^]*?)</script>`).exec(page);
	if (!parts.has(id) && found) parts.set(id, Object.assign(new Element('part'), { inside: [found[1]] }));
	return parts.get(id) ?? null;
}

const text = (html) => html.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&amp;/g, '&');
const body = new Element('body'), some = new Map();
globalThis.window = globalThis;
globalThis.addEventListener = () => {};
globalThis.CSS = { supports: () => false };
globalThis.document = {
	title: text(/<title>([^]*?)<\/title>/.exec(page)[1]),
	hidden: true,
	body,
	documentElement: body,
	createElement: (tag) => new Element(tag),
	getElementById: part,
	querySelector: (of) => some.get(of) ?? some.set(of, new Element(of)).get(of),
};

/* --- the picture ------------------------------------------------------------------------------------------- */

const colors = Object.fromEntries([.../:root\s*{([^}]*)}/.exec(page)[1].matchAll(/--([\w-]+):\s*([^;]+);/g)].map((m) => [m[1], m[2]]));
const colored = (drawn) => drawn.replace(/var\(--([\w-]+)\)/g, (_, name) => colors[name]);

/* Lines of up to so many pixels. */
function wrapped(words, most, size) {
	const lines = [''];
	for (const word of words.split(/\s+/)) {
		const last = lines[lines.length - 1];
		if (last && textWidth(`${last} ${word}`, size) > most) lines.push(word);
		else lines[lines.length - 1] = last ? `${last} ${word}` : word;
	}
	return lines;
}

function heading(at, width) {
	const card = at.parent,
		own = card.find('h3').textContent,
		words = card.find('p', 'soft')?.textContent ?? '';
	return {
		text: wrapped(document.title || own, width, 16),
		subtitle: [document.title && own !== document.title ? own + (words ? '.' : '') : '', words].filter((x) => x).flatMap((x) => wrapped(x, width, 12)),
		anchor: 'start',
		frame: 'bounds',
		fontSize: 16,
		fontWeight: 'bold',
		subtitleColor: colors.soft,
		subtitleFontSize: 12,
		subtitlePadding: 6,
		offset: 14,
	};
}

let found = null;
globalThis.draw = (name, spec, at) => {
	if (name === wanted) found = { spec, at };
};

async function finish() {
	if (!found) throw new Error(`the page has no chart '${wanted}'`);
	const { spec, at } = found,
		whole = { ...spec, title: heading(at, Math.max(640, typeof spec.width === 'number' ? spec.width + 120 : 0)), padding: 14, config: { ...spec.config, background: colors.card, font: FONT, aria: false } };
	if (kind === 'spec') return process.stdout.write(colored(JSON.stringify(whole, null, '\t')) + '\n');
	const view = new charts.View(charts.parse(charts.compile(whole).spec), { renderer: 'none' });
	process.stdout.write(colored(await view.toSVG()) + '\n');
}
Object.defineProperty(body.dataset, 'ready', { set: () => finish() });

/* The page's last script, which unpacks the others. */
vm.runInThisContext(/<script>([^]*?)<\/script>\s*<\/body>/.exec(page)[1]);
