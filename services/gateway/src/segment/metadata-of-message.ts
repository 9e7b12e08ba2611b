// The metadata of the event that a message of Segment's tracking API becomes. What the sender is free to fill stays under keys of its
// own: POST /ingest takes a lead's name, company and others from the first level of metadata, and only traits may give these. Pure.
import type { routeDeclarations } from '@lead-scoring/contracts';
import type { Message, SentObject } from './message.js';

/** The metadata; empty where the message says nothing. */
export function metadataOf(type: routeDeclarations.SegmentType, message: Message): Record<string, unknown> {
  const traits = traitsOf(type, message);
  const context = contextOf(message.context);
  const group = type === 'group' ? groupOf(message) : undefined;
  const properties = type === 'page' || type === 'screen' ? viewOf(message) : message.properties;
  return withoutAbsent({
    ...leadFieldsIn(traits),
    ...(group && withoutAbsent({ company: textIn(message.traits?.name) })),
    path: (type === 'page' ? textIn(message.properties?.path) : undefined) ?? context?.page?.path,
    campaign: context?.campaign?.name,
    properties: filled(properties),
    traits: filled(traits),
    group,
    context,
  });
}

/** The traits of the person: not those of a group, which are the company's. */
export function traitsOf(type: routeDeclarations.SegmentType, message: Message): SentObject {
  return { ...objectIn(message.context?.traits), ...(type === 'identify' && message.traits) };
}

/** A text that is not empty. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The fields of a lead, as POST /ingest names them, among the traits of a person. */
function leadFieldsIn(traits: SentObject): Record<string, string> {
  if (Object.keys(traits).length === 0) return {};
  return withoutAbsent({
    name: textIn(traits.name),
    first_name: textIn(traits.firstName) ?? textIn(traits.first_name),
    last_name: textIn(traits.lastName) ?? textIn(traits.last_name),
    company: textIn(traits.company) ?? textIn(objectIn(traits.company)?.name),
    title: textIn(traits.title),
    owner: textIn(traits.owner),
    phone: textIn(traits.phone),
  });
}

function groupOf({ groupId, traits }: Message): SentObject {
  return withoutAbsent({ id: String(groupId), traits: filled(traits) });
}

/** The properties of a view of a page or screen, with the name and category that servers send beside them. */
function viewOf({ properties, name, category, context }: Message): SentObject {
  return {
    ...properties,
    ...withoutAbsent({
      name: name ?? undefined,
      category: category ?? undefined,
      url: properties?.url === undefined ? cut(objectIn(context?.page)?.url) : undefined,
    }),
  };
}

const pageTexts = ['path', 'referrer', 'search', 'title', 'url'] as const;
const campaignTexts = ['id', 'name', 'source', 'medium', 'term', 'content'] as const;
const longestContextText = 1_000;

interface KeptContext {
  page?: Partial<Record<(typeof pageTexts)[number], string>>;
  campaign?: Partial<Record<(typeof campaignTexts)[number], string>>;
  locale?: string;
}

/** The part of a context that is kept. Addresses of clients, devices and locations are not. */
function contextOf(context: Message['context']): KeptContext | undefined {
  const kept: KeptContext = withoutAbsent({
    page: textsOf(context?.page, pageTexts),
    campaign: textsOf(context?.campaign, campaignTexts),
    locale: cut(context?.locale),
  });
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function textsOf<Key extends string>(
  value: unknown,
  keys: readonly Key[],
): Partial<Record<Key, string>> | undefined {
  const object = objectIn(value);
  if (!object) return undefined;
  const found = keys.flatMap((key) => {
    const text = cut(object[key]);
    return text === undefined ? [] : [[key, text] as const];
  });
  return found.length === 0 ? undefined : (Object.fromEntries(found) as Partial<Record<Key, string>>);
}

function cut(value: unknown): string | undefined {
  return textIn(value)?.slice(0, longestContextText).toWellFormed();
}

function filled(value: SentObject | null | undefined): SentObject | undefined {
  return value == null || Object.keys(value).length === 0 ? undefined : value;
}

function objectIn(value: unknown): SentObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as SentObject)
    : undefined;
}

type WithoutAbsent<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** The fields that have a value. */
function withoutAbsent<Fields extends object>(fields: Fields): WithoutAbsent<Fields> {
  // Not by Object.fromEntries, because this runs several times for every message.
  const present: WithoutAbsent<Fields> = {};
  for (const key of Object.keys(fields) as (keyof Fields)[]) {
    const value = fields[key];
    if (value !== undefined) present[key] = value as Exclude<Fields[keyof Fields], undefined>;
  }
  return present;
}
