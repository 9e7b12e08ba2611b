// Reading answers of websites takes time in proportion to their length: pages, robots.txt, sitemaps and addresses of 100 KB.
import { describe, expect, test } from '@jest/globals';
import { longestLinearMs, processorTimeOf, worstTexts } from '@lead-scoring/contracts/worst-texts';
import { categorize } from './categories.js';
import { decodeText } from './charset.js';
import { htmlOf } from './homepage.js';
import { readLinks } from './links.js';
import { parseRobots } from './robots.js';
import { linkedUrl, pagePath, siteUrl } from './site.js';

const length = 100_000;
const address = new URL('https://example.com/');
const repeated = (part: string) => part.repeat(Math.ceil(length / part.length));

const texts: Record<string, string> = {
  ...worstTexts(length),
  'opening brackets': repeated('<'),
  'tags that never end': repeated('<a '),
  'elements within elements': repeated('<div>'),
  'ends of scripts without a bracket': `<script>${repeated('</script')}`,
  'ends of styles without a bracket': `<style>${repeated('</style ')}`,
  'ends of comments without a bracket': `<!--${repeated('--')}`,
  'scripts that never end': repeated('<script>'),
  'declarations of the character set': repeated('<meta charset'),
  'declarations without a value': `<meta ${repeated('charset = ')}`,
  refreshes: repeated('<meta http-equiv=refresh content="url = '),
  attributes: `<a ${repeated('href="a" ')}>`,
  'entities that never end': repeated('&amp'),
  quotes: `<a href=${repeated('"')}`,
  'lines of robots.txt': repeated('Disallow: /*a*\n'),
  'blanks before a colon': `User-agent: *\nDisallow${' '.repeat(length)}x`,
  stars: `User-agent: *\nDisallow: /${repeated('*a')}`,
  'encoded characters': repeated('%2f'),
  slashes: repeated('/'),
  points: `http://${repeated('.')}a`,
};

const readers: Record<string, (text: string) => unknown> = {
  'a page': (text) => readLinks(text, address),
  'a page without its type': (text) =>
    htmlOf({ url: address, status: 200, headers: {}, body: Buffer.from(text) } as unknown as Parameters<
      typeof htmlOf
    >[0]),
  'the character set': (text) => decodeText(Buffer.from(text), `text/html; ${text.slice(0, 8_000)}`),
  'robots.txt': (text) => parseRobots(address, text).allows(new URL(`/${'a'.repeat(2_000)}`, address)),
  'a path': (text) => categorize(`/${text}`),
  'an address': (text) => {
    const url = linkedUrl(text, address);
    return url && pagePath(url);
  },
  'the address of a site': (text) => siteUrl(text),
};

describe.each(Object.entries(readers))('%s', (_, read) => {
  test.each(Object.entries(texts))('of %s is read in linear time', (__, text) => {
    expect(processorTimeOf(() => read(text))).toBeLessThan(longestLinearMs);
  });
});
