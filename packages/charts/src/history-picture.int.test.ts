// The picture of a score's history in a real Chromium, with its real headers: opened by itself, and shown in a page.
// KEEP_SCREENSHOTS=1 renews docs/screenshots.
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { renderScoreHistory } from './history-picture.js';
import { historyInWords, historyTitle } from './history-words.js';
import { pictureHeaders } from './picture.js';
import { startChromium } from './testing/chromium.js';
import { cases, hostileName } from './testing/histories.js';
import { clip } from './words.js';

const screenshots = join(import.meta.dirname, '../../../docs/screenshots');
const keep = process.env['KEEP_SCREENSHOTS'] === '1';
/** The narrowest picture and the widest for every history; the usual one also as it is shown on a phone and in a page. */
const widthsOf = (name: string) => (name === 'usual' ? [320, 360, 960, 1_600] : [320, 1_600]);

let server: Server;
let origin: string;
let browser: Browser;
let asked: string[] = [];

/** `/usual-960.svg` is a picture, `/usual-960` a page that shows it. */
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const [, name = '', width = '', kind] = /^\/([a-z-]+)-(\d+)(\.svg)?$/.exec(request.url ?? '') ?? [];
    const history = cases[name];
    if (!history) response.writeHead(404).end();
    else if (kind === undefined)
      response
        .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
        .end(
          `<!doctype html><meta name="color-scheme" content="light dark"><img src="${name}-${width}.svg">`,
        );
    else
      response
        .writeHead(200, { 'Content-Type': 'image/svg+xml; charset=utf-8', ...pictureHeaders })
        .end(renderScoreHistory(history, Number(width)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  browser = await startChromium();
}, 600_000);

afterAll(async () => {
  await browser.close();
  await new Promise((resolve) => server.close(resolve));
});

/** Opens an address, passes it to `use`, and returns the browser's complaints. */
async function visit(
  path: string,
  options: BrowserContextOptions,
  use: (page: Page) => Promise<void>,
): Promise<string[]> {
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
}

const looks: Record<string, BrowserContextOptions> = {
  light: {},
  dark: { colorScheme: 'dark' },
  contrast: { forcedColors: 'active' },
};
const kept = new Set(['usual-960 light', 'usual-960 dark', 'usual-360 light', 'right-to-left-960 light']);

/** Texts that leave the picture, or that cover one another. */
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

describe.each(Object.entries(looks))('in %s colours', (look, options) => {
  test.each(Object.keys(cases).flatMap((name) => widthsOf(name).map((width) => `${name}-${String(width)}`)))(
    '“%s” is one file, and every text has its place',
    async (name) => {
      const width = Number(name.split('-').at(-1));
      const complaints = await visit(
        `${name}.svg`,
        { ...options, viewport: { width, height: 900 } },
        async (page) => {
          expect(asked).toEqual([`/${name}.svg`]);
          expect(await page.evaluate('document.querySelectorAll("parsererror").length')).toBe(0);
          expect(await page.evaluate(misplaced)).toEqual([]);
          if (keep && kept.has(`${name} ${look}`)) {
            await mkdir(screenshots, { recursive: true });
            const file = `score-history-${name}${look === 'light' ? '' : `-${look}`}.png`;
            await writeFile(join(screenshots, file), await page.locator('svg').screenshot());
          }
        },
      );
      expect(complaints).toEqual([]);
    },
  );
});

test('a screen reader gets one image with the title as its name and the course as its description', async () => {
  await visit('usual-960.svg', {}, async (page) => {
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const image = nodes.find(({ role }) => role?.value === 'image');
    const history = cases['usual'];
    if (!history) throw new Error('there is no such history');
    expect([image?.name?.value, image?.description?.value]).toEqual([
      historyTitle(history, history.lead_name),
      historyInWords(history),
    ]);
  });
});

test('light and dark follow the reader, also where the picture is shown in a page', async () => {
  const backs: unknown[] = [];
  for (const path of ['usual-960.svg', 'usual-960'])
    for (const colorScheme of ['light', 'dark'] as const)
      await visit(path, { colorScheme }, async (page) => {
        const shot = (await page.screenshot({ clip: { x: 20, y: 20, width: 1, height: 1 } })).toString(
          'base64',
        );
        // The colour of a pixel, read by a page without a policy.
        await page.goto(`${origin}/one-day-320`);
        backs.push(
          await page.evaluate(`new Promise((resolve) => {
            const image = new Image();
            image.onload = () => {
              const context = document.createElement('canvas').getContext('2d');
              context.drawImage(image, 0, 0);
              resolve([...context.getImageData(0, 0, 1, 1).data].slice(0, 3).join());
            };
            image.src = 'data:image/png;base64,${shot}';
          })`),
        );
      });
  expect(backs).toEqual(['246,245,241', '15,17,20', '246,245,241', '15,17,20']);
});

test('markup in names is read, not run', async () => {
  const complaints = await visit('markup-960.svg', {}, async (page) => {
    expect(await page.evaluate('document.querySelector("title").textContent')).toContain(
      `\u2068${clip(hostileName.replace('\0', '\uFFFD'), 120)}\u2069`,
    );
    expect(await page.locator('script, img, [onerror]').count()).toBe(0);
    expect(await page.title()).not.toBe('ran');
  });
  expect(complaints).toEqual([]);
});

test('a name from right to left stands at the left edge, in its own order', async () => {
  await visit('right-to-left-960.svg', {}, async (page) => {
    const name = page.locator('text', { hasText: 'Acme' });
    const box = await name.boundingBox();
    expect(Math.round(box?.x ?? 0)).toBeLessThanOrEqual(36);
    // The first letter of the name is the rightmost one.
    const first = `(() => {
      const text = [...document.querySelectorAll('text')].find((one) => one.textContent.includes('Acme'));
      return text.getExtentOfChar(1).x > text.getExtentOfChar(8).x;
    })()`;
    expect(await page.evaluate(first)).toBe(true);
  });
});
