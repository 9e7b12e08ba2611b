// Suggests the known name that an unknown one probably misspells.
import { distance } from 'fastest-levenshtein';

/** Longer names are not compared: they are no typing mistakes. */
const longestCompared = 100;

/**
 * The known name that an unknown one probably means: another spelling (`attributeFilters`), a typing mistake
 * (`atribute_filters`), or a name that contains it (`filters`). Undefined when no known name is near.
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
