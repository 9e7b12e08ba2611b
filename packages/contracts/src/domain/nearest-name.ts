// The known name that somebody may have meant by one that is not known.
import { distance } from 'fastest-levenshtein';

/** Characters up to which a name is compared: what is longer is no slip of the fingers. */
const longestCompared = 100;

/**
 * The known name that differs from the sent one by its spelling (`attributeFilters`), by a slip (`atribute_filters`), or
 * that holds it (`filters`); undefined when none is near.
 */
export function nearestName(sent: string, known: readonly string[]): string | undefined {
  if (sent.length > longestCompared) return undefined;
  const letters = lettersOf(sent);
  if (letters.length < 2) return undefined;
  let nearest: string | undefined;
  let least = 1 + Math.min(3, Math.floor(letters.length / 3));
  for (const name of known) {
    const other = lettersOf(name);
    const away = distance(letters, other);
    if (away >= least) continue;
    least = away;
    nearest = name;
  }
  if (nearest !== undefined || letters.length < 3) return nearest;
  return known.find((name) => lettersOf(name).includes(letters) || letters.includes(lettersOf(name)));
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
