/* page.js - asks the WebAssembly of a page what same.py asks, in node: the page's own script, without its drawing. Questions and answers as
 * library.c has them.
 *
 *   node page.js PAGE.html */
'use strict';
const fs = require('fs');
const html = fs.readFileSync(process.argv[2], 'utf8');
const document = {
	getElementById: (id) => ({ textContent: new RegExp(`id="${id}">([^<]*)<`).exec(html)[1], remove() {} }),
};
const own = (name) => fs.readFileSync(`results/report/${name}.js`, 'utf8');

(async () => {
	const { unpack, openLibrary } = new Function('document', `${own('unpack')}${own('live_library')} return { unpack, openLibrary };`)(document),
		{ files } = JSON.parse(new TextDecoder().decode(await unpack('live'))),
		library = await openLibrary(await unpack('module'), files);
	let question = [];
	for await (const line of require('readline').createInterface({ input: process.stdin })) {
		if (line) {
			question.push(line[0] === '@' ? `@configs/npu/${line.slice(1)}.yaml` : line);
			continue;
		}
		const a = library.ask(question.join('\n'), true),
			text = Buffer.from(a.text ?? a.why);
		process.stdout.write(`${a.text === undefined ? 1 : 0} ${text.length}\n`);
		process.stdout.write(text);
		question = [];
	}
})();
