// Takes texts of leads out of the stored index: out of the pages that have them, and out of the postings that point to their slots.
import {
  Binary,
  bytesOf,
  createGuardedWriter,
  escapeForRegex,
  findByIds,
  keyOf,
  withClassifiedErrors,
  type GuardedWriter,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  pageKeysFrom,
  placeOfPage,
  postingsKey,
  removedText,
  slotsPerBlock,
  storedTexts,
  textPages,
  textPostings,
  textsIn,
  type BlockPlace,
  type PostingsDocument,
  type TextIndexSize,
  type TextPageDocument,
} from './documents.js';
import { bucketOf, packPostings, unpackPostings, withoutSlots } from './postings-model.js';
import { termsOf, type TextChange } from './text-model.js';

/** The texts of a lead that an event removes. */
export type TextRemovalEvent = Pick<TextChange, 'leadId' | 'offset' | 'removed'>;

/** Slots that terms of one bucket of a block pointed to. */
interface RemovedSlots {
  readonly id: Binary;
  readonly slots: { readonly term: number; readonly slot: number }[];
  offset: number;
}

/** With more texts, the database takes longer to look for them than all pages take to be read. */
const maximumPatterns = 8;

export class TextRemoval {
  readonly #pages;
  readonly #postings;
  readonly #writer: GuardedWriter;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    private readonly partition: number,
    private readonly size: TextIndexSize,
  ) {
    this.#pages = readModel.collection(textPages);
    this.#postings = readModel.collection(textPostings);
    this.#writer = createGuardedWriter(readModel);
  }

  /** Resolves when nothing of the texts is stored. After a crash on the way it may be repeated: pages, through which slots are found, are last. */
  async remove(ouId: string, removals: readonly TextRemovalEvent[]): Promise<void> {
    const byText = new Map<string, TextRemovalEvent[]>();
    for (const removal of removals)
      for (const text of removal.removed) byText.set(text, [...(byText.get(text) ?? []), removal]);
    const pages = await this.#pagesWith(ouId, byText);
    const changed: TextPageDocument[] = [];
    const buckets = new Map<string, RemovedSlots>();
    for (const page of pages) {
      const texts = textsIn(page);
      let offset = -1;
      for (const [index, { text, leadId }] of texts.entries()) {
        const found = byText.get(text)?.find((one) => one.leadId === leadId);
        if (!found) continue;
        texts[index] = removedText;
        offset = Math.max(offset, found.offset);
        this.#noteSlots(buckets, page, { index, text, offset: found.offset });
      }
      if (offset >= 0) changed.push({ ...page, ...storedTexts(texts), offset });
    }
    await this.#removeSlots(buckets);
    await this.#writer.write(this.#pages, changed);
  }

  /** Reads the pages of the partition; the database leaves pages out that have none of the texts, unless there are many. */
  async #pagesWith(
    ouId: string,
    byText: ReadonlyMap<string, readonly TextRemovalEvent[]>,
  ): Promise<TextPageDocument[]> {
    const { partition } = this;
    const { $gte } = pageKeysFrom({ ouId, partition, kind: 'added', page: 0 });
    const { $lte } = pageKeysFrom({ ouId, partition, kind: 'sorted', page: 0 });
    const patterns = [...byText.keys()].map(escapeForRegex);
    const found: TextPageDocument[] = [];
    await withClassifiedErrors(async () => {
      const all = this.#pages.find({
        _id: { $gte, $lte },
        ...(patterns.length <= maximumPatterns && { text: { $regex: patterns.join('|') } }),
      });
      for await (const page of all) if (textsIn(page).some(({ text }) => byText.has(text))) found.push(page);
    });
    return found;
  }

  #noteSlots(
    buckets: Map<string, RemovedSlots>,
    { _id }: TextPageDocument,
    { index, text, offset }: { index: number; text: string; offset: number },
  ): void {
    const { kind, page, ...place } = placeOfPage(_id);
    if (kind === 'added') return;
    const { pagesPerBlock, textsPerPage } = this.size;
    const block: BlockPlace = { ...place, block: Math.floor(page / pagesPerBlock) };
    const slot = (page % pagesPerBlock) * textsPerPage + index;
    for (const term of termsOf(text)) {
      const id = postingsKey(block, bucketOf(term));
      const known = buckets.get(keyOf(id));
      if (!known) buckets.set(keyOf(id), { id, slots: [{ term, slot }], offset });
      else {
        known.slots.push({ term, slot });
        known.offset = Math.max(known.offset, offset);
      }
    }
  }

  async #removeSlots(buckets: ReadonlyMap<string, RemovedSlots>): Promise<void> {
    const stored = await findByIds<PostingsDocument>(
      this.#postings,
      [...buckets.values()].map(({ id }) => id),
    );
    const slotsOfBlock = slotsPerBlock(this.size);
    const changed = stored.map((document) => {
      const { slots, offset } = buckets.get(keyOf(document._id)) ?? { slots: [], offset: document.offset };
      const left = withoutSlots(unpackPostings(bytesOf(document.entries), slotsOfBlock), slots);
      return { ...document, entries: new Binary(packPostings(left, slotsOfBlock), 0), offset };
    });
    await this.#writer.write(this.#postings, changed);
  }
}
