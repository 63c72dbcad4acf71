'use strict';
(async function () {
@file page.js
@file figure.js
@file live_library.js
@file live.js
@file run_points.js
@file run.js
@file compared.js
@file sweep_lines.js
@file sweep_front.js
@file sweep_axes.js
@file sweep.js
@file design.js
@file serve.js
/* Beside what simulates they are packed. */
show(JSON.parse(document.getElementById('module') ? new TextDecoder().decode(await unpack('data')) : document.getElementById('data').textContent));
})();
