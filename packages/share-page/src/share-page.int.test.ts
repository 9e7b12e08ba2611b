// The pages in a real Chromium with their real headers: no script runs, nothing overflows, everything is accessible and
// fits on one sheet of paper. KEEP_SCREENSHOTS=1 renews docs/screenshots, which `pngquant --force --ext .png
// docs/screenshots/*.png` then makes small.
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startChromium } from '@lead-scoring/charts/testing';
import { cases, hostileName, links, script } from './testing/shared-explanations.js';
import { pageHeaders } from './headers.js';
import {
  renderExpiredPage,
  renderTooManyPage,
  renderUnavailablePage,
  renderUnknownPage,
} from './render-notice-pages.js';
import { renderPreviewImage } from './render-preview-image.js';
import { renderSharePage } from './render-share-page.js';

const screenshots = join(import.meta.dirname, '../../../docs/screenshots');
const keep = process.env['KEEP_SCREENSHOTS'] === '1';

const notices: Record<string, string> = {
  expired: renderExpiredPage('2026-11-21T12:00:00.000Z'),
  unknown: renderUnknownPage(),
  unavailable: renderUnavailablePage(),
  'too-many': renderTooManyPage(30),
};
const shares = Object.fromEntries(
  Object.entries(cases).map(([name, shared]) => [name, renderSharePage(shared, links)]),
);
/** A page with every kind of markup that could run or load, as if escaping had failed. */
const missed = (shares['usual'] ?? '').replace(
  '<main>',
  `<main>${script}<img src="/stolen" onerror="document.title='ran'"><a id="js" href="javascript:void(document.title='ran')">x</a><iframe src="/frame"></iframe><iframe srcdoc="&lt;script&gt;top.document.title='ran'&lt;/script&gt;"></iframe><style>h1{color:rgb(1,2,3)!important}</style><p id="styled" style="color:rgb(1,2,3)">x</p><link rel="stylesheet" href="/sheet.css"><base href="https://example.com/"><form action="/form"><button id="send">x</button></form><svg onload="document.title='ran'"></svg>`,
);
const pages: Record<string, string> = { ...shares, ...notices, missed };

let server: Server;
let origin: string;
let browser: Browser;
let asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin);
    asked.push(pathname);
    const page = pages[pathname.slice(1)];
    if (page === undefined) {
      response.writeHead(404).end();
      return;
    }
    const headers = searchParams.has('bare') ? { 'Content-Type': 'text/html; charset=utf-8' } : pageHeaders;
    response.writeHead(200, headers).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  browser = await startChromium();
}, 600_000);

afterAll(async () => {
  await browser.close();
  await new Promise((resolve) => server.close(resolve));
});

const desktop: BrowserContextOptions = { viewport: { width: 1_100, height: 800 } };
const looks = {
  desktop,
  dark: { ...desktop, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 780 }, isMobile: true, hasTouch: true },
  contrast: { ...desktop, forcedColors: 'active' },
} satisfies Record<string, BrowserContextOptions>;
type Look = keyof typeof looks;

/** One tab for all pages of a look: to open a tab takes the browser longer than to show a page. */
const tabs = new Map<Look, Page>();
let complaints: string[] = [];

async function tabOf(look: Look): Promise<Page> {
  const open = tabs.get(look);
  if (open) return open;
  const context = await browser.newContext(looks[look]);
  const tab = await context.newPage();
  tab.on('console', (message) => complaints.push(message.text()));
  tab.on('pageerror', (error) => complaints.push(error.message));
  tab.on('dialog', (dialog) => {
    complaints.push('a dialog');
    void dialog.dismiss();
  });
  tabs.set(look, tab);
  return tab;
}

async function closeTab(look: Look): Promise<void> {
  const tab = tabs.get(look);
  tabs.delete(look);
  await tab?.context().close();
}

/** Opens a page, passes it to `use`, and returns the browser's complaints. */
async function visit(name: string, look: Look, use: (page: Page) => Promise<void>): Promise<string[]> {
  const page = await tabOf(look);
  complaints = [];
  asked = [];
  try {
    await page.goto(`${origin}/${name}`);
    await use(page);
    return complaints;
  } catch (error) {
    // What this page left behind must not fail the next one.
    await closeTab(look);
    throw error;
  }
}

/** Visits a page that may do something, in a tab of its own. */
async function visitAlone(name: string, use: (page: Page) => Promise<void>): Promise<string[]> {
  await closeTab('desktop');
  const found = await visit(name, 'desktop', use);
  await closeTab('desktop');
  return found;
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: axe.AxeResults = await page.evaluate('axe.run({ resultTypes: ["violations"] })');
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  );
}

async function keepPicture(name: string, picture: () => Promise<Buffer>): Promise<void> {
  if (!keep) return;
  await mkdir(screenshots, { recursive: true });
  await writeFile(join(screenshots, `share-${name}.png`), await picture());
}

const shown = [...Object.keys(shares), ...Object.keys(notices)];
const kept = new Set([
  ...['usual', 'many-drivers', 'negative-score', 'right-to-left', 'expired'].map((name) => `${name} desktop`),
  'usual dark',
  'usual phone',
  'unknown phone',
]);

