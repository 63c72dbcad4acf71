/* charts_vega.js - the transforms that charts of the page use, and what Vega-Lite imports of 'vega'. */
import * as encode from 'vega-encode';
import { transforms } from 'vega-dataflow';
import * as data from 'vega-transforms';
import { extend } from 'vega-util';
import * as views from 'vega-view-transforms';

extend(transforms, data, views, encode);
export { hasOwnProperty, isObject, isString, stringValue } from 'vega-util';
