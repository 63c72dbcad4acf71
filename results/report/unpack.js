/* The bytes that pack.js packed into the element, which is gone then. Digits that are not there are the greatest: what is cut of a
 * group's value is rounded up to the same bytes. */
async function unpack(id) {
	const text = document.getElementById(id).textContent,
		groups = Math.ceil(text.length / 5),
		bytes = new DataView(new ArrayBuffer(4 * groups));
	for (let g = 0; g < groups; g++) {
		let v = 0;
		for (let k = 5 * g; k < 5 * g + 5; k++) {
			const c = k < text.length ? text.charCodeAt(k) : 124;
			v = v * 85 + (c === 125 ? 20 : c - 40);
		}
		bytes.setUint32(4 * g, v);
	}
	document.getElementById(id).remove();
	const whole = new Uint8Array(bytes.buffer, 0, Math.floor((text.length * 4) / 5)),
		stream = new Blob([whole]).stream().pipeThrough(new DecompressionStream('deflate'));
	return new Response(stream).arrayBuffer();
}
