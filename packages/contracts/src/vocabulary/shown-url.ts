// The display form of a secret address: scheme, host and the last four characters.

export interface ShownUrl {
  /** Scheme, host and port. */
  origin: string;
  /** Empty where the rest of the address is so short that four characters would reveal much of it. */
  last_four: string;
}

const shortestSecret = 12;

/** @returns null for a text that is not a URL */
export function shownPartsOf(url: string): ShownUrl | null {
  if (!URL.canParse(url)) return null;
  const { origin, pathname, search, hash } = new URL(url);
  const rest = `${pathname}${search}${hash}`;
  return { origin, last_four: rest.length >= shortestSecret ? rest.slice(-4) : '' };
}

export function shownUrl({ origin, last_four }: ShownUrl): string {
  return `${origin}/…${last_four}`;
}

const form = /^(https?:\/\/[^/?#…]{1,290})\/…([^…]{0,4})$/;

/** Parses the display form of an address; null for any other text. */
export function partsOfShownUrl(text: string): ShownUrl | null {
  const [, origin, last_four] = form.exec(text) ?? [];
  return origin === undefined || last_four === undefined ? null : { origin, last_four };
}
