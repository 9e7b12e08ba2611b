// Messages for the terminal that started the program.

export function say(message: string): void {
  process.stdout.write(`${message}\n`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
