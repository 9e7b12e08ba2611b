// Numbers in sentences.

/** `1 round`, `2 rounds`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
