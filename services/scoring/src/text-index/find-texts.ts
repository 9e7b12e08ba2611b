// Looks up the leads that have a text in their name, company or aliases.
import {
  bytesOf,
  containsText,
  findFields,
  findWithinEach,
  keyOf,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  openPageKey,
  openPages,
  pageKey,
  pageKeysFrom,
  placeOfPostings,
  postingsKeysOf,
  slotsPerBlock,
  standardSize,
  textPages,
  textPostings,
  textsIn,
  type BlockPlace,
  type OpenPageDocument,
  type TextIndexSize,
  type TextPageDocument,
} from './documents.js';
import { bucketOf, commonSlots, slotsOf } from './postings-model.js';
import { lookedUpTerms, sameCase } from './text-model.js';

/** With more texts than this, a scan of all leads costs less than looking each lead up. */
const maximumTexts = 6_000;

/**
 * The ids of all leads that have the text in their name, company or an alias, and possibly of some that do not: the caller
 * verifies each. null: the index cannot tell, because the text is shorter than a term or too many leads have it, or because the OU had leads before
 * there was an index (until the service has built it anew).
 * @param partitions in which the OU has leads
 */
export async function findLeadsWithText(
  readModel: ReadModel,
  { ouId, text, partitions }: { ouId: string; text: string; partitions: Promise<readonly number[]> },
  size: TextIndexSize = standardSize,
): Promise<Set<string> | null> {
  const terms = lookedUpTerms(text);
  if (terms.length === 0) return null;
  return withClassifiedErrors(async () => {
    // Before all else: texts move from open pages to pages, and from there to the blocks that terms point to.
    const [open, known] = await Promise.all([findOpenPages(readModel, ouId), partitions]);
    const whole = new Set(open.filter((page) => page.is_whole).map(({ partition }) => partition));
    if (!known.every((partition) => whole.has(partition))) return null;
    const [unsorted, slots] = await Promise.all([
      findUnsorted(readModel, { ouId, text, open }, size),
      findSlots(readModel, { ouId, terms }, size),
    ]);
    if (slots.length > maximumTexts) return null;
    const wanted = sameCase(text);
    const leadIds = new Set<string>();
    for (const page of [...open, ...unsorted, ...(await findSorted(readModel, { ouId, slots }, size))])
      for (const one of textsIn(page)) if (sameCase(one.text).includes(wanted)) leadIds.add(one.leadId);
    return leadIds;
  });
}

function findOpenPages(readModel: ReadModel, ouId: string): Promise<OpenPageDocument[]> {
  return readModel
    .collection(openPages)
    .find({ _id: { $gte: openPageKey(ouId, 0), $lte: openPageKey(ouId, 2 ** 16 - 1) } })
    .toArray();
}

/** The pages with the text that are in no full block yet. */
function findUnsorted(
  readModel: ReadModel,
  { ouId, text, open }: { ouId: string; text: string; open: readonly OpenPageDocument[] },
  { pagesPerBlock }: TextIndexSize,
) {
  const ranges = open.flatMap(({ partition, pages }) => {
    const page = pages - (pages % pagesPerBlock);
    return page === pages
      ? []
      : [{ _id: pageKeysFrom({ ouId, partition, kind: 'added', page }), text: containsText(text) }];
  });
  return findWithinEach(readModel.collection(textPages), ranges, ['text', 'leads']);
}

interface BlockSlot extends BlockPlace {
  readonly slot: number;
}

/** The slots of full blocks that have all of the terms. */
async function findSlots(
  readModel: ReadModel,
  { ouId, terms }: { ouId: string; terms: readonly number[] },
  size: TextIndexSize,
): Promise<BlockSlot[]> {
  const buckets = new Set(terms.map(bucketOf));
  const found = await findWithinEach(
    readModel.collection(textPostings),
    [...buckets].map((bucket) => ({ _id: postingsKeysOf(ouId, bucket) })),
    ['entries'],
  );
  const blocks = new Map<string, { place: BlockPlace; entries: Map<number, Buffer> }>();
  for (const document of found) {
    const place = placeOfPostings(document._id);
    const name = `${String(place.partition)}/${String(place.block)}`;
    const known = blocks.get(name);
    if (known) known.entries.set(place.bucket, bytesOf(document.entries));
    else blocks.set(name, { place, entries: new Map([[place.bucket, bytesOf(document.entries)]]) });
  }
  const slotsOfBlock = slotsPerBlock(size);
  return [...blocks.values()].flatMap(({ place, entries }) => {
    if (entries.size < buckets.size) return [];
    const lists = terms.map((term) =>
      slotsOf(entries.get(bucketOf(term)) ?? Buffer.of(), term, slotsOfBlock),
    );
    return commonSlots(lists).map((slot) => ({ ...place, slot }));
  });
}

/** The pages that have the slots. */
async function findSorted(
  readModel: ReadModel,
  { ouId, slots }: { ouId: string; slots: readonly BlockSlot[] },
  { textsPerPage, pagesPerBlock }: TextIndexSize,
): Promise<Pick<TextPageDocument, 'text' | 'leads'>[]> {
  const keys = new Map<string, Binary>();
  for (const { partition, block, slot } of slots) {
    const page = block * pagesPerBlock + Math.floor(slot / textsPerPage);
    const key = pageKey({ ouId, partition, kind: 'sorted', page });
    keys.set(keyOf(key), key);
  }
  return findFields(readModel.collection(textPages), [...keys.values()], ['text', 'leads']);
}
