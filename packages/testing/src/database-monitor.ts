// A proxy in front of the database that reads every command which services send to it.
import { BSON, MongoClient } from 'mongodb';
import { startProxy } from './switchable-proxy.js';

export interface DatabaseMonitor {
  /** The monitor's URI, for services to use in place of the database's. */
  mongodbUri: string;
  /** Commands seen so far. */
  count(): number;
  /**
   * Operators that came from a request, as `command: $key`: keys that begin with a dollar and contain the text, or whose
   * operand is the text. Binary values are data and are not searched.
   */
  smuggled(): string[];
  stop(): Promise<void>;
}

const headerBytes = 16;
/** The wire protocol's message of commands; others are only forwarded. */
const opMsg = 2013;

/** @param text a text in every operator that the test sends, and in no operator of the system */
export async function startDatabaseMonitor(mongodbUri: string, text: string): Promise<DatabaseMonitor> {
  const { hostname, port } = new URL(mongodbUri);
  const found = new Set<string>();
  let count = 0;
  const take = (document: BSON.Document) => {
    count += 1;
    for (const key of operatorsIn(document, text)) found.add(`${Object.keys(document)[0] ?? ''}: ${key}`);
  };
  const proxy = await startProxy(hostname, Number(port), () => messageReader(take));
  const uri = new URL(mongodbUri);
  uri.host = `127.0.0.1:${String(proxy.port)}`;
  return {
    mongodbUri: uri.href,
    count: () => count,
    smuggled: () => [...found],
    stop: () => proxy.stop(),
  };
}

/** Assembles the bytes of a connection into messages, and calls `take` with the documents of each command. */
function messageReader(take: (document: BSON.Document) => void): (chunk: Buffer) => void {
  let held = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= headerBytes && held.length >= held.readInt32LE(0)) {
      const message = held.subarray(0, held.readInt32LE(0));
      held = held.subarray(message.length);
      if (message.readInt32LE(12) === opMsg) for (const document of documentsIn(message)) take(document);
    }
  };
}

/** The body of an OP_MSG, and the documents of its sequences. */
function* documentsIn(message: Buffer): Generator<BSON.Document> {
  const hasChecksum = (message.readInt32LE(headerBytes) & 1) === 1;
  const end = message.length - (hasChecksum ? 4 : 0);
  let at = headerBytes + 4;
  while (at < end) {
    const kind = message.readUInt8(at);
    at += 1;
    const size = message.readInt32LE(at);
    if (kind === 0) yield BSON.deserialize(message.subarray(at, at + size));
    else {
      let inside = message.indexOf(0, at + 4) + 1;
      while (inside < at + size) {
        const documentSize = message.readInt32LE(inside);
        yield BSON.deserialize(message.subarray(inside, inside + documentSize));
        inside += documentSize;
      }
    }
    at += size;
  }
}

function* operatorsIn(value: unknown, text: string): Generator<string> {
  if (typeof value !== 'object' || value === null || '_bsontype' in value) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key.startsWith('$') && (key.includes(text) || inner === text)) yield key;
    yield* operatorsIn(inner, text);
  }
}

/** Sends an operator with the text through the monitor, as a vulnerable service would. */
export async function sendOperator({ mongodbUri }: DatabaseMonitor, text: string): Promise<void> {
  const client = await MongoClient.connect(mongodbUri);
  try {
    await client
      .db('monitored')
      .collection('leads')
      .findOne({ name: { $ne: text } });
  } finally {
    await client.close();
  }
}
