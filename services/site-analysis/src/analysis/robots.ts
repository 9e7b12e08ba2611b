// robots.txt (RFC 9309): what this visitor may fetch, how fast, and where the sitemaps are.
import robotsParser from 'robots-parser';

export interface Robots {
  allows(url: URL): boolean;
  /** The pause that is asked for between two requests, within reason. */
  crawlDelayMs: number;
  /** As written, at most `maximumSitemaps`. */
  sitemaps: readonly string[];
}

/** Our name as robots.txt files spell it; the `User-Agent` header starts with it. */
export const agentName = 'LeadScoringSiteAnalysis';

/** What must be read of a robots.txt at least (RFC 9309, 2.5). We read no more. */
export const maximumRobotsBytes = 500 * 1_024;

const maximumSitemaps = 50;

/** A site that asks for minutes between requests would get an analysis of one page. */
const maximumCrawlDelayMs = 1_000;

/** Characters of rules with wildcards, all together: matching one against a path costs their product. */
const maximumWildcardLength = 20_000;

/** A site without rules for us. */
export const unrestricted: Robots = { allows: () => true, crawlDelayMs: 0, sitemaps: [] };

// The library is CommonJS and declares itself as an ES module.
const parse = robotsParser as unknown as typeof robotsParser.default;

/** @param url of the robots.txt; the rules hold for its origin */
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
 * The lines without what a hostile file could make expensive: the agents that we are not are one name, no agent is
 * named twice in a group, and rules with wildcards are bounded.
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
