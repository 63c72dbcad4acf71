/* pack.js - standard input deflated, in 85 characters that are no markup: four bytes are five of '(' to '|', with '}' for '<'; the last
 * ones as many and one. unpack.js reads it; sim/live/live_page.c writes the same. */
'use strict';
const from = require('zlib').deflateSync(require('fs').readFileSync(0), { level: 9 });
const out = [];
for (let i = 0; i < from.length; i += 4) {
	const n = Math.min(4, from.length - i);
	let v = 0;
	for (let k = 0; k < 4; k++) v = v * 256 + (k < n ? from[i + k] : 0);
	const five = [4, 3, 2, 1, 0].map((p) => String.fromCharCode(40 + (Math.floor(v / 85 ** p) % 85)));
	out.push(five.slice(0, n + 1).join(''));
}
process.stdout.write(out.join('').replace(/</g, '}'));
