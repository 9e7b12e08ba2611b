// Decodes keys and values of a source topic: text, JSON, or the schema registry's wire format with JSON Schema or Avro.
import { isUtf8 } from 'node:buffer';
import type { Options as AjvOptions } from 'ajv';
import { EventLogUnavailable } from '../errors.js';
import { createRegistryClient, type RegistryClient } from '../registry-client.js';
import { avroAsJson } from './avro-as-json.js';
import { withPrefix, type SourceAccess } from './source-config.js';

export const sourceFormats = ['text', 'json', 'registry'] as const;
export type SourceFormat = (typeof sourceFormats)[number];

/** A decoded key or value, or the reason why it cannot be decoded. */
export type Decoded = { value: unknown } | { problem: string };

export interface SourceDecoder {
  /**
   * Fetches the schemas that these name and this process does not know yet.
   * @throws EventLogUnavailable when the registry does not answer or refuses access
   */
  prepare(encoded: Iterable<Buffer | null>): Promise<void>;
  /** Never throws. */
  decode(bytes: Buffer): Decoded;
}

/** @param registry the source's registry, for the format `registry` */
export function createSourceDecoder(
  format: SourceFormat,
  registry: SourceAccess & { url: string },
): SourceDecoder {
  if (format === 'registry') return new RegistryDecoder(registry);
  const read = format === 'json' ? jsonOf : textOf;
  return { prepare: () => Promise.resolve(), decode: (bytes) => decoded(() => read(bytes)) };
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error('is not UTF-8');
  return bytes.toString();
}

function jsonOf(bytes: Buffer): unknown {
  const text = textOf(bytes);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('is not JSON');
  }
}

function decoded(read: () => unknown): Decoded {
  try {
    return { value: read() };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The first byte of the wire format; four bytes of the schema's id follow. */
const magic = 0;
const prefixBytes = 5;
const schemasKept = 1_000;
const parallelLoads = 8;
/** Milliseconds after which a schema that the registry did not have is asked for again, and for which it then counts as unknown. */
const unknownSchema = { retryAfterMs: 1_000, keptMs: 60_000 };
/** Schemas of other systems may have keywords and formats of their own. */
const ajvOptions: AjvOptions = { strict: false, validateFormats: false, logger: false };

type Read = (payload: Buffer) => unknown;

class RegistryDecoder implements SourceDecoder {
  readonly #registry: RegistryClient;
  /** How the payloads of a schema are read. */
  readonly #readers = new Map<number, Read>();
  /** When an id was found to be unknown, in monotonic milliseconds. */
  readonly #unknown = new Map<number, number>();
  #library: ReturnType<RegistryClient['library']> | undefined;

  constructor(private readonly config: SourceAccess & { url: string }) {
    this.#registry = createRegistryClient(config);
  }

  async prepare(encoded: Iterable<Buffer | null>): Promise<void> {
    const ids = new Set<number>();
    for (const bytes of encoded) {
      const id = bytes === null ? undefined : idIn(bytes);
      if (id !== undefined && !this.#readers.has(id) && !this.#isUnknown(id)) ids.add(id);
    }
    if (ids.size === 0) return;
    if (this.#readers.size + ids.size > schemasKept) this.#readers.clear();
    if (this.#unknown.size > schemasKept) this.#unknown.clear();
    const waiting = [...ids];
    const load = async () => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) await this.#load(id);
    };
    await Promise.all(Array.from({ length: parallelLoads }, load));
  }

  decode(bytes: Buffer): Decoded {
    const id = idIn(bytes);
    if (id === undefined)
      return {
        problem: 'is not in the wire format of the schema registry: a zero byte and the id of a schema',
      };
    const read = this.#readers.get(id);
    if (!read) return { problem: `names the schema ${id}, which the registry does not have` };
    return decoded(() => read(bytes.subarray(prefixBytes)));
  }

  #isUnknown(id: number): boolean {
    const since = this.#unknown.get(id);
    return since !== undefined && performance.now() - since < unknownSchema.keptMs;
  }

  async #load(id: number): Promise<void> {
    // A schema that was registered a moment ago may not be on every node of the registry.
    const found = (await this.#find(id)) ?? (await this.#findLater(id));
    if (found === undefined) this.#unknown.set(id, performance.now());
    else this.#readers.set(id, await this.#readerOf(id, found));
  }

  async #findLater(id: number): Promise<string | undefined> {
    await new Promise((resolve) => {
      setTimeout(resolve, unknownSchema.retryAfterMs);
    });
    return this.#find(id);
  }

  /** The type of a schema: AVRO, JSON or PROTOBUF; undefined where the registry has no such schema. */
  async #find(id: number): Promise<string | undefined> {
    const { status, body } = await this.#registry.ask('GET', `/schemas/ids/${id}`).catch((error: unknown) => {
      throw this.#renamed(error);
    });
    if (status === 404 && isObject(body) && typeof body.error_code === 'number') return undefined;
    if (status !== 200 || !isObject(body))
      throw new EventLogUnavailable(`the schema registry answered ${status} when asked for schema ${id}`);
    return typeof body.schemaType === 'string' ? body.schemaType : 'AVRO';
  }

  async #readerOf(id: number, type: string): Promise<Read> {
    if (type !== 'AVRO' && type !== 'JSON')
      return failing(`has a schema of the type ${type}; JSON and AVRO are read`);
    this.#library ??= this.#registry.library(ajvOptions);
    const library = await this.#library;
    try {
      const schema = await library.getSchema(id);
      return type === 'AVRO'
        ? (payload) => avroAsJson(schema.fromBuffer(payload))
        : (payload) => {
            if (!isUtf8(payload)) throw new Error('is not UTF-8');
            return fitting(id, () => schema.fromBuffer(payload) as unknown);
          };
    } catch (error) {
      if (isObject(error) && 'status' in error)
        throw new EventLogUnavailable(`schema ${id} could not be read from the registry`, error);
      return failing(
        `has the schema ${id}, which cannot be used: ${error instanceof Error ? error.message : ''}`,
      );
    }
  }

  #renamed(error: unknown): unknown {
    if (!(error instanceof EventLogUnavailable)) return error;
    const { isAccessRefused } = error;
    const message = withPrefix(error.message, this.config.settingPrefix);
    return new EventLogUnavailable(message, error, { isAccessRefused });
  }
}

function idIn(bytes: Buffer): number | undefined {
  return bytes.length >= prefixBytes && bytes[0] === magic ? bytes.readInt32BE(1) : undefined;
}

function failing(problem: string): Read {
  return () => {
    throw new Error(problem);
  };
}

/** Names the places at which a payload does not fit its schema. */
function fitting(id: number, read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error('is not JSON', { cause: error });
    if (!isObject(error) || !Array.isArray(error.paths)) throw error;
    const places = error.paths.flat().map((path) => (path === '' ? 'the whole' : String(path)));
    throw new Error(`does not fit its schema ${id} at ${places.join(', ')}`, { cause: error });
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
