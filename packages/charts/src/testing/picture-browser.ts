// Pictures in a real Chromium, with their real headers, for tests: each opened by itself, and shown in a page.
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { pictureHeaders } from '../picture.js';
import { startChromium } from './chromium.js';

const screenshots = join(import.meta.dirname, '../../../../docs/screenshots');

export const looks: Record<string, BrowserContextOptions> = {
  light: {},
  dark: { colorScheme: 'dark' },
  contrast: { forcedColors: 'active' },
};

/** Texts that leave the picture, or that cover one another: an expression for the page of a picture. */
const misplaced = `(() => {
  const { width, height } = document.documentElement.getBoundingClientRect();
  const texts = [...document.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const outside = texts.filter(([, box]) => box.left < 0 || box.right > width || box.top < 0 || box.bottom > height);
  const over = texts.filter(([, one], index) =>
    texts.slice(index + 1).some(
      ([, other]) =>
        one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 4 && other.top < one.bottom - 4,
    ),
  );
  return [...outside, ...over].map(([text]) => text);
})()`;

export interface PictureBrowser {
  readonly origin: string;
  /** Paths that were asked for since the last visit began. */
  asked: () => readonly string[];
  /** Opens an address, passes it to `use`, and returns the browser's complaints. */
  visit: (
    path: string,
    options: BrowserContextOptions,
    use: (page: Page) => Promise<void>,
  ) => Promise<string[]>;
  stop: () => Promise<void>;
}

/**
 * Serves pictures: `/usual-960.svg` is a picture, `/usual-960` a page that shows it.
 * @param draw the picture of this name for a width; undefined where there is none
 */
export async function openPictures(
  draw: (name: string, width: number) => string | undefined,
): Promise<PictureBrowser> {
  let asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const [, name = '', width = '', kind] = /^\/([a-z-]+)-(\d+)(\.svg)?$/.exec(request.url ?? '') ?? [];
    const picture = draw(name, Number(width));
    if (picture === undefined) response.writeHead(404).end();
    else if (kind === undefined)
      response
        .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
        .end(
          `<!doctype html><meta name="color-scheme" content="light dark"><img src="${name}-${width}.svg">`,
        );
    else
      response
        .writeHead(200, { 'Content-Type': 'image/svg+xml; charset=utf-8', ...pictureHeaders })
        .end(picture);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const browser = await startChromium();
  return {
    origin,
    asked: () => asked,
    visit: async (path, options, use) => {
      const context = await browser.newContext(options);
      const complaints: string[] = [];
      try {
        const page = await context.newPage();
        page.on('console', (message) => complaints.push(message.text()));
        page.on('pageerror', (error) => complaints.push(error.message));
        page.on('dialog', (dialog) => {
          complaints.push('a dialog');
          void dialog.dismiss();
        });
        asked = [];
        await page.goto(`${origin}/${path}`);
        await use(page);
        return complaints;
      } finally {
        await context.close();
      }
    },
    stop: async () => {
      await browser.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * A picture is one file that loads nothing else, and every text has its place.
 * @param keptAs what the file in docs/screenshots is called, before its look; null: none is kept
 */
export async function expectWellDrawn(
  pictures: PictureBrowser,
  { name, width, look }: { readonly name: string; readonly width: number; readonly look: string },
  keptAs: string | null,
): Promise<void> {
  const path = `${name}-${String(width)}.svg`;
  const options = { ...looks[look], viewport: { width, height: 900 } };
  const complaints = await pictures.visit(path, options, async (page) => {
    expect(pictures.asked()).toEqual([`/${path}`]);
    expect(await page.evaluate('document.querySelectorAll("parsererror").length')).toBe(0);
    expect(await page.evaluate(misplaced)).toEqual([]);
    if (keptAs !== null) await keepScreenshot(page, `${keptAs}${look === 'light' ? '' : `-${look}`}.png`);
  });
  expect(complaints).toEqual([]);
}

/** With KEEP_SCREENSHOTS=1, renews a file of docs/screenshots. */
async function keepScreenshot(page: Page, file: string): Promise<void> {
  if (process.env['KEEP_SCREENSHOTS'] !== '1') return;
  await mkdir(screenshots, { recursive: true });
  await writeFile(join(screenshots, file), await page.locator('svg').screenshot());
}

/** The accessible name and description of the picture on a page, as a screen reader gets them. */
export async function imageOf(page: Page): Promise<unknown[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const image = nodes.find(({ role }) => role?.value === 'image');
  return [image?.name?.value as unknown, image?.description?.value as unknown];
}
