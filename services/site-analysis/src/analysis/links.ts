// Reads the links of a page, those that are its navigation, and its canonical address.
import { parse, type HTMLElement, type Node, NodeType } from 'node-html-parser';
import { linkedUrl } from './site.js';

export interface PageLinks {
  /** In the order of the page. */
  links: URL[];
  /** The links of menus at the top of the page, as far as menus are recognised. */
  navigation: URL[];
  /** The address that the page declares as its own. */
  canonical: URL | null;
  /** Sitemaps that the page names. */
  sitemaps: URL[];
  asksForPassword: boolean;
}

/** Limits of the parser's time and memory, because it blocks the event loop. Five times the numbers of large pages. */
const maximumTags = 15_000;
const maximumLinks = 5_000;

/** Reads a page, also an incomplete or broken one. */
export function readLinks(html: string, address: URL): PageLinks {
  const root = parse(withTagLimit(withoutHidden(html)), { parseNoneClosedTags: true, blockTextElements: {} });
  const reader = new LinkReader(address);
  // Iterative, because a page may be nested deeper than the call stack allows.
  const stack: { node: Node; menu: boolean; footer: boolean }[] = [
    { node: root, menu: false, footer: false },
  ];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (!isElement(next.node)) continue;
    const element = next.node;
    const name = (element.rawTagName as string | null)?.toLowerCase() ?? '';
    const footer = next.footer || isFooter(element, name);
    const menu = !footer && (next.menu || isMenu(element, name));
    reader.read(element, name, menu);
    for (let at = element.childNodes.length - 1; at >= 0; at -= 1) {
      const node = element.childNodes[at];
      if (node) stack.push({ node, menu, footer });
    }
  }
  return reader.page;
}

/** Reads the elements of a page in their order. */
class LinkReader {
  readonly page: PageLinks = {
    links: [],
    navigation: [],
    canonical: null,
    sitemaps: [],
    asksForPassword: false,
  };
  #base: URL;
  #hasBase = false;

  constructor(private readonly address: URL) {
    this.#base = address;
  }

  /** @param menu whether the element is in a menu at the top of the page */
  read(element: HTMLElement, name: string, menu: boolean): void {
    switch (name) {
      case 'a':
      case 'area':
        this.#follow(element.getAttribute('href'), menu);
        break;
      case 'base':
        this.#rebase(element.getAttribute('href'));
        break;
      case 'link':
        this.#relate(element);
        break;
      case 'meta':
        if (element.getAttribute('http-equiv')?.toLowerCase() === 'refresh')
          this.#follow(
            /url\s{0,10}=\s{0,10}["']?([^"']{1,2000})/i.exec(element.getAttribute('content') ?? '')?.[1],
            true,
          );
        break;
      case 'input':
        this.page.asksForPassword ||= element.getAttribute('type')?.toLowerCase() === 'password';
        break;
    }
  }

  #follow(href: string | undefined, menu: boolean): void {
    const { links, navigation } = this.page;
    if (href === undefined || links.length >= maximumLinks) return;
    const url = linkedUrl(href, this.#base);
    if (!url) return;
    links.push(url);
    if (menu) navigation.push(url);
  }

  /** Applies a base address; the first one of a page counts. */
  #rebase(href: string | undefined): void {
    if (href === undefined || this.#hasBase) return;
    this.#base = linkedUrl(href, this.address) ?? this.#base;
    this.#hasBase = true;
  }

  #relate(element: HTMLElement): void {
    const relations = (element.getAttribute('rel') ?? '').toLowerCase().split(/\s+/);
    const url = linkedUrl(element.getAttribute('href') ?? '', this.#base);
    if (url && relations.includes('canonical')) this.page.canonical ??= url;
    if (url && relations.includes('sitemap') && this.page.sitemaps.length < 5) this.page.sitemaps.push(url);
  }
}

function isElement(node: Node): node is HTMLElement {
  return node.nodeType === NodeType.ELEMENT_NODE;
}

const menuRoles = new Set(['navigation', 'banner', 'menubar', 'menu']);
const menuWords = new Set(
  'nav navbar navigation mainnav topnav sitenav mainmenu menu menubar topbar header masthead'.split(' '),
);

function isMenu(element: HTMLElement, name: string): boolean {
  if (name === 'nav' || name === 'header' || name === 'menu') return true;
  if (name === 'body' || name === 'html' || name === 'main') return false;
  if (menuRoles.has(element.getAttribute('role')?.toLowerCase() ?? '')) return true;
  return wordsOf(element).some((word) => menuWords.has(word));
}

function isFooter(element: HTMLElement, name: string): boolean {
  if (name === 'footer') return true;
  if (name === 'body' || name === 'html' || name === 'main') return false;
  return element.getAttribute('role')?.toLowerCase() === 'contentinfo' || wordsOf(element).includes('footer');
}

/** The words of an element's class and id: `main-nav`, `navMain` and `nav_main` all have `nav`. */
function wordsOf(element: HTMLElement): string[] {
  const names = `${element.getAttribute('class') ?? ''} ${element.getAttribute('id') ?? ''}`.slice(0, 500);
  return names
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
}

const hidden = /<!--|<!\[cdata\[|<(script|style|svg|template)(?=[\s/>])/gi;
const endings = {
  comment: /--(?=>)/g,
  script: /<\/script/gi,
  style: /<\/style/gi,
  svg: /<\/svg/gi,
  template: /<\/template/gi,
};

/** The page without comments, scripts and styles, whose text may look like markup. One that is never closed ends the page. */
function withoutHidden(html: string): string {
  const kept: string[] = [];
  let from = 0;
  hidden.lastIndex = 0;
  for (let start = hidden.exec(html); start !== null; start = hidden.exec(html)) {
    kept.push(html.slice(from, start.index));
    from = hidden.lastIndex;
    const name = start[1]?.toLowerCase() as keyof typeof endings | undefined;
    if (name !== undefined || start[0] === '<!--') {
      const ending = endings[name ?? 'comment'];
      ending.lastIndex = from;
      // The closing tag and then its bracket are two searches: on a page without brackets, a pattern for both would search for the
      // bracket again from each closing tag.
      const closed = ending.test(html) ? html.indexOf('>', ending.lastIndex) : -1;
      if (closed === -1) return kept.join('');
      from = closed + 1;
    }
    hidden.lastIndex = from;
  }
  kept.push(html.slice(from));
  return kept.join('');
}

function withTagLimit(html: string): string {
  let at = -1;
  for (let tags = 0; tags <= maximumTags; tags += 1) {
    at = html.indexOf('<', at + 1);
    if (at < 0) return html;
  }
  return html.slice(0, at);
}
