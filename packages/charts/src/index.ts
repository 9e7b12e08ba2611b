// The parts of pages and pictures of scores: escaped markup, words, colours and plots; and the pictures themselves.
export { compactNumber, percent } from './axis.js';
export { courseInWords } from './course-words.js';
export { renderScoreHistory } from './history-picture.js';
export type { DrawnSeries } from './event-series.js';
export { renderSeries } from './event-series-picture.js';
export { html, styleElement, textOf, type Child, type Html } from './html.js';
export { customProperties, palette, safeColour } from './palette.js';
export { pictureHeaders } from './picture.js';
export type { DrawnHistory } from './score-history.js';
export { extremes, stepsPath } from './steps.js';
export { renderWhatIf } from './what-if-picture.js';
export { whatIfCharts, type DrawnWhatIf, type WhatIfChart } from './what-if-chart.js';
export * from './words.js';
