// What is shown of an address that is a secret: scheme, host and the last four characters.

export interface ShownUrl {
  /** Scheme, host and port. */
  origin: string;
  /** Empty where the rest is so short that four characters would be a good part of it. */
  last_four: string;
}

const shortestSecret = 12;

/** @returns null for what is no URL */
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

/** The parts of an address that was sent as it is shown; null for any other. */
export function partsOfShownUrl(text: string): ShownUrl | null {
  const [, origin, last_four] = form.exec(text) ?? [];
  return origin === undefined || last_four === undefined ? null : { origin, last_four };
}
