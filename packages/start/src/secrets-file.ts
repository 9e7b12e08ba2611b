// `secrets.json`: the secrets that `npm start` has made for the services, and keeps with the data.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isWellFormedSecret, secretFrom } from '@lead-scoring/contracts';
import { writePrivate } from './private-file.js';
import type { SystemSecrets } from './system.js';

const leastCharacters = 32;

/**
 * Reads the file; makes the secrets that it lacks, all of them where there is no file, and writes them into it.
 * @throws Error that names the file and the wrong secret, and says what to do; it contains no secret
 */
export async function secretsIn(file: string): Promise<SystemSecrets> {
  const known = knownSecrets(await textOf(file), file);
  const secrets = {
    internalSecret: randomBytes(32).toString('base64url'),
    tokenSecret: randomBytes(32).toString('base64url'),
    sealingSecret: randomBytes(32).toString('base64url'),
    bootstrapToken: secretFrom('lsp_', randomBytes(32)),
    ...known,
  };
  // The file of an earlier version lacks the secrets that were added since.
  if (Object.keys(known).length < Object.keys(secrets).length) await writePrivate(file, secrets);
  return secrets;
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new Error(
      `${file}, which holds the secrets of the services, cannot be read: make it a file that this user may read.`,
      { cause: error },
    );
  }
}

/** The secrets in the text of a file; none where there is no file. */
export function knownSecrets(text: string | null, file: string): Partial<SystemSecrets> {
  if (text === null) return {};
  const refuse = (problem: string): never => {
    throw new Error(
      `${file} ${problem}: restore the file from a backup, or move it away and new secrets are made ` +
        '(then the secrets of notification channels must be entered again: docs/runbooks/secrets.md).',
    );
  };
  let known: Partial<SystemSecrets> | null = null;
  try {
    known = JSON.parse(text) as Partial<SystemSecrets> | null;
  } catch {
    // Refused below. The error of the parser quotes the text, which may hold secrets.
  }
  if (typeof known !== 'object' || known === null || Array.isArray(known))
    return refuse('is not the JSON that holds the secrets of the services');
  for (const name of ['internalSecret', 'tokenSecret', 'sealingSecret'] as const) {
    const secret = known[name];
    if (secret !== undefined && (typeof secret !== 'string' || secret.length < leastCharacters))
      refuse(`has a wrong ${name}, which must have at least ${String(leastCharacters)} characters`);
  }
  const { bootstrapToken: token } = known;
  if (token !== undefined && (typeof token !== 'string' || !isWellFormedSecret('lsp_', token)))
    refuse('has a wrong bootstrapToken, whose checksum does not fit');
  return known;
}
