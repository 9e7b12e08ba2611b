// Documentation-heavy open source: a crawl, a header whose menu is a list of buttons and links, a deep sidebar.
import { links, type SiteFiles } from '../serve.js';

const header = `<header class="navbar"><a href="/">Logo</a><button>Menu</button>${links([
  '/docs/intro',
  '/docs/api',
  '/blog/',
  '/community',
  'https://github.example.com/project',
])}</header>`;
const sidebar = (paths: string[]) => `<main><aside class="sidebar">${links(paths)}</aside></main>`;

export const openSource: SiteFiles = {
  '/robots.txt': 'User-agent: *\nCrawl-delay: 0\nDisallow: /community\nDisallow: /search\n',
  '/': `${header}<main><a href="/docs/intro">Get going</a><a href="/showcase">Showcase</a></main>
    <footer><nav><a href="/docs/v1.2/">1.2</a><a href="/privacy">Privacy</a></nav></footer>`,
  '/docs/intro':
    header + sidebar(['/docs/intro', '/docs/install', '/docs/guides/deploy', '/docs/guides/scale']),
  '/docs/api': header + sidebar(['/docs/api/client', '/docs/api/server#events', '/docs/api/server?v=2']),
  '/blog/': header + sidebar(['/blog/release-2', '/blog/release-1', '/blog/feed.xml']),
  '/community': header,
};
