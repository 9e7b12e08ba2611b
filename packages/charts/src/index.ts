// What pages and pictures of scores are made of: markup that is escaped by construction, words, colours and plots; and pictures.
export { axisMarks, compactNumber } from './axis.js';
export { courseInWords } from './course-words.js';
export { html, styleElement, textOf, type Child, type Html } from './html.js';
export { customProperties, palette, safeColour } from './palette.js';
export { extremes, stepsPath } from './steps.js';
export * from './words.js';
