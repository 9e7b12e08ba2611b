// Blocks of pages that became full: the next cycle reads their pages, sorts their texts into sorted pages, and writes the postings that
// point to them. A block is written once, so a text costs a small part of the documents that its terms point to it from.
import { setImmediate } from 'node:timers/promises';
import {
  Binary,
  deleteByIds,
  findByIds,
  inLockingOrder,
  insertMissing,
  keyOf,
  type ReadModel,
  type TakenChanges,
  type WriteBuffer,
} from '@lead-scoring/read-model';
import {
  pageKey,
  postingsKey,
  slotsPerBlock,
  storedTexts,
  textPages,
  textPostings,
  textsIn,
  type BlockPlace,
  type LeadText,
  type PagePlace,
  type PostingsDocument,
  type TextIndexSize,
  type TextPageDocument,
} from './documents.js';
import { bucketsOf, packPostings } from './postings-model.js';
import { termsOf } from './text-model.js';

interface FullBlock extends BlockPlace {
  /** Of the event whose text filled it. */
  readonly offset: number;
}

/** Texts whose terms are computed without a pause: a few milliseconds. */
const textsAtOnce = 512;

export class FullBlocks implements WriteBuffer {
  readonly #pages;
  readonly #postings;
  #unwritten: FullBlock[] = [];

  constructor(
    readModel: Pick<ReadModel, 'collection'>,
    private readonly textSize: TextIndexSize,
  ) {
    this.#pages = readModel.collection(textPages);
    this.#postings = readModel.collection(textPostings);
  }

  get size(): number {
    return this.#unwritten.length;
  }

  put(block: FullBlock): void {
    this.#unwritten.push(block);
  }

  /** The cycle has written the blocks' pages in a stage before. */
  take(): TakenChanges {
    const taken = this.#unwritten;
    this.#unwritten = [];
    return {
      write: async () => {
        for (const block of taken) await this.#write(block);
      },
      stored: () => undefined,
    };
  }

  forget(): void {
    this.#unwritten = [];
  }

  async #write(block: FullBlock): Promise<void> {
    const keys = this.#keysOf(block, 'added');
    const stored = new Map(
      (await findByIds(this.#pages, keys)).map((document) => [keyOf(document._id), document]),
    );
    const texts = keys.flatMap((key) => textsIn(stored.get(keyOf(key)) ?? storedTexts([]))).sort(inTextOrder);
    const [pages, postings] = [this.#sortedPages(block, texts), await this.#postingsOf(block, texts)];
    await insertMissing(this.#pages, pages);
    await insertMissing(this.#postings, inLockingOrder(postings));
    // A reader that has found this block still to be filled reads its pages, so only those of the block before are deleted.
    if (block.block > 0)
      await deleteByIds(this.#pages, this.#keysOf({ ...block, block: block.block - 1 }, 'added'));
  }

  #keysOf({ ouId, partition, block }: BlockPlace, kind: PagePlace['kind']): Binary[] {
    const { pagesPerBlock } = this.textSize;
    return Array.from({ length: pagesPerBlock }, (_, index) =>
      pageKey({ ouId, partition, kind, page: block * pagesPerBlock + index }),
    );
  }

  #sortedPages(block: FullBlock, texts: readonly LeadText[]): TextPageDocument[] {
    const { textsPerPage } = this.textSize;
    const { partition, offset } = block;
    return this.#keysOf(block, 'sorted').map((_id, index) => ({
      _id,
      ...storedTexts(texts.slice(index * textsPerPage, (index + 1) * textsPerPage)),
      partition,
      offset,
    }));
  }

  async #postingsOf(block: FullBlock, texts: readonly LeadText[]): Promise<PostingsDocument[]> {
    const { partition, offset } = block;
    const terms: Set<number>[] = [];
    for (const [index, { text }] of texts.entries()) {
      if (index % textsAtOnce === textsAtOnce - 1) await setImmediate();
      terms.push(termsOf(text));
    }
    return [...bucketsOf(terms)].map(([bucket, postings]) => ({
      _id: postingsKey(block, bucket),
      entries: new Binary(packPostings(postings, slotsPerBlock(this.textSize)), 0),
      partition,
      offset,
    }));
  }
}

/** By text, so that leads of one company are on few pages. Removed texts are empty, and come first. */
function inTextOrder(left: LeadText, right: LeadText): number {
  if (left.text !== right.text) return left.text < right.text ? -1 : 1;
  return left.leadId < right.leadId ? -1 : left.leadId > right.leadId ? 1 : 0;
}
