// Messages for the terminal that started the program.

/** A mistake in the command line: exit code 64. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
}

export function say(message: string): void {
  process.stdout.write(`${message}\n`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
