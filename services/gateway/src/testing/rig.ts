// Gateways in this process on real servers, in a namespace of their own; the owners of reads and of commands
// are small stand-ins that speak the same protocols.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { secretFrom, type records } from '@lead-scoring/contracts';
import {
  createEventLog,
  createProcessor,
  tail,
  takingAll,
  type EventLog,
  type IncomingRecord,
} from '@lead-scoring/event-log';
import { listSharedSchemas } from '@lead-scoring/event-log/shared-schemas';
import { databaseName, nameInEdition, type StoredEditions } from '@lead-scoring/read-model';
import {
  assertSignedBody,
  createLogger,
  internalAuthorizationHeader,
  parseConfiguration,
  startInOrder,
  verifyInternal,
  type InternalClaims,
  type ListeningServer,
  type Started,
} from '@lead-scoring/service';
import { endpointsFromEnvironment, eventually, removeNamespace } from '@lead-scoring/testing/service-rig';
import { MongoClient, type Db } from 'mongodb';
import { gatewayConfiguration } from '../configuration.js';
import { openGateway } from '../gateway.js';
import { organisationStorage } from '../identity/organisation-storage.js';

export interface Reply<Body = unknown> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface CallOptions {
  token?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is a string or bytes. */
  body?: unknown;
  gateway?: number;
}

export interface ForwardedRequest {
  url: string;
  headers: IncomingMessage['headers'];
  claims: InternalClaims;
  method: string;
  body: string;
}

export type OwnerAnswer = (req: ForwardedRequest, res: ServerResponse) => void;
export type CommandAnswer = (
  command: IncomingRecord,
) => records.CommandReplied | null | Promise<records.CommandReplied>;

export interface Rig {
  urls: string[];
  token: string;
  log: EventLog;
  forwarded: ForwardedRequest[];
  commands: IncomingRecord[];
  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<Reply<Body>>;
  /** Sets the answers of the stand-in for the owners. */
  ownerAnswers(answer: OwnerAnswer): void;
  /** Sets scoring's replies; null: no reply. */
  scoringReplies(answer: CommandAnswer): void;
  /** Sets ingest's replies on imports. */
  ingestReplies(answer: CommandAnswer): void;
  /** Sets notification's replies. */
  notificationReplies(answer: CommandAnswer): void;
  /** Sets site-analysis's replies. */
  siteAnalysisReplies(answer: CommandAnswer): void;
  /** Sets share's replies. */
  shareReplies(answer: CommandAnswer): void;
  ingested(): Promise<IncomingRecord<records.IngestEvents>[]>;
  /** All documents that the gateway has folded, by collection. */
  identityDocuments(): Promise<Record<string, unknown[]>>;
  /** The live edition of the gateway's read models. */
  liveEdition(): Promise<number>;
  stop(): Promise<void>;
}

export interface RigOptions {
  gateways?: number;
  environment?: Record<string, string>;
  /** Further environment of one gateway. */
  environmentOf?: (gateway: number) => Record<string, string>;
}

