// The picture for link previews, and the thread that draws it.
export { createPreviewPainter, PainterBusy, type PreviewPainter } from './preview-painter.js';
export { renderPreviewImage } from './render-preview-image.js';
