// Keeps uploaded tables in documents of bounded size, in the order of their parts.
import {
  Binary,
  bytesOf,
  isDuplicateKey,
  keysWithin,
  offsetBytes,
  readJson,
  storedJson,
  uuidToBinary,
  withClassifiedErrors,
  type CollectionDeclaration,
  type Document,
  type ReadModel,
} from '@lead-scoring/read-model';
import { leadImportLimits } from '@lead-scoring/contracts';
import {
  failedLeadRows,
  leadFileParts,
  leadFileRows,
  leadFiles,
  placeIn,
  type FailedRow,
  previewOf,
  type LeadFileDocument,
  type StoredRow,
} from './documents.js';

/** Milliseconds that the bytes of an upload are kept, and the rows that failed. */
const keptMs = { parts: 3_600_000, failed: 7 * 24 * 3_600_000 };

export class LeadFileStore {
  constructor(
    private readonly readModel: ReadModel,
    private readonly now: () => Date,
  ) {}

  async putPart(uploadId: string, part: number, bytes: Uint8Array): Promise<void> {
    await this.#put(leadFileParts, placeIn(uploadId, part), {
      bytes: new Binary(bytes, 0),
      expires_at: this.#in(keptMs.parts),
    });
  }

  /** The bytes of one part; null: it is not there. */
  async part(uploadId: string, part: number): Promise<Buffer | null> {
    const found = await withClassifiedErrors(() =>
      this.readModel.collection(leadFileParts).findOne({ _id: placeIn(uploadId, part) }),
    );
    return found && bytesOf(found.bytes);
  }

  dropParts(uploadId: string): Promise<void> {
    return this.#drop(leadFileParts, uploadId);
  }

  async putRows(uploadId: string, chunk: number, rows: readonly StoredRow[]): Promise<void> {
    await this.#put(leadFileRows, placeIn(uploadId, chunk), {
      json: storedJson(Buffer.from(JSON.stringify(rows))),
      expires_at: this.#in(leadImportLimits.keptMs),
    });
  }

  /** null: they have expired. */
  async rows(uploadId: string, chunk: number): Promise<StoredRow[] | null> {
    const found = await withClassifiedErrors(() =>
      this.readModel.collection(leadFileRows).findOne({ _id: placeIn(uploadId, chunk) }),
    );
    return found && (readJson(found.json) as unknown as StoredRow[]);
  }

  dropRows(uploadId: string): Promise<void> {
    return this.#drop(leadFileRows, uploadId);
  }

  /** When a file that was read now will expire. */
  expiry(): Date {
    return this.#in(leadImportLimits.keptMs);
  }

  /** @returns false where there is a file of this id already */
  putFile(file: LeadFileDocument): Promise<boolean> {
    return withClassifiedErrors(async () => {
      try {
        await this.readModel.collection(leadFiles).insertOne(file);
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    });
  }

  /** A file of an OU that has not expired; null: there is none. */
  async file(ouId: string, fileId: string): Promise<LeadFileDocument | null> {
    const found = await withClassifiedErrors(() =>
      this.readModel.collection(leadFiles).findOne({ _id: uuidToBinary(fileId), ou: uuidToBinary(ouId) }),
    );
    // The database removes what has expired a little later.
    return found && found.expires_at > this.now() ? found : null;
  }

  /** How many rows a file has, without its header; null: there is none. */
  async rowCount(ouId: string, fileId: string): Promise<number | null> {
    const file = await this.file(ouId, fileId);
    return file && previewOf(file).row_count;
  }

  /** How many files an OU has, and their bytes. */
  async kept(ouId: string): Promise<{ files: number; bytes: number }> {
    const found = await withClassifiedErrors(() =>
      this.readModel
        .collection(leadFiles)
        .find({ ou: uuidToBinary(ouId), expires_at: { $gt: this.now() } }, { projection: { bytes: 1 } })
        .toArray(),
    );
    return { files: found.length, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** Keeps a file that is being imported for another day, where it would expire soon. */
  async keep(file: LeadFileDocument): Promise<void> {
    if (file.expires_at.getTime() - this.now().getTime() > leadImportLimits.keptMs / 24) return;
    const later = { $set: { expires_at: this.expiry() } };
    await withClassifiedErrors(async () => {
      await this.readModel
        .collection(leadFileRows)
        .updateMany({ _id: keysWithin([file.upload], offsetBytes) }, later);
      await this.readModel.collection(leadFiles).updateOne({ _id: file._id }, later);
    });
  }

  async dropFile({ _id, upload }: LeadFileDocument): Promise<void> {
    await this.dropRows(upload);
    await withClassifiedErrors(() => this.readModel.collection(leadFiles).deleteOne({ _id }));
  }

  async putFailedRows(jobId: string, chunk: number, rows: readonly FailedRow[]): Promise<void> {
    await this.#put(failedLeadRows, placeIn(jobId, chunk), {
      json: storedJson(Buffer.from(JSON.stringify(rows))),
      expires_at: this.#in(keptMs.failed),
    });
  }

  /** The rows of a job that failed, in the order of the table. */
  async *failedRows(jobId: string): AsyncGenerator<FailedRow[]> {
    const found = this.readModel
      .collection(failedLeadRows)
      .find({ _id: keysWithin([jobId], offsetBytes) })
      .sort({ _id: 1 });
    for await (const { json } of found) yield readJson(json) as unknown as FailedRow[];
  }

  #in(milliseconds: number): Date {
    return new Date(this.now().getTime() + milliseconds);
  }

  async #put<Stored extends Document & { _id: Binary }>(
    declaration: CollectionDeclaration<Stored>,
    _id: Binary,
    content: Omit<Stored, '_id'>,
  ): Promise<void> {
    await withClassifiedErrors(() =>
      this.readModel
        .collection(declaration as CollectionDeclaration)
        .replaceOne({ _id }, content, { upsert: true }),
    );
  }

  async #drop<Stored extends Document & { _id: Binary }>(
    declaration: CollectionDeclaration<Stored>,
    uploadId: string,
  ): Promise<void> {
    await withClassifiedErrors(() =>
      this.readModel
        .collection(declaration as CollectionDeclaration)
        .deleteMany({ _id: keysWithin([uploadId], offsetBytes) as never }),
    );
  }
}
