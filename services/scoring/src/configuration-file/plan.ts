// What a document comes to, section after section: the events that make the configuration equal to it, and the same as a person reads
// it. Pure.
import { nameBasedId, type records } from '@lead-scoring/contracts';
import {
  evolveConfiguration,
  type ConfigurationEvent,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import type { Refusal } from '../configuration/messages.js';
import { ChangeList } from './change-model.js';
import type { Stamp } from './rule-kinds-model.js';

export class Plan {
  readonly events: ConfigurationEvent[] = [];
  readonly changes: ChangeList;
  readonly file: records.ConfigurationFile;
  readonly stamp: Stamp;
  /** The configuration with the first planned events. */
  #folded: { events: number; configuration: ScoringConfiguration };

  constructor(
    readonly command: records.ApplyConfiguration,
    /** The configuration before the change. */
    readonly before: ScoringConfiguration,
  ) {
    this.file = command.configuration;
    this.#folded = { events: 0, configuration: before };
    this.stamp = { ou_id: command.ou_id, at: command.requested_at };
    this.changes = new ChangeList(this.file);
  }

  /** The configuration with all that is planned so far. */
  after(): ScoringConfiguration {
    for (const event of this.events.slice(this.#folded.events))
      this.#folded = {
        events: this.#folded.events + 1,
        configuration: evolveConfiguration(this.#folded.configuration, event),
      };
    return this.#folded.configuration;
  }

  /** The id of something new. The version differs after every change, so that no id is ever used again. */
  idOf(name: string): string {
    return nameBasedId(this.command.change_id, `${String(this.before.version)}:${name}`);
  }
}

/** Plans a section of the document; null: it is not refused. */
export type SectionPlanner = (plan: Plan) => Refusal | null;

/** A place in the document. */
export interface Place {
  /** The path of the part: `body.engagement_rulesets[0].rules[2]`. */
  path: string;
  /** The same in words: `engagement_rulesets, ruleset "Intent", rule 3 "Pricing"`. */
  words: string;
}

/**
 * The refusal of a part of the document: the words of the single request, with the place in front.
 * @param from the start of the paths that the single request has
 */
export function inPlace(refusal: Refusal, { path: to, words }: Place, from = 'body'): Refusal {
  return {
    ...refusal,
    message: `In ${words}: ${refusal.message}`,
    ...(refusal.errors && {
      errors: refusal.errors.map(({ path, message }) => ({ path: path.replace(from, () => to), message })),
    }),
  };
}

/** A name in a sentence. */
export function quoted(name: string): string {
  return `"${name}"`;
}

/** The refusal of the name of a ruleset that there is not. */
export function unknownRuleset(name: string): Refusal {
  return {
    outcome: 'rejected',
    code: 'ruleset_not_found',
    message: `No ruleset is named ${quoted(name)}, in the document or, where the document leaves rulesets out, in the organizational unit. Name one that there is.`,
    errors: [{ path: 'body.ruleset', message: 'is not a ruleset of this organizational unit' }],
  };
}
