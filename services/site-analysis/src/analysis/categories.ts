// The categories of pages: the intent of a visitor that each stands for, and the words in paths that identify it.
import { intentCategory, type IntentCategory } from '@lead-scoring/contracts';

export interface Category {
  weight: number;
  /** A name of the Lucide icon set (lucide.dev). */
  icon: string;
}

interface CategoryDefinition extends Category {
  /** Whole segments of a path; plurals and spellings without hyphens are added. */
  terms: string;
  /** Endings of a segment of two or three words, as in `roi-calculator`. */
  endings?: string;
}

/** The published weights, with the German, French and Spanish words of most sites in those languages. */
const definitions: Record<IntentCategory, CategoryDefinition> = {
  'Very High Intent - Demo/Book': {
    weight: 15,
    icon: 'calendar-check',
    terms:
      'demo book-demo book-a-demo request-demo request-a-demo get-demo get-a-demo schedule-demo schedule-a-demo ' +
      'watch-demo see-demo try-demo demo-request schedule scheduling book-now booking book-call book-a-call ' +
      'book-meeting book-a-meeting book-appointment book-consultation book-session schedule-call schedule-a-call ' +
      'schedule-meeting schedule-consultation appointment consultation demo-anfordern demo-buchen demo-vereinbaren ' +
      'termin termin-buchen termin-vereinbaren beratungstermin demander-une-demo rendez-vous prendre-rendez-vous ' +
      'solicitar-demo agendar-demo pedir-demo',
    endings: 'demo',
  },
  'High Intent - Contact': {
    weight: 12,
    icon: 'mail',
    terms:
      'contact contact-us contact-sales contact-form contact-page get-in-touch talk-to-sales talk-to-us ' +
      'talk-to-expert talk-to-an-expert speak-to-sales speak-with-us reach-us reach-out enquiry inquiry kontakt ' +
      'kontaktformular contacto contactar contactez-nous nous-contacter',
  },
  'High Intent - Pricing': {
    weight: 10,
    icon: 'badge-dollar-sign',
    terms:
      'pricing price plan pricing-plan plans-and-pricing plans-pricing pricing-and-plans pricing-page price-list ' +
      'buy buy-now how-to-buy purchase order-now quote get-quote get-a-quote request-quote request-a-quote ' +
      'subscription-plan preis preise preisliste tarif angebot angebot-anfordern prix tarification devis precio ' +
      'precios planes presupuesto',
    endings: 'pricing',
  },
  'High Intent - Signup': {
    weight: 10,
    icon: 'user-plus',
    terms:
      'signup sign-up register registration trial free-trial start-trial start-free-trial try try-free try-it-free ' +
      'try-for-free try-now get-started start-free start-for-free start-now create-account join-now registrieren ' +
      'registrierung kostenlos-testen inscription essai essai-gratuit registro registrarse prueba-gratis',
    endings: 'trial signup',
  },
  'Mid-High Intent - Social Proof': {
    weight: 8,
    icon: 'star',
    terms:
      'case-study customer customer-story customer-success success-story testimonial review clients client-story ' +
      'portfolio our-work work wall-of-love referenz referenzen kundenstimmen fallstudie fallstudien ' +
      'erfolgsgeschichten kunden temoignages etudes-de-cas clientes casos-de-exito testimonios',
    endings: 'case-study case-studies testimonials',
  },
  'Mid Intent - Product': {
    weight: 6,
    icon: 'package',
    terms:
      'product feature platform product-overview product-tour tour how-it-works integration capability ' +
      'produkt produkte funktion funktionen plattform produit produits fonctionnalites producto productos ' +
      'funcionalidades',
    endings: 'features',
  },
  'Mid Intent - Solutions': {
    weight: 6,
    icon: 'lightbulb',
    terms:
      'solution use-case enterprise industry industries by-industry by-role by-use-case by-team service ' +
      'for-enterprise for-business for-startup for-small-business for-team for-agency for-developer for-marketer ' +
      'for-marketing for-sales for-ecommerce for-nonprofit for-education for-healthcare for-finance for-school ' +
      'loesungen losungen branchen leistungen anwendungsfalle soluciones casos-de-uso servicios cas-d-usage',
    endings: 'solutions',
  },
  'Mid Intent - Tools': {
    weight: 6,
    icon: 'calculator',
    terms:
      'calculator estimate estimator compare comparison tool free-tool configurator assessment quiz grader ' +
      'alternative rechner vergleich konfigurator calculateur comparateur comparatif calculadora comparar',
    endings: 'calculator estimator comparison',
  },
  'Mid Intent - Location Pages': {
    weight: 5,
    icon: 'map-pin',
    terms:
      'location city find-a-location find-us store-locator branch office our-offices near-me service-area ' +
      'standort standorte filialen staedte ubicaciones ciudades oficinas agences villes',
    endings: 'locations offices',
  },
  'Mid Intent - Documentation': {
    weight: 5,
    icon: 'book-open',
    terms:
      'doc documentation help support help-center help-centre support-center support-centre helpdesk help-desk faq ' +
      'customer-support customer-service knowledge-base knowledgebase kb api api-doc api-docs api-reference ' +
      'developer-docs developer reference manual user-guide user-manual getting-started quickstart quick-start ' +
      'installation tutorial how-to hilfe dokumentation handbuch aide assistance ayuda soporte documentacion',
    endings: 'docs documentation faq',
  },
  'Mid Intent - Research': {
    weight: 4,
    icon: 'microscope',
    terms:
      'research report insight whitepaper white-paper study survey benchmark analysis industry-report ' +
      'market-research forschung studien berichte recherche etudes rapports investigacion informes',
    endings: 'report reports whitepaper whitepapers',
  },
  'Low Intent - Partners': {
    weight: 3,
    icon: 'handshake',
    terms:
      'partner affiliate partnership partner-program partner-with-us become-a-partner become-partner reseller ' +
      'affiliate-program referral referral-program find-a-partner partnerprogramm partenaire partenaires socios',
    endings: 'partners',
  },
  'Low Intent - Resources': {
    weight: 3,
    icon: 'library',
    terms:
      'resource template download resource-center resource-centre resource-library resource-hub library ebook ' +
      'e-book guide checklist toolkit cheat-sheet glossary learn learning-center ressourcen vorlagen downloads ' +
      'leitfaden ressources modeles guides recursos plantillas',
    endings: 'templates guide guides ebook',
  },
  'Low Intent - Content': {
    weight: 2,
    icon: 'newspaper',
    terms:
      'blog webinar podcast article news newsroom post event video changelog press magazine newsletter story ' +
      'whats-new release-notes aktuelles neuigkeiten veranstaltungen presse actualites evenements noticias eventos',
    endings: 'blog webinar webinars podcast podcasts news',
  },
  'Neutral - Company Info': {
    weight: 1,
    icon: 'building-2',
    terms:
      'about about-us about-company team our-team meet-the-team mission our-mission vision values our-values ' +
      'our-story history leadership management investors investor-relations who-we-are what-we-do ' +
      'company ueber-uns uber-uns unternehmen wir-ueber-uns a-propos qui-sommes-nous equipe entreprise ' +
      'sobre-nosotros quienes-somos nosotros equipo empresa',
  },
  'Not a Buyer - Careers': {
    weight: -5,
    icon: 'briefcase',
    terms:
      'career job vacancy open-position open-role opening job-opening join-us join-our-team join-the-team ' +
      'work-with-us work-for-us working-at hiring we-are-hiring were-hiring internship recruitment recruiting ' +
      'karriere stellenangebote stellen jobangebote carriere carrieres recrutement emplois empleo empleos carrera ' +
      'trabaja-con-nosotros',
    endings: 'careers jobs',
  },
  'Not a Buyer - Legal': {
    weight: -3,
    icon: 'scale',
    terms:
      'privacy privacy-policy privacy-notice privacy-statement term terms-of-service terms-of-use terms-of-sale ' +
      'terms-and-conditions terms-conditions conditions tos gdpr ccpa legal legal-notice cookie cookie-policy imprint ' +
      'disclaimer dpa data-protection data-processing data-processing-agreement acceptable-use ' +
      'acceptable-use-policy eula sla accessibility-statement impressum datenschutz datenschutzerklaerung ' +
      'datenschutzerklarung agb nutzungsbedingungen mentions-legales confidentialite ' +
      'politique-de-confidentialite conditions-generales cgv cgu aviso-legal privacidad ' +
      'politica-de-privacidad condiciones',
    endings: 'policy agreement',
  },
};

