// The picture for link previews, and the thread that draws it.
import { createPainter, type Painter } from '@lead-scoring/charts/painting';
import type { SharedExplanation } from './shared-explanation.js';

export { PainterBusy } from '@lead-scoring/charts/painting';
export { renderPreviewImage } from './render-preview-image.js';

/** Anyone who has a link may request its picture, so that a thread of its own draws it. */
export type PreviewPainter = Painter<SharedExplanation>;

export function createPreviewPainter(): PreviewPainter {
  return createPainter({
    module: new URL('./render-preview-image.js', import.meta.url),
    name: 'renderPreviewImage',
  });
}
