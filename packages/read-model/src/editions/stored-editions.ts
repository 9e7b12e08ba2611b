// What MongoDB stores of a service's editions, and the steps from one to the next: pure, so that each step is one
// compare-and-set.
import { defineCollection } from '../collection-declaration.js';

/**
 * The editions of what a service stores. An edition is a full set of its collections; reads answer from the live one,
 * and a rebuild fills another beside it.
 */
export interface StoredEditions {
  /** The service. */
  _id: string;
  /** Incremented by every change. */
  revision: number;
  /** The edition that reads answer from. */
  live: number;
  /** The version of the service's folds and documents in the live edition; absent until a process has stated it. */
  version?: number;
  filling: FillingEdition | null;
  /** The edition that was live before; dropped once no reader can be on it. */
  retired: { number: number; since: string } | null;
  /** Rebuilds that begin once no other edition is being filled or dropped. */
  requested: RequestedRebuild | null;
  /** The rebuilds that are done, the last ones only. */
  done: string[];
}

export interface RequestedRebuild {
  /** Ids of the rebuilds that were asked for: one edition is filled for all of them. */
  rebuilds: string[];
  /** The parts that must be level before the swap, as `partOf` names them. */
  parts: string[];
  /** Only processes of this version of the service fill the edition. */
  version: number;
}

export interface FillingEdition extends RequestedRebuild {
  number: number;
  /** When the filling began. */
  since: string;
  /** Who fills a part: an earlier owner of a partition cannot say that it is level. */
  owners: Record<string, string>;
  /** The parts that are level with the live edition, and written with it from then on. */
  level: string[];
}

export const editionCollection = defineCollection<StoredEditions>({
  name: 'editions',
  indexes: [],
  isLasting: true,
});

const maximumDone = 100;

export function firstEdition(service: string): StoredEditions {
  return {
    _id: service,
    revision: 0,
    live: 0,
    filling: null,
    retired: null,
    requested: null,
    done: [],
  };
}

/** A step of the editions; null where there is nothing to change. */
export type EditionStep = (editions: StoredEditions) => StoredEditions | null;

/** What a process folds: its readers' partitions, and the version of its folds and documents. */
export interface FoldedParts {
  readonly parts: readonly string[];
  readonly version: number;
}

/**
 * Asks for a rebuild. One that is known already changes nothing; one that comes during another joins it, unless it is of
 * a newer version: then the filling begins anew.
 */
export function requested(rebuildId: string, { parts, version }: FoldedParts, at: string): EditionStep {
  return (editions) => {
    const { filling, requested, done } = editions;
    const known = [...done, ...(filling?.rebuilds ?? []), ...(requested?.rebuilds ?? [])];
    if (known.includes(rebuildId)) return null;
    if (filling) {
      const rebuilds = [...filling.rebuilds, rebuildId];
      if (version <= filling.version) return { ...editions, filling: { ...filling, rebuilds } };
      const next = { rebuilds, parts: [...parts], version };
      return { ...editions, filling: newFilling(filling.number + 1, next, at) };
    }
    const rebuilds = [...(requested?.rebuilds ?? []), rebuildId];
    const newest = Math.max(version, requested?.version ?? version);
    return begun({ ...editions, requested: { rebuilds, parts: [...parts], version: newest } }, at);
  };
}

/** A process states its version when it starts: the first one is that of the live edition, a newer one asks for a rebuild. */
export function stated(folded: FoldedParts, at: string): EditionStep {
  return (editions) => {
    if (editions.version === undefined) return { ...editions, version: folded.version };
    if (folded.version <= editions.version) return null;
    return requested(`version ${String(folded.version)}`, folded, at)(editions);
  };
}

/** A part of an edition and its owner. */
export interface OwnedPart {
  edition: number;
  part: string;
  owner: string;
}

/** A part gets a new owner, and stays level where it is. */
export function claimed({ edition, part, owner }: OwnedPart): EditionStep {
  return (editions) => {
    const { filling } = editions;
    if (filling?.number !== edition) return null;
    return { ...editions, filling: { ...filling, owners: { ...filling.owners, [part]: owner } } };
  };
}

/** A part is level. When all are, the filled edition becomes the live one. */
export function levelled(owned: OwnedPart, at: string): EditionStep {
  return (editions) => {
    const { live, done } = editions;
    const filling = filledBy(editions, owned);
    const { part, edition: number } = owned;
    if (!filling || filling.level.includes(part)) return null;
    const level = [...filling.level, part];
    if (!filling.parts.every((one) => level.includes(one)))
      return { ...editions, filling: { ...filling, level } };
    return {
      ...editions,
      live: number,
      version: filling.version,
      filling: null,
      retired: { number: live, since: at },
      done: [...done, ...filling.rebuilds].slice(-maximumDone),
    };
  };
}

/** A part is no longer level and has no owner; null when it has another one, or the edition is no longer being filled. */
export function withdrawn(owned: OwnedPart): EditionStep {
  return (editions) => {
    const filling = filledBy(editions, owned);
    if (!filling) return null;
    const owners = Object.fromEntries(Object.entries(filling.owners).filter(([part]) => part !== owned.part));
    const level = filling.level.filter((one) => one !== owned.part);
    return { ...editions, filling: { ...filling, owners, level } };
  };
}

function filledBy({ filling }: StoredEditions, { edition, part, owner }: OwnedPart): FillingEdition | null {
  return filling?.number === edition && filling.owners[part] === owner ? filling : null;
}

/** The collections of a retired edition are dropped. */
export function dropped(number: number, at: string): EditionStep {
  return (editions) => {
    if (editions.retired?.number !== number) return null;
    const after = { ...editions, retired: null };
    return begun(after, at);
  };
}

/** Begins the filling that was requested, unless the edition before the live one is still there. */
function begun(editions: StoredEditions, at: string): StoredEditions {
  const { requested, filling, retired, live } = editions;
  if (!requested || filling || retired) return editions;
  return { ...editions, requested: null, filling: newFilling(live + 1, requested, at) };
}

function newFilling(number: number, requested: RequestedRebuild, since: string): FillingEdition {
  return { ...requested, number, since, owners: {}, level: [] };
}

/** The name of a part: one partition of one reader. */
export function partOf(reader: string, partition: number): string {
  return `${reader}:${String(partition)}`;
}

export function readerOf(part: string): string {
  return part.slice(0, part.lastIndexOf(':'));
}

/** The name of a collection, or of a reader's checkpoints, in an edition. */
export function nameInEdition(name: string, edition: number): string {
  return edition === 0 ? name : `${name}.e${String(edition)}`;
}
