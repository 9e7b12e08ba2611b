// Profile scoring written a second time, for tests: plain and slow, from SPEC.md, API.md and the decision on profiles and not from the
// code. It imports nothing of the service.
import { noPoints, ReferenceConditions, scoreOf, type Points } from './reference-conditions.js';

type Value = string | number | (string | number)[];

/** A profile as conditions see it. */
export type ProfileFacts = Record<string, Value>;

/** A mapping as a person has set it. */
export interface ReferenceMapping {
  field: string;
  /** The value that it finds in an event's metadata; undefined: none. */
  read: (metadata: ReferenceMetadata) => Value | undefined;
}

export type ReferenceMetadata = Readonly<Record<string, unknown>>;

export interface ProfileEvent {
  /** The event's own time. */
  at: string;
  metadata: ReferenceMetadata;
  /** What ingest read of the lead's company. */
  company?: string;
}

interface Known<Content> {
  at: string;
  value: Content;
}

interface ProfiledLead {
  values: Map<string, Known<Value>>;
  company: Known<string> | null;
  points: Points;
}

/** The profiles of the leads of one organisational unit. */
export class ReferenceProfiles {
  readonly rules = new ReferenceConditions<ProfileFacts>();
  /** In the order in which they were added. */
  readonly mappings = new Map<string, ReferenceMapping>();
  readonly #leads = new Map<string, ProfiledLead>();

  /** Events of a lead that came together: one decision, with the mappings and rules in force now. */
  take(lead: string, events: readonly ProfileEvent[]): void {
    const known = this.#leads.get(lead) ?? newLead();
    this.#leads.set(lead, known);
    const fed = new Set([...this.mappings.values()].map(({ field }) => field));
    for (const field of [...known.values.keys()]) if (!fed.has(field)) known.values.delete(field);
    for (const { at, metadata, company } of events) {
      for (const field of fed) {
        const value = this.#valueOf(field, metadata);
        const before = known.values.get(field);
        if (value !== undefined && (!before || before.at <= at)) known.values.set(field, { at, value });
      }
      const before = known.company;
      if (company === undefined) continue;
      if (!before || before.at < at || (before.at === at && before.value < company))
        known.company = { at, value: company };
    }
    known.points = this.rules.due(this.factsOf(lead));
  }

  /** Of several mappings that feed one field the first that finds a value wins. */
  #valueOf(field: string, metadata: ReferenceMetadata): Value | undefined {
    for (const mapping of this.mappings.values()) {
      const value = mapping.field === field ? mapping.read(metadata) : undefined;
      if (value !== undefined) return value;
    }
    return undefined;
  }

  delete(lead: string): void {
    this.#leads.delete(lead);
  }

  /** What is known of every lead, and in its place what mappings found. */
  factsOf(lead: string): ProfileFacts {
    const { values = new Map<string, Known<Value>>(), company = null } = this.#leads.get(lead) ?? {};
    const facts: ProfileFacts = { email_domain: 'example.com' };
    if (company) facts['company'] = company.value;
    for (const [field, { value }] of values) facts[field] = value;
    return facts;
  }

  /** The points that the lead has since its last event. */
  pointsOf(lead: string): Points {
    return this.#leads.get(lead)?.points ?? noPoints();
  }

  scoreOf(lead: string): number {
    return scoreOf(this.pointsOf(lead));
  }
}

function newLead(): ProfiledLead {
  return { values: new Map(), company: null, points: noPoints() };
}
