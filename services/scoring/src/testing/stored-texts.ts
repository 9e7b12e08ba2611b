// What the documents of the index of texts say, for tests: which texts of which leads, and the slots that terms point to.
import { uuidBytes, Binary, bytesOf, readUuid } from '@lead-scoring/read-model';
import type { LeadDocument } from '../leads/documents.js';
import { loweredTextsOf, searchTextsOf } from '../leads/state.js';
import {
  placeOfPage,
  placeOfPostings,
  removedText,
  slotsPerBlock,
  textsIn,
  type LeadText,
  type TextIndexSize,
} from '../text-index/documents.js';
import { unpackPostings } from '../text-index/postings-model.js';
import { indexedText, termsOf } from '../text-index/text-model.js';

/** Documents of which binary values are base64 texts. */
export type JsonDocuments = Record<string, unknown[]>;

const binary = (base64: string) => new Binary(Buffer.from(base64, 'base64'), 0);

/** Each text of the index once, with its lead: those of open pages, of pages that are in no full block, and of sorted pages. */
export function indexedTexts(documents: JsonDocuments, { pagesPerBlock }: TextIndexSize): string[] {
  const found: LeadText[] = [];
  const openPages = new Map<number, number>();
  for (const { partition, pages, text, leads } of documents.text_open_pages as StoredPage[]) {
    openPages.set(partition, pages - (pages % pagesPerBlock));
    found.push(...textsIn({ text, leads: binary(leads) }));
  }
  for (const { _id, text, leads } of documents.text_pages as StoredPage[]) {
    const { kind, page, partition } = placeOfPage(binary(_id));
    if (kind === 'sorted' || page >= (openPages.get(partition) ?? 0))
      found.push(...textsIn({ text, leads: binary(leads) }));
  }
  return found
    .filter(({ text }) => text !== removedText.text)
    .map(({ text, leadId }) => `${leadId} ${text}`)
    .sort();
}

/** The texts by which the stored leads are to be found. */
export function textsOfLeads(documents: JsonDocuments): string[] {
  return (documents.leads as (Pick<LeadDocument, 'fields' | 'aliases'> & { _id: string })[])
    .flatMap(({ _id, ...lead }) => {
      const leadId = readUuid(bytesOf(binary(_id)), uuidBytes);
      const texts = searchTextsOf(loweredTextsOf(lead)).map(indexedText);
      return [...new Set(texts)].map((text) => `${leadId} ${text}`);
    })
    .sort();
}

/** What the stored postings say: term, partition, block and slot. */
export function storedSlots(documents: JsonDocuments, size: TextIndexSize): string[] {
  return (documents.text_postings as { _id: string; entries: string }[])
    .flatMap(({ _id, entries }) => {
      const { partition, block } = placeOfPostings(binary(_id));
      const postings = unpackPostings(Buffer.from(entries, 'base64'), slotsPerBlock(size));
      return [...postings].flatMap(([term, slots]) =>
        slots.map((slot) => [term, partition, block, slot].join('/')),
      );
    })
    .sort();
}

/** What they have to say by the sorted pages. */
export function slotsOfPages(
  documents: JsonDocuments,
  { textsPerPage, pagesPerBlock }: TextIndexSize,
): string[] {
  return (documents.text_pages as StoredPage[])
    .flatMap(({ _id, text, leads }) => {
      const { kind, page, partition } = placeOfPage(binary(_id));
      if (kind === 'added') return [];
      const block = Math.floor(page / pagesPerBlock);
      return textsIn({ text, leads: binary(leads) }).flatMap((one, index) => {
        const slot = (page % pagesPerBlock) * textsPerPage + index;
        return [...termsOf(one.text)].map((term) => [term, partition, block, slot].join('/'));
      });
    })
    .sort();
}

interface StoredPage {
  readonly _id: string;
  readonly partition: number;
  readonly pages: number;
  readonly text: string;
  readonly leads: string;
}
