// Prints the secrets that docker-compose.yml and deploy/docker-compose.sasl.yml ask for, as lines of an .env file.
import { randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { build, installDependencies } from './prepare.mjs';
import { root } from './root.mjs';

// Standard output is the .env file: progress goes elsewhere.
installDependencies(process.stderr);
build(['packages/contracts'], process.stderr);
const contracts = pathToFileURL(join(root, 'packages/contracts/dist/index.js')).href;
const { secretFrom, serviceNames } = await import(contracts);

const secret = () => randomBytes(32).toString('base64url');
process.stdout.write(`INTERNAL_SECRET=${secret()}
TOKEN_SECRET=${secret()}
SEALING_SECRET=${secret()}
BOOTSTRAP_TOKEN=${secretFrom('lsp_', randomBytes(32))}
MONGODB_PASSWORD=${secret()}
`);
for (const user of ['admin', 'operator', ...serviceNames])
  process.stdout.write(`KAFKA_${user.toUpperCase().replace('-', '_')}_PASSWORD=${secret()}\n`);
