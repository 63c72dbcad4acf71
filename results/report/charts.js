/* charts.js - what the page takes of the chart library. esbuild makes one script of it (bundle.sh), without what nothing here draws:
 * maps, trees, forces, word clouds. Vega-Lite asks 'vega' for four small helpers alone, so that name leads to charts_vega.js. */
import './charts_vega.js';
import { parse } from 'vega-parser';
import { View } from 'vega-view';
import { compile, version as lite } from 'vega-lite';
import { Handler } from 'vega-tooltip';
import { version as vega } from './node_modules/vega/package.json';

window.charts = { View, parse, compile, Handler, vega, lite };
