// The first file of a form, as it arrives.
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { problem } from '../problem.js';

const limits = { files: 1, fields: 20, fieldSize: 10_000, fieldNameSize: 200, parts: 21, headerPairs: 50 };

/**
 * @param contentType with the boundary of the form
 * @throws ProblemError 400 where it is no form, or has no file; and the errors of the parts
 */
export async function* fileOfForm(parts: AsyncIterable<Buffer>, contentType: string): AsyncGenerator<Buffer> {
  const form = openForm(contentType);
  const read = pipeline(parts, form);
  try {
    const file = await Promise.race([
      new Promise<Readable>((resolve) => {
        form.on('file', (_name, stream) => {
          resolve(stream);
        });
      }),
      read.then(() => null),
    ]);
    if (!file)
      throw problem(
        'invalid_request',
        'The form has no file. Send the table as a file of the form, such as -F file=@leads.csv.',
      );
    read.catch((error: unknown) => {
      file.destroy(error as Error);
    });
    yield* file as AsyncIterable<Buffer>;
    await read;
  } catch (error) {
    throw error instanceof Error && error.name === 'Error' ? brokenForm(error) : error;
  } finally {
    form.destroy();
  }
}

function openForm(contentType: string): BusboyInstance {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits });
  } catch (error) {
    throw brokenForm(error);
  }
}

function brokenForm(cause: unknown): Error {
  return problem(
    'invalid_request',
    'The body is no form that can be read. Send multipart/form-data with a boundary, or the table itself as text/csv.',
    { cause },
  );
}
