// Places in the checkout that more than one script knows.
import { join } from 'node:path';

/** The folder of the checkout. */
export const root = join(import.meta.dirname, '../../..');

/** A file, as a path from the root, with the digest of the lock file that npm last installed from; written anew by each installation. */
export const installationMark = 'node_modules/.installed-lock';
