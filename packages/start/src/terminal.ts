// What the program says to the terminal that started it.

export function say(message: string): void {
  process.stdout.write(`${message}\n`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
