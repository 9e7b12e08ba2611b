// How numbers are put into sentences.

/** `1 round`, `2 rounds`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
