// The page is complete and safe, and loads nothing from elsewhere.
import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { routes } from '../routes/index.js';
import { openApiDocument } from './openapi.js';
import { documentationPage } from './page.js';

const document = openApiDocument({ version: '1.2.3' });
const { html, contentSecurityPolicy } = documentationPage(document);

test('every route is on the page, under its name', () => {
  for (const name of Object.keys(routes)) expect(html).toContain(`id="${name}"`);
});

test('every link within the page leads somewhere', () => {
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));
  const targets = [...html.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
  expect(targets.filter((target) => !ids.has(target))).toEqual([]);
});

test('nothing is loaded from elsewhere, and the policy allows only what is in the page', () => {
  expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  const [style, script] = ['style', 'script'].map(
    (tag) => new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)?.[1] ?? '',
  );
  for (const source of [style ?? '', script ?? ''])
    expect(contentSecurityPolicy).toContain(
      `'sha256-${createHash('sha256').update(source).digest('base64')}'`,
    );
  expect(html).not.toMatch(/ (?:style|on\w+)=/);
});

test('text of the document cannot become markup', () => {
  const page = documentationPage({
    ...document,
    info: { ...document.info, title: '<img src=x onerror=alert(1)>', description: '**<i>**' },
  });
  expect(page.html).not.toContain('<img');
  expect(page.html).not.toContain('<i>');
});

test('the page stays small: at most 7 KB a route, schemas included', () => {
  expect(html.length / Object.keys(routes).length).toBeLessThan(7_000);
});
