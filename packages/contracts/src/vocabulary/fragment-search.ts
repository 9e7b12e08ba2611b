// Searches a text for a fragment in time linear in both. `includes` is linear for short fragments only: V8's tables
// cover the last 250 characters of a fragment, and in a text of one repeated letter it compares a longer fragment in
// full at each place.

/** Up to this length `includes` is linear, and faster than any search written in JavaScript. */
const longestForIncludes = 250;

/** Returns a test for texts that contain the fragment. */
export function fragmentSearch(fragment: string): (text: string) => boolean {
  if (fragment.length <= longestForIncludes) return (text) => text.includes(fragment);
  const borders = bordersOf(fragment);
  return (text) => {
    let matched = 0;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      while (matched > 0 && unit !== fragment.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
      if (unit === fragment.charCodeAt(matched)) matched += 1;
      if (matched === fragment.length) return true;
    }
    return false;
  };
}

/** For each place, the length of the longest prefix of the fragment that also ends there (Knuth, Morris and Pratt). */
function bordersOf(fragment: string): Uint32Array {
  const borders = new Uint32Array(fragment.length);
  let matched = 0;
  for (let at = 1; at < fragment.length; at += 1) {
    const unit = fragment.charCodeAt(at);
    while (matched > 0 && unit !== fragment.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (unit === fragment.charCodeAt(matched)) matched += 1;
    borders[at] = matched;
  }
  return borders;
}
