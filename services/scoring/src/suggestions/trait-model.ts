// The traits of leads: what a lead did, or what its profile says, before its outcome, as far as a rule can give points for it. Pure.
import {
  comparableNumber,
  comparableText,
  eventTypeKey,
  type JsonObject,
  type JsonValue,
  type records,
} from '@lead-scoring/contracts';
import { profileOf, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { matchingRules } from '../condition-rules/rules-model.js';
import type { Lead } from '../leads/state.js';
import type { LeadCause } from '../scores/messages.js';
import { ruleMatches, type CompiledRules } from '../scores/rule-model.js';
import { isWithin, type ReplayedRange } from '../what-if/replay-model.js';

export type Trait = records.SuggestionTrait;
type Property = Extract<Trait, { event_type: string }>['property'];
type IngestedEvent = records.EventsIngested['events'][number];

/** A trait with a name: equal traits have one name. */
export interface NamedTrait {
  readonly name: string;
  readonly trait: Trait;
}

/** Gets to know leads and their traits. */
export interface TraitSink {
  /** There is such a lead. */
  meet(leadId: string): void;
  see(leadId: string, trait: NamedTrait): void;
  /** It was deleted. Events of the same id that follow are of a new lead. */
  forget(leadId: string): void;
}

/** Properties of one event that count, the first ones; of a profile, its fields. */
const maximumProperties = 50;
/** Characters of a value that can be a trait: longer texts are messages, and no two of them are alike. */
const maximumCharacters = 100;
/** Fields that name a person. */
const personal = new Set(['name', 'phone']);

/** Spellings that filters take for equal have one name. */
export function nameOf(trait: Trait): string {
  if ('rule_id' in trait) return `rule ${trait.rule_id}`;
  const type = 'event_type' in trait ? eventTypeKey(trait.event_type) : '';
  return JSON.stringify([type, ...(trait.property ? nameOfProperty(trait.property) : [])]);
}

function nameOfProperty({ field, value }: NonNullable<Property>): (string | number)[] {
  return [field, comparableNumber(value) ?? comparableText(value)];
}

function named(trait: Trait): NamedTrait {
  return { name: nameOf(trait), trait };
}

/** The traits that an event shows: the rules that match it, its type, and its type with each of its properties. */
export function eventTraits(rules: CompiledRules): (event: IngestedEvent) => NamedTrait[] {
  return ({ event_type, timestamp, metadata }) => [
    ...rules
      .of(event_type)
      .filter((rule) => ruleMatches(rule, timestamp, metadata))
      .map(({ rule }) => named({ rule_id: rule.id })),
    named({ event_type }),
    ...propertiesOf(metadata ?? {}).map((property) => named({ event_type, property })),
  ];
}

/** The traits of a lead's profile: the rules that match it, and each of its values. */
export function profileTraits({ profile }: CompiledRules): (lead: Lead) => NamedTrait[] {
  return ({ fields, overridden, aliases, profile: known }) => {
    const values = profileOf({
      fields,
      overridden,
      aliases,
      values: known?.values ?? [],
      overrides: known?.overrides,
    });
    const matching = profile ? matchingRules(profile, values) : [];
    return [
      ...matching.map(({ id }) => named({ rule_id: id })),
      ...propertiesOf(values)
        .filter(({ field }) => !personal.has(field))
        .map((property) => named({ property })),
    ];
  };
}

function propertiesOf(values: JsonObject): NonNullable<Property>[] {
  return Object.entries(values)
    .slice(0, maximumProperties)
    .flatMap(([field, value]) =>
      field === '' || field.length > 200
        ? []
        : scalarsIn(value).map((scalar): NonNullable<Property> => ({ field, value: scalar })),
    );
}

function scalarsIn(value: JsonValue): (string | number | boolean)[] {
  if (Array.isArray(value))
    return value.slice(0, 10).flatMap((one) => (Array.isArray(one) ? [] : scalarsIn(one)));
  if (value === null || typeof value === 'object') return [];
  return typeof value === 'string' && (value === '' || value.length > maximumCharacters) ? [] : [value];
}

/** The names of the traits that rules of a configuration are about already: a suggestion weighs those rules. */
export function coveredBy({ rules, profile }: ScoringConfiguration): Set<string> {
  const single = (
    filters: readonly { field: string; operator: string; value?: unknown }[],
  ): Property | null => {
    const [only] = filters;
    const isSingle = filters.length === 1 && only?.operator === 'equals';
    return isSingle ? { field: only.field, value: only.value as string } : null;
  };
  const ofEvents = [...rules.values()].flatMap(({ active, event_type, attribute_filters }) => {
    const property = single(attribute_filters);
    if (!active || (attribute_filters.length > 0 && !property)) return [];
    return [nameOf({ event_type, ...(property && { property }) })];
  });
  const ofProfiles = [...(profile?.rules.values() ?? [])].flatMap(({ active, conditions }) => {
    const property = single(conditions);
    return active && property ? [nameOf({ property })] : [];
  });
  return new Set([...ofEvents, ...ofProfiles]);
}

/** Tells a sink of what leads did in a range of time, before their outcomes. */
export class EventWalk {
  constructor(
    private readonly sink: TraitSink,
    private readonly traitsOf: (event: IngestedEvent) => NamedTrait[],
    private readonly bounds: {
      readonly range: ReplayedRange;
      /** When leads had the outcome. */
      readonly outcomeTimes: ReadonlyMap<string, string>;
    },
  ) {}

  take(causes: readonly LeadCause[]): void {
    const { range, outcomeTimes } = this.bounds;
    for (const { type, payload } of causes) {
      const { lead_id } = payload;
      if (type === 'LeadDeleted') {
        this.sink.forget(lead_id);
        continue;
      }
      // What is set for a lead shows in its profile.
      if (type === 'LeadMetadataPatched') continue;
      const end = outcomeTimes.get(lead_id);
      for (const event of payload.events) {
        if (!isWithin(event, range)) continue;
        this.sink.meet(lead_id);
        if (end !== undefined && event.timestamp >= end) continue;
        for (const trait of this.traitsOf(event)) this.sink.see(lead_id, trait);
      }
    }
  }
}
