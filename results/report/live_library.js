/* live_library.js - the library as WebAssembly: its module's bytes and the data files' texts by name, as sim/live packs them.
 * Questions are those of sim/live/live.c. */
async function openLibrary(bytes, files) {
	const module = await WebAssembly.compile(bytes);
	/* There is no system: what asks it for a file is told that there is none (EBADF); what was left out of the module frees nothing. */
	const imports = {};
	for (const i of WebAssembly.Module.imports(module))
		(imports[i.module] ??= {})[i.name] =
			i.module !== 'env' ? () => 8
			: i.name === 'inputs_add' || i.name.endsWith('_free') ? () => 0
			: () => { throw new Error(`${i.name} is not in the page`); };
	const x = (await WebAssembly.instantiate(module, imports)).exports;
	if (x._initialize) x._initialize();
	const live = x.live_new();

	function put(text) {
		const bytes = new TextEncoder().encode(text),
			p = x.live_alloc(bytes.length + 1),
			memory = new Uint8Array(x.memory.buffer);
		memory.set(bytes, p);
		memory[p + bytes.length] = 0;
		return [p, bytes.length];
	}
	const answer = () => new TextDecoder().decode(new Uint8Array(x.memory.buffer, x.live_answer(live), x.live_bytes(live)));

	for (const [name, text] of Object.entries(files)) {
		const [n] = put(name), [p, bytes] = put(text);
		x.live_file(live, n, p, bytes);
	}
	return {
		/* {text}: the document or its figures; {why}: what is wrong. */
		ask(question, whole) {
			const rc = x.live_ask(live, put(question)[0], whole ? 1 : 0), text = answer();
			return rc === 0 ? { text } : { why: text };
		},
		/* Of the machine that was asked of last: can it be so? And its parameters: key, value, range, help. */
		check: (set) => x.live_check(live, put(set)[0]) === 0,
		parameters: () => (x.live_parameters(live) === 0 ? answer().split('\n').filter(Boolean).map((line) => line.split('\t')) : []),
	};
}
