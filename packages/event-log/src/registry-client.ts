// Requests to the schema registry, with the configured credentials.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import type { ServerAccess } from '@lead-scoring/contracts';
import type { Ajv, Options as AjvOptions } from 'ajv';
import { registryAccess } from './kafka/access.js';
import { registryProblem } from './kafka/access-errors.js';
import { EventLogUnavailable } from './errors.js';

export interface RegistryAnswer {
  status: number;
  /** Undefined when the answer is not JSON. */
  body: unknown;
}

export interface RegistryClient {
  /** @throws EventLogUnavailable when the registry does not answer, refuses the credentials, or answers 5xx */
  ask(method: string, path: string, body?: unknown): Promise<RegistryAnswer>;
  /**
   * The client of @kafkajs/confluent-schema-registry, for schemas of other processes: loaded on first use.
   * @param json how JSON Schemas are compiled: by one instance, or each by one of its own with these options
   */
  library(json: { ajvInstance: Ajv } | AjvOptions): Promise<SchemaRegistry>;
}

const patienceMs = 10_000;

export function createRegistryClient(options: {
  url: string;
  clientId: string;
  access: ServerAccess;
}): RegistryClient {
  const url = options.url.replace(/(?<!\/)\/+$/, '');
  const { headers: credentials, ca } = registryAccess(options.access);
  const isTls = url.startsWith('https:');
  const agent = isTls
    ? new HttpsAgent({ keepAlive: true, ...(ca && { ca }) })
    : new HttpAgent({ keepAlive: true });
  const headers = {
    'content-type': 'application/vnd.schemaregistry.v1+json',
    accept: 'application/json',
    ...credentials,
  };

  const send = (method: string, path: string, content: string | undefined) =>
    new Promise<RegistryAnswer>((resolve, reject) => {
      const req = (isTls ? httpsRequest : httpRequest)(
        `${url}${path}`,
        { method, agent, headers, signal: AbortSignal.timeout(patienceMs) },
        (res) => {
          answerOf(res).then(resolve, reject);
        },
      );
      req.once('error', reject);
      req.end(content);
    });

  return {
    async ask(method, path, body) {
      const content = body === undefined ? undefined : JSON.stringify(body);
      const answer = await send(method, path, content).catch((error: unknown) => {
        throw noAnswer(error, url, options.access);
      });
      if (answer.status === 401 || answer.status === 403) throw accessRefused(answer.status, options.access);
      if (answer.status >= 500)
        throw new EventLogUnavailable(`the schema registry answered ${answer.status} to ${method} ${path}`);
      return answer;
    },
    library: async (json) => {
      const { SchemaRegistry, SchemaType } = await import('@kafkajs/confluent-schema-registry');
      return new SchemaRegistry(
        {
          host: url,
          clientId: options.clientId,
          retry: { retries: 3, maxRetryTimeInSecs: 1 },
          agent,
          middlewares: [
            () => ({
              prepareRequest: async (next) => (await next()).enhance({ headers: { ...credentials } }),
            }),
          ],
        },
        { [SchemaType.JSON]: json as never },
      );
    },
  };
}

/** Names the address without what may be before it in the URL, a user and a password. */
function noAnswer(error: unknown, url: string, access: ServerAccess): EventLogUnavailable {
  const problem = registryProblem(error, access);
  return new EventLogUnavailable(`${problem} (SCHEMA_REGISTRY_URL is at ${new URL(url).host})`, error);
}

function accessRefused(status: number, access: ServerAccess): EventLogUnavailable {
  return new EventLogUnavailable(registryProblem(status, access), undefined, { isAccessRefused: true });
}

async function answerOf(res: IncomingMessage): Promise<RegistryAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk as Buffer);
  const status = res.statusCode ?? 0;
  try {
    return { status, body: JSON.parse(Buffer.concat(chunks).toString()) as unknown };
  } catch {
    return { status, body: undefined };
  }
}
