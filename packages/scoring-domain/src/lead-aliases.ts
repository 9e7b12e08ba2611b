// The aliases of a lead, folded from the decisions that name them. Pure.
import type { Alias } from '@lead-scoring/contracts';

/** Maximum number of aliases that a lead is listed with, the first that were named. */
export const maximumAliases = 100;

/** Adds aliases that were not known. Returns the same list where none is new. */
export function withAliases(known: readonly Alias[], named: readonly Alias[]): readonly Alias[] {
  let aliases = known;
  for (const alias of named) {
    if (aliases.length >= maximumAliases) break;
    if (aliases.some((one) => one.alias === alias.alias && one.alias_kind === alias.alias_kind)) continue;
    aliases = [...aliases, alias];
  }
  return aliases;
}
