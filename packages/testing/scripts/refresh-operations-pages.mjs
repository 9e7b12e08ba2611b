// Writes docs/settings.md, docs/metrics.md, docs/alerts.md, deploy/alerts.yaml, deploy/dashboards and deploy/helm/{files/settings.json,values.schema.json} from the declarations of the built checkout:
// `npm run build && npm run refresh-operations-pages`. A unit test holds the files against the declarations.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { operationsPages } from '../dist/operations-pages.js';

const checkout = join(import.meta.dirname, '../../..');
for (const [path, text] of Object.entries(await operationsPages(checkout, 'builds')))
  await writeFile(join(checkout, path), text);
