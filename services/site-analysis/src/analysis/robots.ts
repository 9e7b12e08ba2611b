// Reads robots.txt (RFC 9309): the paths that this visitor may fetch, the crawl delay, and the sitemaps.
import robotsParser from 'robots-parser';

export interface Robots {
  allows(url: URL): boolean;
  /** The requested pause between two requests, up to a limit. */
  crawlDelayMs: number;
  /** The sitemaps as written, at most `maximumSitemaps`. */
  sitemaps: readonly string[];
}

/** Our agent's name in robots.txt files; the `User-Agent` header starts with it. */
export const agentName = 'LeadScoringSiteAnalysis';

/** The part of a robots.txt that a crawler must read (RFC 9309, 2.5); no more is read. */
export const maximumRobotsBytes = 500 * 1_024;

const maximumSitemaps = 50;

/** The longest pause between requests: with minutes, an analysis would have one page. */
const maximumCrawlDelayMs = 1_000;

/** The most characters of all rules with wildcards: matching a path costs the product of both lengths. */
const maximumWildcardLength = 20_000;

/** The rules of a site that restricts nothing. */
export const unrestricted: Robots = { allows: () => true, crawlDelayMs: 0, sitemaps: [] };

// The library is CommonJS and declares itself as an ES module.
const parse = robotsParser as unknown as typeof robotsParser.default;

/** @param url the address of the robots.txt; the rules apply to its origin */
export function parseRobots(url: URL, text: string): Robots {
  const rules = parse(url.href, relevantLines(text).join('\n'));
  const delay = rules.getCrawlDelay(agentName) ?? 0;
  return {
    allows: (target) => rules.isAllowed(target.href, agentName) !== false,
    crawlDelayMs: Math.min(Math.max(delay * 1_000, 0), maximumCrawlDelayMs),
    sitemaps: rules.getSitemaps().slice(0, maximumSitemaps),
  };
}

/**
 * The lines, reduced so that a hostile file is not expensive: all other agents get one name, no agent is named twice in a group, and
 * the length of rules with wildcards is bounded.
 */
function relevantLines(text: string): string[] {
  const lines: string[] = [];
  let group = new Set<string>();
  let inGroupHead = false;
  let wildcardLength = 0;
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const [, field, value] = /^\s*([a-z-]{1,20})\s*:([^#]*)/i.exec(line) ?? [];
    if (field === undefined || value === undefined) continue;
    const isAgent = field.toLowerCase() === 'user-agent';
    if (isAgent) {
      if (!inGroupHead) group = new Set();
      const name = agentNamed(value);
      if (!group.has(name)) lines.push(`User-agent: ${name}`);
      group.add(name);
    } else {
      if (value.includes('*')) wildcardLength += value.length;
      if (!value.includes('*') || wildcardLength <= maximumWildcardLength)
        lines.push(`${field}:${value.replace(/\*{2,}/g, '*')}`);
    }
    inGroupHead = isAgent;
  }
  return lines;
}

function agentNamed(value: string): string {
  const name = value.split('/')[0]?.trim().toLowerCase();
  return name === '*' || name === agentName.toLowerCase() ? name : 'another';
}