/** From highest to lowest intent. */
export const categories: ReadonlyMap<IntentCategory, Category> = new Map(
  intentCategory.options.map((name) => [name, definitions[name]]),
);

/** Words without a meaning of their own: `book-a-demo`, `our-customers`, `free-calculator`. */
const fillers = new Set(['a', 'an', 'the', 'our', 'your', 'my', 'us', 'free', 'online', 'all']);

/** Segments that count only when no segment follows: `/company/careers` is about careers. */
const containers = new Set(['company', 'unternehmen', 'entreprise', 'empresa']);

const byTerm = termsOf(({ terms }) => terms);
const byEnding = termsOf(({ endings }) => endings ?? '');

/** The category of every spelling without separators. @throws Error when two categories have the same spelling */
function termsOf(wordsOf: (definition: CategoryDefinition) => string): ReadonlyMap<string, IntentCategory> {
  const found = new Map<string, IntentCategory>();
  for (const name of intentCategory.options)
    for (const term of wordsOf(definitions[name]).split(' ').filter(Boolean))
      for (const form of new Set([term, pluralOf(term)])) {
        const spelling = form.replaceAll('-', '');
        const other = found.get(spelling);
        if (other !== undefined && other !== name) throw new Error(`"${form}" is in ${name} and in ${other}`);
        found.set(spelling, name);
      }
  return found;
}

