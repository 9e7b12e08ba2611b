// POST /leads/import/preview: passes an uploaded table on to ingest as it arrives, in parts of a fixed size, and answers with what ingest has
// found in it.
import { createHash, randomUUID } from 'node:crypto';
import {
  leadFilePartBytes,
  leadImportLimits,
  problem as problemSchema,
  routeDeclarations,
} from '@lead-scoring/contracts';
import {
  decodeUtf8,
  parseJson,
  parseOrProblem,
  parseQuery,
  ProblemError,
  readBodyParts,
  type LeastRate,
} from '@lead-scoring/service';
import type { Request } from 'express';
import { headerOf } from '../edge/request.js';
import { closing, mediaTypeOf } from '../import/handler.js';
import type { BytesInFlight, Holding } from '../intake/bytes-in-flight.js';
import { readInto, senderOf, type RepeatableAnswer } from '../intake/handler.js';
import { problem } from '../problem.js';
import type { Forwarder } from '../reads/forward.js';
import type { Ask, OwnerAnswer } from '../reads/owners.js';
import { fileOfForm } from './form-file.js';

export interface LeadImportDependencies {
  bytesInFlight: BytesInFlight;
  leastRate: LeastRate;
  forwarder: Pick<Forwarder, 'askFor'>;
}

const { previewLeadImport: route, leadFileTypes, readLeadFile, storeLeadFilePart } = routeDeclarations;

/** The memory of an upload: the part that is gathered, and the one that is being sent. */
const streamBytes = 3 * leadFilePartBytes;
/** Milliseconds in which ingest reads a table of the largest size, behind others. */
const readingMs = 10 * 60_000;

export function createLeadImportHandler({
  bytesInFlight,
  leastRate,
  forwarder,
}: LeadImportDependencies): (req: Request, ouId: string) => Promise<RepeatableAnswer> {
  return async (req, ouId) => {
    parseQuery(req.url);
    const { caller, id: fileId } = senderOf(req, route.name);
    const room = bytesInFlight.open(caller);
    try {
      const upload = new TableUpload(forwarder.askFor(req, ouId));
      const isJson = mediaTypeOf(req) === leadFileTypes.json;
      for await (const bytes of isJson ? rowsIn(req, room, leastRate) : tableIn(req, room, leastRate))
        await upload.take(bytes);
      return await upload.end({ file_id: fileId, is_json: isJson });
    } catch (error) {
      throw req.complete ? error : closing(error);
    } finally {
      room.release();
    }
  };
}

/** Rows in JSON are checked whole. */
async function* rowsIn(req: Request, room: Holding, leastRate: LeastRate): AsyncGenerator<Buffer> {
  const maximumBytes = leadImportLimits.jsonBytes;
  const { bytes } = await readInto(room, { req, types: route.bodyTypes, leastRate, maximumBytes });
  parseOrProblem(route.body, parseJson(decodeUtf8(bytes)), 'body');
  yield bytes;
}

async function* tableIn(req: Request, room: Holding, leastRate: LeastRate): AsyncGenerator<Buffer> {
  room.add(streamBytes);
  // The encoding is found out, because many senders do not know it.
  const { type, parts } = readBodyParts(req, { types: route.bodyTypes, leastRate, takesAnyCharset: true });
  if (type === leadFileTypes.form) yield* fileOfForm(parts, headerOf(req, 'content-type') ?? '');
  else yield* parts;
}

class TableUpload {
  readonly #uploadId = randomUUID();
  readonly #digest = createHash('sha256');
  #parts = 0;
  #size = 0;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;

  constructor(private readonly ask: Ask) {}

  /** @throws ProblemError 413 when the table is too large, and what ingest refuses */
  async take(bytes: Buffer): Promise<void> {
    this.#digest.update(bytes);
    this.#size += bytes.length;
    if (this.#size > leadImportLimits.bytes)
      throw problem(
        'body_too_large',
        `The table must be at most ${String(leadImportLimits.bytes)} bytes. Divide it into several files, each with the header.`,
      );
    for (let rest = bytes; rest.length > 0;) {
      const some = rest.subarray(0, leadFilePartBytes - this.#gatheredBytes);
      rest = rest.subarray(some.length);
      this.#gathered.push(some);
      this.#gatheredBytes += some.length;
      if (this.#gatheredBytes === leadFilePartBytes) await this.#send();
    }
  }

  async end(file: { file_id: string; is_json: boolean }): Promise<RepeatableAnswer> {
    if (this.#gatheredBytes > 0) await this.#send();
    const content = { ...file, parts: this.#parts, digest: this.#digest.digest('hex') };
    const answer = await this.ask('ingest', readLeadFile.path.replace('{uploadId}', this.#uploadId), {
      method: 'POST',
      body: Buffer.from(JSON.stringify(content)),
      headers: { 'content-type': 'application/json' },
      timeoutMs: readingMs,
    });
    await refuseWith(answer);
    return { status: 200, body: await answer.body.text() };
  }

  async #send(): Promise<void> {
    const body = Buffer.concat(this.#gathered, this.#gatheredBytes);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    const path = storeLeadFilePart.path
      .replace('{uploadId}', this.#uploadId)
      .replace('{part}', String(this.#parts));
    this.#parts += 1;
    const answer = await this.ask('ingest', path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/octet-stream' },
    });
    await refuseWith(answer);
    await answer.body.dump();
  }
}

/** @throws ProblemError the refusal of ingest, if it is one */
async function refuseWith({ statusCode, headers, body }: OwnerAnswer): Promise<void> {
  if (statusCode === 200) return;
  const { status, code, detail, errors } = problemSchema.parse(await body.json());
  const retryAfter = headers['retry-after'];
  throw new ProblemError(status, code, detail, {
    ...(errors && { errors }),
    ...(typeof retryAfter === 'string' && { headers: { 'Retry-After': retryAfter } }),
  });
}
