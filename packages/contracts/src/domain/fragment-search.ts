// Looks for a fragment in a text in time linear in both. `includes` is linear only for short fragments: V8's search keeps
// tables for the last 250 characters of what it looks for, and a text of one repeated letter makes it look at each longer
// fragment in full at each place.

/** Characters up to which `includes` is linear, and faster than anything written in JavaScript. */
const longestForIncludes = 250;

/** A test for texts that hold the fragment. */
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

/** For each place, the length of the longest start of the fragment that also ends there (Knuth, Morris and Pratt). */
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