function pluralOf(term: string): string {
  if (/[^aeiou]y$/.test(term)) return `${term.slice(0, -1)}ies`;
  return /(?:s|x|ch|sh)$/.test(term) ? `${term}es` : `${term}s`;
}

export interface CategorizedPath {
  category: IntentCategory;
  /** The indexes, from 0, of the segments that name the category. */
  segments: number[];
}

/** Further and longer segments are ignored: they are not written by people. */
const maximumSegments = 12;
const maximumSegmentLength = 150;

/** The category of highest intent that any segment of the path names; null when none does, as for homepages. */
export function categorize(path: string): CategorizedPath | null {
  const segments = segmentsOf(path);
  const named = segments
    .slice(0, maximumSegments)
    .map((segment, at) =>
      at < segments.length - 1 && containers.has(segment.toLowerCase()) ? null : categoryOfSegment(segment),
    );
  const category = intentCategory.options.find((name) => named.includes(name));
  if (category === undefined) return null;
  return { category, segments: named.flatMap((name, at) => (name === category ? [at] : [])) };
}

export function segmentsOf(path: string): string[] {
  return path.split('/').slice(1);
}

/** A segment without the ending of a file. */
export function stemOf(segment: string): string {
  return segment.replace(/\.(?:x?html?|shtml|php\d?|aspx?|jspx?|do|cfm|cgi)$/i, '');
}

/** The category that a whole segment names; parts of words do not count. */
export function categoryOfSegment(segment: string): IntentCategory | null {
  if (segment.length > maximumSegmentLength) return null;
  const words = wordsOf(segment);
  if (words.length === 0 || words.length > 6) return null;
  const significant = words.filter((word) => !fillers.has(word));
  const exact = byTerm.get(words.join('')) ?? byTerm.get(significant.join(''));
  if (exact !== undefined) return exact;
  if (words.includes('vs') && words.length > 2) return 'Mid Intent - Tools';
  if (words.length < 2 || words.length > 4) return null;
  const last = words.at(-1) ?? '';
  return (
    byEnding.get(words.slice(-2).join('')) ?? (words.length <= 3 ? byEnding.get(last) : undefined) ?? null
  );
}

export function wordsOf(segment: string): string[] {
  return decoded(stemOf(segment))
    .normalize('NFD')
    .replace(/[\u0300-\u036F]/g, '')
    .toLowerCase()
    .split(/[-_.+~,!\s]+/)
    .filter(Boolean);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
