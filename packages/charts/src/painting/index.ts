// Pictures as PNG: the thread that paints them, and the program and fonts that it paints with.
export { loadFonts, pngOf, usualFont, withDrawing, type Fonts } from './drawing.js';
export { paintPicture } from './paint-picture.js';
export { createPainter, PainterBusy, type Painter } from './painter.js';
export { createPicturePainter, type PicturePainter } from './picture-painter.js';
