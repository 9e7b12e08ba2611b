// The index of texts of one partition: texts of changed leads are added in memory and written behind, before the leads.
import { BufferedInserts, BufferedStates, type ReadModel, type WriteBuffer } from '@lead-scoring/read-model';
import {
  openPageKey,
  openPages,
  pageKey,
  slotsPerBlock,
  standardSize,
  storedTexts,
  textPages,
  textsIn,
  type LeadText,
  type OpenPageDocument,
  type TextIndexSize,
  type TextPageDocument,
} from './documents.js';
import { FullBlocks } from './full-blocks.js';
import { TextRemoval, type TextRemovalEvent } from './text-removal.js';
import type { TextChange } from './text-model.js';

/** OUs whose open pages stay in memory; a page has some kilobytes. */
const maximumCached = 1_000;

/** Changed in place: most changes add to it. */
interface OpenPage {
  readonly ouId: string;
  texts: LeadText[];
  pages: number;
  readonly isWhole: boolean;
  /** The offset of the last event whose texts are in the index. */
  offset: number;
}

export interface TextIndexDependencies {
  /** Writes all that is folded so far, before texts that may be among it are removed. */
  readonly write: () => Promise<void>;
  /** Whether an OU has leads from before the batch in this partition. */
  readonly hasLeads: (ouId: string) => Promise<boolean>;
}

export class OpenTextIndex {
  readonly #states: BufferedStates<OpenPage, OpenPageDocument>;
  readonly #pages: BufferedInserts<TextPageDocument>;
  readonly #blocks: FullBlocks;
  readonly #removal: TextRemoval;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    private readonly partition: number,
    private readonly dependencies: TextIndexDependencies,
    private readonly size: TextIndexSize = standardSize,
  ) {
    this.#states = new BufferedStates(readModel, {
      collection: openPages,
      idOf: (ouId) => openPageKey(ouId, partition),
      toState: openPageOf,
      toDocument: (open) => toOpenPageDocument(open, partition),
      maximumCached,
      changesInPlace: true,
    });
    this.#pages = new BufferedInserts(readModel, textPages, { order: 'ids' });
    this.#blocks = new FullBlocks(readModel, size);
    this.#removal = new TextRemoval(readModel, partition, size);
  }

  /**
   * Stages of a write-behind, each written after the one before: the state says that what it counts is stored. The leads come after all of
   * them, because an event is not folded again once its lead is stored.
   */
  get stages(): readonly [WriteBuffer, ...WriteBuffer[]] {
    return [this.#pages, this.#blocks, this.#states];
  }

  /** Folds the changes of a batch, in the order of the log. A batch that changes no texts costs nothing. */
  async fold(changes: readonly TextChange[]): Promise<void> {
    if (changes.length === 0) return;
    const byUnit = new Map<string, TextChange[]>();
    for (const change of changes) {
      const known = byUnit.get(change.ouId);
      if (known) known.push(change);
      else byUnit.set(change.ouId, [change]);
    }
    const stored = await this.#states.load(byUnit.keys());
    for (const [ouId, ofUnit] of byUnit)
      await this.#foldUnit(stored.get(ouId) ?? (await this.#newPage(ouId)), ofUnit);
  }

  async #newPage(ouId: string): Promise<OpenPage> {
    const isWhole = !(await this.dependencies.hasLeads(ouId));
    return { ouId, texts: [], pages: 0, isWhole, offset: -1 };
  }

  async #foldUnit(page: OpenPage, changes: readonly TextChange[]): Promise<void> {
    // Those folded before a crash are in the index.
    let left = changes.filter(({ offset }) => offset > page.offset);
    while (left.length > 0) {
      const together = foldedTogether(page, left, slotsPerBlock(this.size) - this.#filledSlots(page));
      await this.#foldTogether(page, left.slice(0, together));
      left = left.slice(together);
    }
  }

  /** The slots of the last block that have texts. */
  #filledSlots({ pages, texts }: OpenPage): number {
    const { textsPerPage } = this.size;
    return (pages * textsPerPage + texts.length) % slotsPerBlock(this.size);
  }

  async #foldTogether(page: OpenPage, changes: readonly TextChange[]): Promise<void> {
    const stored = changes.map(({ leadId, offset, removed }) => ({
      ...{ leadId, offset },
      removed: removed.filter((text) => !takeOut(page.texts, { text, leadId })),
    }));
    await this.#removeStored(
      page.ouId,
      stored.filter(({ removed }) => removed.length > 0),
    );
    for (const { leadId, offset, added } of changes) {
      for (const text of added) this.#add(page, { text, leadId }, offset);
      page.offset = offset;
    }
    this.#states.put(page.ouId, page);
  }

  async #removeStored(ouId: string, removals: readonly TextRemovalEvent[]): Promise<void> {
    if (removals.length === 0) return;
    // They may be among what is not written yet.
    await this.dependencies.write();
    await this.#removal.remove(ouId, removals);
  }

  #add(page: OpenPage, added: LeadText, offset: number): void {
    const { partition } = this;
    page.texts.push(added);
    if (page.texts.length < this.size.textsPerPage) return;
    const { ouId, pages } = page;
    const _id = pageKey({ ouId, partition, kind: 'added', page: pages });
    this.#pages.put({ _id, ...storedTexts(page.texts), partition, offset });
    page.texts = [];
    page.pages = pages + 1;
    if (page.pages % this.size.pagesPerBlock === 0)
      this.#blocks.put({ ouId, partition, block: page.pages / this.size.pagesPerBlock - 1, offset });
  }
}

/** Texts of leads as a set. */
class TextSet {
  readonly #keys = new Set<string>();

  constructor(texts: readonly LeadText[]) {
    for (const text of texts) this.add(text);
  }

  add({ leadId, text }: LeadText): void {
    this.#keys.add(`${leadId} ${text}`);
  }

  has({ leadId, text }: LeadText): boolean {
    return this.#keys.has(`${leadId} ${text}`);
  }
}

/**
 * The number of changes whose removals can be made at once and before their additions, so that the documents do not depend on how the log is
 * cut into batches. What an open page loses makes room in it, so such a removal comes first. Removals from stored pages are guarded by
 * offsets, so none may be made before an earlier one. What is removed before a block is full is not in the block; what is removed afterwards
 * leaves an empty place in it.
 * @param room texts until the block is full
 */
function foldedTogether({ texts }: OpenPage, changes: readonly TextChange[], room: number): number {
  const touched = new TextSet(texts);
  let left = room;
  for (const [index, { leadId, added, removed }] of changes.entries()) {
    const pairs = removed.map((text) => ({ text, leadId }));
    if (index > 0 && pairs.some((pair) => touched.has(pair))) return index;
    for (const text of added) touched.add({ text, leadId });
    left -= added.length;
    if (left <= 0) return index + 1;
  }
  return changes.length;
}

/** Takes a text out of an open page. @returns whether it was there */
function takeOut(texts: LeadText[], { text, leadId }: LeadText): boolean {
  const index = texts.findIndex((one) => one.leadId === leadId && one.text === text);
  if (index === -1) return false;
  texts.splice(index, 1);
  return true;
}

function openPageOf(document: OpenPageDocument, ouId: string): OpenPage {
  const { pages, is_whole, offset } = document;
  return { ouId, texts: textsIn(document), pages, isWhole: is_whole, offset };
}

function toOpenPageDocument(
  { ouId, texts, pages, isWhole, offset }: OpenPage,
  partition: number,
): OpenPageDocument {
  const _id = openPageKey(ouId, partition);
  return { _id, pages, is_whole: isWhole, ...storedTexts(texts), partition, offset };
}