describe.each(Object.keys(looks) as Look[])('on %s', (look) => {
  test.each(shown)('“%s” is accessible, complete in one request, and fits the width', async (name) => {
    const found = await visit(name, look, async (page) => {
      expect(asked).toEqual([`/${name}`]);
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(overflow)).toBe(0);
      if (kept.has(`${name} ${look}`))
        await keepPicture(look === 'desktop' ? name : `${name}-${look}`, () =>
          page.screenshot({ fullPage: true }),
        );
      const table = page.locator('summary');
      if ((await table.count()) > 0) await table.click();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate(overflow)).toBe(0);
    });
    expect(found).toEqual([]);
  });
});

test.each(shown)('“%s” prints on one sheet', async (name) => {
  await visit(name, 'dark', async (page) => {
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
    expect(pdf.toString('latin1')).toMatch(/\/MediaBox \[0 0 59[45][\d.]* 84[12][\d.]*\]/);
  });
});

test('bars of both signs start at one zero line', async () => {
  await visit('many-drivers', 'desktop', async (page) => {
    const edges: { left: number; right: number; loss: boolean }[] = await page.evaluate(
      `[...document.querySelectorAll('.drivers rect')].map((bar) => {
        const { left, right } = bar.getBoundingClientRect();
        return { left: Math.round(left), right: Math.round(right), loss: bar.classList.contains('loss') };
      })`,
    );
    expect(new Set(edges.map(({ loss }) => loss)).size).toBe(2);
    expect(new Set(edges.map(({ left, right, loss }) => (loss ? right : left))).size).toBe(1);
  });
});

test('the course can be opened as a table, and the data reached, by keyboard alone', async () => {
  await visit('usual', 'desktop', async (page) => {
    const focused = 'document.activeElement.textContent';
    const outlined = 'getComputedStyle(document.activeElement).outlineStyle';
    await page.keyboard.press('Tab');
    expect(await page.evaluate(focused)).toBe('The same as a table');
    expect(await page.evaluate(outlined)).toBe('solid');
    await page.keyboard.press('Enter');
    expect(await page.locator('table').isVisible()).toBe(true);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(focused)).toBe('Data as JSON');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(focused)).toBe('Data as CSV');
  });
});

test('a name from right to left keeps its order, and the words around it theirs', async () => {
  await visit('right-to-left', 'desktop', async (page) => {
    expect(await page.evaluate('getComputedStyle(document.querySelector("h1 bdi")).direction')).toBe('rtl');
    expect(await page.evaluate('getComputedStyle(document.querySelector("h1")).direction')).toBe('ltr');
  });
});

test('light and dark are different, and follow the reader', async () => {
  const backs: unknown[] = [];
  for (const look of ['desktop', 'dark'] as const)
    await visit('usual', look, async (page) => {
      backs.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
    });
  expect(backs).toEqual(['rgb(246, 245, 241)', 'rgb(15, 17, 20)']);
});

test('markup in names and labels is read, not run', async () => {
  const found = await visit('markup', 'desktop', async (page) => {
    expect(await page.locator('h1 bdi').textContent()).toBe(hostileName);
    expect(await page.title()).toBe(`Lead score of \u2068${hostileName}\u2069`);
    expect(await page.locator('script, img, main [onerror]').count()).toBe(0);
  });
  expect(found).toEqual([]);
});

describe('when escaping has missed something', () => {
  test('the policy lets nothing run, load, restyle or send', async () => {
    const found = await visitAlone('missed', async (page) => {
      await page.evaluate('document.getElementById("js").click()');
      await page.waitForLoadState('networkidle');
      expect(await page.title()).toBe('Lead score of \u2068Ada Lovelace\u2069');
      expect(await page.evaluate('document.baseURI')).toBe(`${origin}/missed`);
      for (const selector of ['h1', '#styled'])
        expect(await page.evaluate(`getComputedStyle(document.querySelector('${selector}')).color`)).not.toBe(
          'rgb(1, 2, 3)',
        );
      // Last, because Chromium shows an empty document after it has blocked a form.
      const stopped = page.waitForEvent('console', (message) => message.text().includes('form-action'));
      await page.evaluate('document.getElementById("send").click()');
      await stopped;
      expect(new URL(page.url()).pathname).toBe('/missed');
    });
    expect(asked).toEqual(['/missed']);
    for (const directive of ['default-src', 'style-src', 'img-src', 'base-uri', 'form-action'])
      expect(found.join('\n')).toContain(directive);
  });

  test('it is the policy that holds: without it the same page runs and loads', async () => {
    await visitAlone('missed?bare', async (page) => {
      expect(await page.title()).toBe('ran');
      expect(asked).toContain('/stolen');
    });
  });
});

test('the page may not be shown in a frame', async () => {
  pages['framing'] = '<!doctype html><iframe src="/usual"></iframe>';
  await visitAlone('framing?bare', (page) => {
    expect(page.frames()[1]?.url()).toMatch(/^chrome-error:/);
    return Promise.resolve();
  });
});

afterAll(async () => {
  for (const name of ['usual', 'right-to-left']) {
    const shared = cases[name];
    if (shared) await keepPicture(`preview-${name}`, () => renderPreviewImage(shared));
  }
});
