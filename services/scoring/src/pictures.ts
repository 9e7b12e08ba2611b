// Pictures as answers: SVG, or PNG that a thread of its own paints.
import { pictureHeaders } from '@lead-scoring/charts';
import { PainterBusy, type PicturePainter } from '@lead-scoring/charts/painting';
import { ProblemError, RenderedAnswer } from '@lead-scoring/service';

export interface PictureDependencies {
  /** Paints an SVG as a PNG. */
  readonly paintPicture: PicturePainter['paint'];
}

export function svgAnswer(svg: string): RenderedAnswer {
  return new RenderedAnswer('image/svg+xml; charset=utf-8', svg, { headers: pictureHeaders });
}

/** @throws ProblemError 503 when too many pictures wait */
export async function pngAnswer(svg: string, { paintPicture }: PictureDependencies): Promise<RenderedAnswer> {
  try {
    return new RenderedAnswer('image/png', await paintPicture(svg));
  } catch (error) {
    if (!(error instanceof PainterBusy)) throw error;
    throw new ProblemError(
      503,
      'service_unavailable',
      'Too many pictures are requested at present. Try again in a moment, or ask for SVG.',
      { cause: error, headers: { 'Retry-After': '5' } },
    );
  }
}
