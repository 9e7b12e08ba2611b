// What the index of texts stores. A text of a lead is first in the open page of its OU and partition, then in a page, and when a block
// of pages is full, in a sorted page that terms point to (docs/decisions/0072).
import {
  Binary,
  bytesOf,
  defineCollection,
  readUuid,
  uuidBytes,
  writeUuid,
  type GuardedDocument,
  type KeyRange,
} from '@lead-scoring/read-model';

/** The sizes of the index. */
export interface TextIndexSize {
  readonly textsPerPage: number;
  /** Pages of a block. Its slots, all texts of its pages, are a multiple of 8 and at most 65,536. */
  readonly pagesPerBlock: number;
}

export const standardSize: TextIndexSize = { textsPerPage: 64, pagesPerBlock: 64 };

export function slotsPerBlock({ textsPerPage, pagesPerBlock }: TextIndexSize): number {
  return textsPerPage * pagesPerBlock;
}

/** Texts, and for each of them the lead that it is of. */
interface StoredTexts {
  /** Joined by line breaks. A removed text is empty. */
  text: string;
  /** The ids of the leads, in the order of their texts. That of a removed text is zero. */
  leads: Binary;
}

/** `_id` is openPageKey. The texts that fill no page yet, with what is known of the OU's index in the partition. */
export interface OpenPageDocument extends GuardedDocument, StoredTexts {
  _id: Binary;
  /** The number of full pages before it. */
  pages: number;
  /** Whether all leads are in the index; false where the OU had leads before there was an index. */
  is_whole: boolean;
}

/** `_id` is pageKey. */
export interface TextPageDocument extends GuardedDocument, StoredTexts {
  _id: Binary;
}

/** `_id` is postingsKey. */
export interface PostingsDocument extends GuardedDocument {
  _id: Binary;
  /** packPostings. */
  entries: Binary;
}

export const openPages = defineCollection<OpenPageDocument>({ name: 'text_open_pages', indexes: [] });
export const textPages = defineCollection<TextPageDocument>({ name: 'text_pages', indexes: [] });
export const textPostings = defineCollection<PostingsDocument>({ name: 'text_postings', indexes: [] });

/** A text and the lead that it is of. */
export interface LeadText {
  readonly text: string;
  readonly leadId: string;
}

const removedLead = readUuid(Buffer.alloc(uuidBytes), 0);
/** In the place of a removed text. */
export const removedText: LeadText = { text: '', leadId: removedLead };

export function storedTexts(texts: readonly LeadText[]): StoredTexts {
  const leads = Buffer.allocUnsafe(texts.length * uuidBytes);
  for (const [index, { leadId }] of texts.entries()) writeUuid(leads, index * uuidBytes, leadId);
  return { text: texts.map(({ text }) => text).join('\n'), leads: new Binary(leads, 0) };
}

export function textsIn({ text, leads }: StoredTexts): LeadText[] {
  const ids = bytesOf(leads);
  if (ids.length === 0) return [];
  return text.split('\n').map((one, index) => ({ text: one, leadId: readUuid(ids, index * uuidBytes) }));
}

/** A page: one of those that are filled one after the other (`added`), or of the sorted ones of full blocks. */
export interface PagePlace {
  readonly ouId: string;
  readonly partition: number;
  readonly kind: 'added' | 'sorted';
  readonly page: number;
}

/** A block of an OU's index in a partition. */
export type BlockPlace = Pick<PagePlace, 'ouId' | 'partition'> & { readonly block: number };

const partitionAt = uuidBytes;
const kindAt = partitionAt + 2;
const pageAt = kindAt + 1;

/** The id of an open page: OU, partition. */
export function openPageKey(ouId: string, partition: number): Binary {
  const bytes = Buffer.alloc(kindAt);
  writeUuid(bytes, 0, ouId);
  bytes.writeUInt16BE(partition, partitionAt);
  return new Binary(bytes, 0);
}

/** The id of a page: OU, partition, kind, number. */
export function pageKey({ ouId, partition, kind, page }: PagePlace): Binary {
  const bytes = Buffer.alloc(pageAt + 4);
  writeUuid(bytes, 0, ouId);
  bytes.writeUInt16BE(partition, partitionAt);
  bytes.writeUInt8(kind === 'added' ? 0 : 1, kindAt);
  bytes.writeUInt32BE(page, pageAt);
  return new Binary(bytes, 0);
}

export function placeOfPage(key: Binary): PagePlace {
  const bytes = bytesOf(key);
  return {
    ouId: readUuid(bytes, 0),
    partition: bytes.readUInt16BE(partitionAt),
    kind: bytes.readUInt8(kindAt) === 0 ? 'added' : 'sorted',
    page: bytes.readUInt32BE(pageAt),
  };
}

/** The ids of a partition's pages of one kind from a number on. */
export function pageKeysFrom(from: PagePlace): KeyRange {
  return { $gte: pageKey(from), $lte: pageKey({ ...from, page: 2 ** 32 - 1 }) };
}

const bucketAt = uuidBytes;
const partitionOfBucketAt = bucketAt + 1;
const blockAt = partitionOfBucketAt + 2;

/** The id of postings: OU, bucket, partition, block. */
export function postingsKey({ ouId, partition, block }: BlockPlace, bucket: number): Binary {
  const bytes = Buffer.alloc(blockAt + 4);
  writeUuid(bytes, 0, ouId);
  bytes.writeUInt8(bucket, bucketAt);
  bytes.writeUInt16BE(partition, partitionOfBucketAt);
  bytes.writeUInt32BE(block, blockAt);
  return new Binary(bytes, 0);
}

export function placeOfPostings(key: Binary): BlockPlace & { readonly bucket: number } {
  const bytes = bytesOf(key);
  return {
    ouId: readUuid(bytes, 0),
    bucket: bytes.readUInt8(bucketAt),
    partition: bytes.readUInt16BE(partitionOfBucketAt),
    block: bytes.readUInt32BE(blockAt),
  };
}

/** The ids of a bucket's postings in all blocks of an OU, or of one partition. */
export function postingsKeysOf(ouId: string, bucket: number, partition?: number): KeyRange {
  const edge = (fill: number, filled: number) =>
    postingsKey({ ouId, partition: partition ?? filled, block: fill }, bucket);
  return { $gte: edge(0, 0), $lte: edge(2 ** 32 - 1, 2 ** 16 - 1) };
}
