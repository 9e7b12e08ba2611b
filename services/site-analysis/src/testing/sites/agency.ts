// An agency: hand-written HTML without a sitemap and without a nav element, relative links below a base address.
import type { SiteFiles } from '../serve.js';

const menu = `
  <div id="main-menu" class="clearfix"><ul>
    <li><a href="./">Home</a></li>
    <li><a href="services.html">Services</a></li>
    <li><a href="our-work/">Our work</a></li>
    <li><a href="about_us.php?ref=menu">About us</a></li>
    <li><a href="contact-us.html#form">Contact</a></li>
  </ul></div>`;
const footer = `
  <div class="footer"><a href="/Impressum.html">Imprint</a> <a href="mailto:hello@example.com">Mail</a>
    <a href="tel:+4312345">Call</a> <a href="https://social.example.net/agency">Social</a> <a href="/deck.pdf">Deck</a></div>`;
const page = (body: string, head = '') =>
  `<HTML><HEAD><BASE HREF="/"><TITLE>Studio</TITLE>${head}</HEAD><BODY>${menu}${body}${footer}</BODY></HTML>`;

export const agency: SiteFiles = {
  '/': page('<p>We make things. <a href="/our-work/lighthouse">Lighthouse</a>'),
  '/services.html': page(
    '<a href="/services/branding.html">Branding</a> <a href="services/web.html">Web</a>',
  ),
  '/our-work/': page('<a href="our-work/lighthouse">Lighthouse</a><a href="our-work/harbour">Harbour</a>'),
  '/about_us.php': page(
    '<a href="/jobs">Jobs</a><img src="/team.jpg">',
    '<link rel="canonical" href="/about_us.php">',
  ),
  '/contact-us.html': { status: 301, headers: { location: '/contact' } },
  '/contact': page('<form></form>'),
};
