// Turns SVG into pixels with our own fonts, by a program that needs no browser.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { initWasm, Resvg, type ResvgRenderOptions } from '@resvg/resvg-wasm';

export type Fonts = Uint8Array[];
export type Drawing = InstanceType<typeof Resvg>;

const fontFiles = [
  import.meta.resolve('@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf'),
  import.meta.resolve('@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf'),
  import.meta.resolve('@expo-google-fonts/inter/700Bold/Inter_700Bold.ttf'),
  import.meta.resolve('@expo-google-fonts/noto-sans-arabic/600SemiBold/NotoSansArabic_600SemiBold.ttf'),
  import.meta.resolve('@expo-google-fonts/noto-sans-hebrew/600SemiBold/NotoSansHebrew_600SemiBold.ttf'),
  import.meta.resolve('@expo-google-fonts/noto-emoji/400Regular/NotoEmoji_400Regular.ttf'),
];
/** The font of text that names none that we have. */
export const usualFont = 'Inter';

let fontsOnce: Promise<Fonts> | undefined;

/** Loads the fonts and the drawing program for the first picture, and keeps them. */
export function loadFonts(): Promise<Fonts> {
  return (fontsOnce ??= (async () => {
    await initWasm(readFile(fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm'))));
    return Promise.all(fontFiles.map((file) => readFile(fileURLToPath(file))));
  })());
}

/** Calls `use` with the drawing of an SVG, and then frees its memory, which the garbage collector does not manage. */
export function withDrawing<T>(
  svg: string,
  fonts: Fonts,
  use: (drawing: Drawing) => T,
  options: Pick<ResvgRenderOptions, 'fitTo'> = {},
): T {
  const drawing = new Resvg(svg, { ...options, font: { fontBuffers: fonts, defaultFontFamily: usualFont } });
  try {
    return use(drawing);
  } finally {
    drawing.free();
  }
}

/** The drawing as a PNG. */
export function pngOf(drawing: Drawing): Buffer {
  const image = drawing.render();
  try {
    return Buffer.from(image.asPng());
  } finally {
    image.free();
  }
}
