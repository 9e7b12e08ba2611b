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
  /** What has to be level before the swap: `<reader>:<partition>`. */
  parts: string[];
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

/** Asks for a rebuild. One that is known already changes nothing; one that comes during another joins it. */
export function requested(rebuildId: string, parts: readonly string[], at: string): EditionStep {
  return (editions) => {
    const { filling, requested, done } = editions;
    const known = [...done, ...(filling?.rebuilds ?? []), ...(requested?.rebuilds ?? [])];
    if (known.includes(rebuildId)) return null;
    if (filling) return { ...editions, filling: { ...filling, rebuilds: [...filling.rebuilds, rebuildId] } };
    const rebuilds = [...(requested?.rebuilds ?? []), rebuildId];
    return begun({ ...editions, requested: { rebuilds, parts: [...parts] } }, at);
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
  return {
    ...editions,
    requested: null,
    filling: { ...requested, number: live + 1, since: at, owners: {}, level: [] },
  };
}

/** The name of a collection, or of a reader's checkpoints, in an edition. */
export function nameInEdition(name: string, edition: number): string {
  return edition === 0 ? name : `${name}.e${String(edition)}`;
}