/** The services whose commands stand-ins answer. */
const ownerNames = ['ingest', 'scoring', 'notification', 'site-analysis', 'share'] as const;

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const endpoints = endpointsFromEnvironment();
  const namespace = `test-gateway-${randomBytes(5).toString('hex')}`;
  const logger = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });
  const token = secretFrom('lsp_', randomBytes(32));
  const internalSecret = randomBytes(32).toString('base64url');
  const forwarded: ForwardedRequest[] = [];
  const commands: IncomingRecord[] = [];
  let ownerAnswer: OwnerAnswer = (_req, res) => {
    res.setHeader('Content-Type', 'application/json');
    res.end('[]');
  };
  const answers: Record<(typeof ownerNames)[number], CommandAnswer> = {
    ingest: ({ type }) =>
      type === 'IngestEvents' ? null : { outcome: 'done', result: { status: 'running' } },
    scoring: () => ({ outcome: 'done', result: {} }),
    notification: () => ({ outcome: 'done', result: {} }),
    'site-analysis': () => ({ outcome: 'done', result: {} }),
    share: () => ({ outcome: 'done', result: {} }),
  };

  const owner = createServer((req, res) => {
    const header = req.headers[internalAuthorizationHeader];
    const { url: target = '', method = '' } = req;
    verifyInternal(typeof header === 'string' ? header : undefined, { method, target }, internalSecret).then(
      (call) => {
        const chunks: Buffer[] = [];
        req.on('data', (chunk: Buffer) => chunks.push(chunk));
        req.on('end', () => {
          const body = Buffer.concat(chunks);
          assertSignedBody(call, body);
          const { headers } = req;
          const request = { url: target, method, headers, claims: call.claims, body: body.toString('utf8') };
          forwarded.push(request);
          ownerAnswer(request, res);
        });
      },
      () => {
        res.writeHead(401).end();
      },
    );
  });
  await new Promise<void>((resolve) => owner.listen(0, '127.0.0.1', resolve));
  const ownerUrl = `http://127.0.0.1:${String((owner.address() as AddressInfo).port)}`;

  const log = createEventLog(
    {
      brokers: endpoints.kafkaBrokers,
      schemaRegistryUrl: endpoints.schemaRegistryUrl,
      namespace,
      clientId: 'test',
      partitions: 3,
    },
    { logger },
  );
  await listSharedSchemas(endpoints.schemaRegistryUrl, namespace);
  await log.prepare();
  const fail = (error: unknown): void => {
    logger.fatal({ err: error }, 'fatal');
  };
  const owners: { stop(): Promise<void> }[] = [];
  for (const name of ownerNames)
    owners.push(
      await createProcessor(log, {
        name,
        inputs: takingAll(`${name}.commands`),
        output: `${name}.events`,
        logger,
        onFatal: fail,
        rebuild: () => Promise.resolve(),
        open: () =>
          Promise.resolve({
            checkpoint: () => Promise.resolve({ offset: 0n, positions: {} }),
            store: () => Promise.resolve(),
            fold: () => Promise.resolve(),
            reset: () => Promise.resolve(),
            decide: async (incoming) => {
              const replies = [];
              for (const record of incoming) {
                commands.push(record);
                const reply = await answers[name](record);
                if (reply) replies.push({ to: record, reply });
              }
              return { events: [], replies };
            },
          }),
      }).start(),
    );

  const gateways: Started<ListeningServer>[] = [];
  for (let index = 0; index < (options.gateways ?? 1); index += 1) {
    const configuration = parseConfiguration(gatewayConfiguration, {
      NAMESPACE: namespace,
      KAFKA_BROKERS: endpoints.kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: endpoints.schemaRegistryUrl,
      MONGODB_URI: endpoints.mongodbUri,
      PARTITIONS: '3',
      INTERNAL_SECRET: internalSecret,
      TOKEN_SECRET: 'a secret of this test, forty characters long',
      SEALING_SECRET: 'another secret of this test, as long as that',
      INGEST_URL: ownerUrl,
      SCORING_URL: ownerUrl,
      NOTIFICATION_URL: ownerUrl,
      SHARE_URL: ownerUrl,
      APP_URL: 'https://app.example.com/',
      SITE_ANALYSIS_URL: ownerUrl,
      BOOTSTRAP_ORGANISATION: 'Example',
      BOOTSTRAP_OU: 'Main',
      BOOTSTRAP_TOKEN: token,
      RATE_LIMIT_PER_MINUTE: '1000000',
      RATE_LIMIT_BURST: '1000000',
      ...options.environment,
      ...options.environmentOf?.(index),
    });
    gateways.push(
      await startInOrder((scope) => openGateway(configuration, scope, { logger, onFatal: fail }), { logger }),
    );
  }
  const urls = gateways.map(({ value }) => `http://127.0.0.1:${String(value.port)}`);
  for (const url of urls) await eventually(`${url} is ready`, async () => (await fetch(`${url}/readyz`)).ok);

  return {
    urls,
    token,
    log,
    forwarded,
    commands,
    call: async (method, path, { token: own, headers, body, gateway = 0 } = {}) => {
      const raw = typeof body === 'string' || body instanceof Uint8Array;
      const credential = own === undefined ? token : own;
      const response = await fetch((urls[gateway] ?? '') + path, {
        method,
        headers: {
          ...(credential !== null && { authorization: `Bearer ${credential}` }),
          ...(body !== undefined && !raw && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: raw ? Buffer.from(body) : JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = response.headers.get('content-type')?.includes('json') === true && text !== '';
      return {
        status: response.status,
        headers: response.headers,
        body: (json ? JSON.parse(text) : text) as never,
      };
    },
    ownerAnswers: (answer) => {
      ownerAnswer = answer;
    },
    ingestReplies: (answer) => {
      answers.ingest = answer;
    },
    notificationReplies: (answer) => {
      answers.notification = answer;
    },
    scoringReplies: (answer) => {
      answers.scoring = answer;
    },
    siteAnalysisReplies: (answer) => {
      answers['site-analysis'] = answer;
    },
    shareReplies: (answer) => {
      answers.share = answer;
    },
    ingested: async () => {
      const found: IncomingRecord<records.IngestEvents>[] = [];
      for await (const record of tail(log, 'ingest.commands', { from: 'beginning', follow: false }))
        if (record.type === 'IngestEvents') found.push(record as IncomingRecord<records.IngestEvents>);
      return found;
    },
    identityDocuments: async () => {
      const client = await MongoClient.connect(endpoints.mongodbUri);
      const db = client.db(databaseName(namespace, 'gateway'));
      const found: Record<string, unknown[]> = {};
      const live = await liveEditionIn(db);
      for (const { name } of organisationStorage.collections)
        found[name] = await db.collection(nameInEdition(name, live)).find().sort({ _id: 1 }).toArray();
      await client.close();
      return found;
    },
    liveEdition: async () => {
      const client = await MongoClient.connect(endpoints.mongodbUri);
      const live = await liveEditionIn(client.db(databaseName(namespace, 'gateway')));
      await client.close();
      return live;
    },
    stop: async () => {
      for (const gateway of gateways) await gateway.stop();
      for (const owner of owners) await owner.stop();
      await log.close();
      owner.closeAllConnections();
      await new Promise((resolve) => owner.close(resolve));
      await removeNamespace(endpoints, namespace);
    },
  };
}

async function liveEditionIn(db: Db): Promise<number> {
  return (await db.collection<StoredEditions>('editions').findOne())?.live ?? 0;
}
