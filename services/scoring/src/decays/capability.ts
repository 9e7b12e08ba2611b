// Decay as a tick: what is due is decided in bounded steps beside the events, and a change of an OU's decay rules finds out, lead by
// lead, when each is due.
import { tick, type CapabilityDecision, type OpenTick, type PartitionScope } from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import {
  outgoing,
  pause,
  type IncomingRecord,
  type OutgoingRecord,
  type RecordWriter,
} from '@lead-scoring/event-log';
import type { PublishedConfigurations } from '../configuration/published.js';
import { adjustedLead } from '../leads/fold-adjusted.js';
import type { LeadProjection } from '../leads/capability.js';
import { leadName, type LeadIdentity } from '../leads/lead-batch.js';
import type { OpenLeads } from '../leads/open-leads.js';
import type { Lead } from '../leads/state.js';
import { CurrentRules } from '../scores/current-rules.js';
import { withContributions, withLevelCrossings } from '../scores/score-events.js';
import type { LeadEvent } from '../scores/messages.js';
import type { CompiledRules } from '../scores/rule-model.js';
import { decideTicks } from './decide-ticks.js';

export interface DecayTiming {
  /** Milliseconds between two looks for leads that are due. */
  readonly lookEveryMs?: number | undefined;
  /** Milliseconds that a tick waits, so that events of before it are decided before it. */
  readonly settleMs?: number | undefined;
}

export interface DecayDependencies {
  readonly leads: LeadProjection;
  /** Called when a partition is opened. */
  readonly configurations: () => PublishedConfigurations;
  readonly writer: Pick<RecordWriter, 'write'>;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
  readonly timing?: DecayTiming | undefined;
}

export function decayTick({ leads, configurations, timing, ...dependencies }: DecayDependencies) {
  return tick({
    ...dependencies,
    ...timing,
    name: 'decay',
    commands: { ScheduleDecays: records.scheduleDecays, RunDecay: records.runDecay },
    events: {
      ScoreAdjusted: records.scoreAdjusted,
      LeadLevelChanged: records.leadLevelChanged,
      LeadContributed: records.leadContributed,
      DecaysScheduled: records.decaysScheduled,
    },
    // The leads store when they are due.
    collections: [],
    open: (scope) =>
      new OpenDecay(scope, scope.opened(leads), new CurrentRules(configurations()), dependencies.onError),
  });
}

/** Leads that one look into the index finds. The stored leads have to be level with the log for a look, which takes time. */
const maximumDueLeads = 2_500;
/** Leads of one command: with more, events wait longer for a batch and for its documents; with fewer, each lead costs more. */
const leadsPerCommand = { alone: 500, besideEvents: 100 };
/** Ticks of one lead in one command: more are left to the next. */
const maximumTicks = 100;
/** Milliseconds before a step that waits for the publication of a change is sent again. */
const publicationPauseMs = 50;
/** Decisions of one command: leads beyond them are left to the next. */
const maximumDecisions = 5_000;

class OpenDecay implements OpenTick {
  constructor(
    private readonly scope: Pick<PartitionScope, 'partition'>,
    private readonly leads: OpenLeads,
    private readonly rules: CurrentRules,
    private readonly onError: DecayDependencies['onError'],
  ) {}

  async due(asOf: string, { besideEvents }: { besideEvents: boolean }): Promise<OutgoingRecord[]> {
    const { partition } = this.scope;
    const atOnce = besideEvents ? leadsPerCommand.besideEvents : leadsPerCommand.alone;
    const found = await this.leads.due({ asOf, limit: maximumDueLeads });
    const commands: OutgoingRecord[] = [];
    for (let from = 0; from < found.length; from += atOnce) {
      const leads = found.slice(from, from + atOnce);
      const payload = { partition, as_of: asOf, leads };
      commands.push(outgoing(records.runDecay, { key: String(partition), partition, payload }));
    }
    return commands;
  }

  async decide(
    incoming: readonly IncomingRecord[],
    batch: readonly IncomingRecord[],
  ): Promise<CapabilityDecision> {
    const named = incoming.flatMap(leadsIn);
    const [rules, leads] = await Promise.all([
      this.rules.load(new Set([...named, ...incoming.flatMap(scheduledIn)].map(({ ou_id }) => ou_id))),
      this.leads.load(named),
    ]);
    const decision: OutgoingRecord[] = [];
    const commands: OutgoingRecord[] = [];
    const decided = this.leads.decidedIn(batch);
    for (const { type, payload, headers } of incoming) {
      const step =
        type === records.runDecay.type
          ? this.#run(payload as records.RunDecay, rules, { leads, decided })
          : await this.#schedule(payload as records.ScheduleDecays, headers.time, rules);
      decision.push(...step.events);
      commands.push(...step.commands);
    }
    return { outcome: 'decided', events: decision, commands };
  }

  #run(
    { as_of, leads: named }: records.RunDecay,
    rules: ReadonlyMap<string, CompiledRules>,
    { leads, decided }: { leads: ReadonlyMap<string, Lead | null>; decided: Map<string, Lead> },
  ): { events: OutgoingRecord[]; commands: OutgoingRecord[] } {
    const events: LeadEvent[] = [];
    const early = new Map<string, string[]>();
    for (const identity of named) {
      if (events.length >= maximumDecisions) break;
      const name = leadName(identity.ou_id, identity.lead_id);
      const lead = dueBy(as_of, decided.get(name) ?? leads.get(name));
      const own = rules.get(identity.ou_id);
      const moment = { upTo: as_of, decidedAt: as_of, maximum: maximumTicks };
      const ticks = lead && own && decideTicks(identity, lead, own, moment);
      // The entry of the index is wrong or older than the lead, or the command came before. Without a new entry, each look would
      // name the lead again.
      if (!ticks || ticks.events.length === 0) {
        early.set(identity.ou_id, [...(early.get(identity.ou_id) ?? []), identity.lead_id]);
        continue;
      }
      decided.set(name, ticks.events.reduce(adjustedLead, lead));
      for (const payload of ticks.events) events.push({ type: 'ScoreAdjusted', payload });
    }
    const run = withContributions(withLevelCrossings(events, rules), rules, { leads, decided });
    return {
      events: [
        ...run.events,
        ...[...early].map(([ou_id, only]) =>
          this.#scheduled({ ou_id, after: null, to: null, only }, rules.get(ou_id)),
        ),
      ],
      commands: run.commands,
    };
  }

  /**
   * One step of a walk over the leads of an OU. A step whose version was not published in time is passed over, with an error in
   * the log.
   */
  async #schedule(
    command: records.ScheduleDecays,
    sentAt: string,
    rules: ReadonlyMap<string, CompiledRules>,
  ): Promise<{ events: OutgoingRecord[]; commands: OutgoingRecord[] }> {
    const { ou_id, version, after, until } = command;
    const own = rules.get(ou_id);
    const known = own?.decays?.version ?? 0;
    // The change is committed, and not published yet: the leads would get the times of the rules of before.
    if (known < version) {
      if (until !== undefined && sentAt <= until) {
        await pause(publicationPauseMs);
        return { events: [], commands: [this.#step(command)] };
      }
      this.onError(
        new Error(
          `The decay rules of ${ou_id} are of version ${known}: version ${version}, by which its leads were to be scheduled, was not published in time. The next change of these rules schedules them.`,
        ),
      );
      return { events: [], commands: [] };
    }
    // A later change has a walk of its own.
    if (known > version) return { events: [], commands: [] };
    const found = await this.leads.idsAfter(ou_id, after, records.maximumDecayLeads);
    const last = found.length < records.maximumDecayLeads ? null : (found.at(-1) ?? null);
    return {
      events: [this.#scheduled({ ou_id, after, to: last }, own)],
      commands: last === null ? [] : [this.#step({ ...command, after: last })],
    };
  }

  #step(payload: records.ScheduleDecays): OutgoingRecord {
    const { partition } = this.scope;
    return outgoing(records.scheduleDecays, { key: String(partition), partition, payload });
  }

  #scheduled(
    range: Pick<records.DecaysScheduled, 'ou_id' | 'after' | 'to' | 'only'>,
    rules: CompiledRules | undefined,
  ): OutgoingRecord {
    const { partition } = this.scope;
    return outgoing(records.decaysScheduled, {
      key: String(partition),
      payload: {
        ...range,
        partition,
        configuration_version: rules?.version ?? 0,
        decays: [...(rules?.decays?.periods ?? [])],
      },
    });
  }
}

/** The lead, if it is due. */
function dueBy(asOf: string, lead: Lead | null | undefined): Lead | null {
  const dueAt = lead?.decay?.due_at;
  return lead && dueAt !== undefined && dueAt <= asOf ? lead : null;
}

function leadsIn({ type, payload }: IncomingRecord): readonly LeadIdentity[] {
  return type === records.runDecay.type ? (payload as records.RunDecay).leads : [];
}

function scheduledIn({ type, payload }: IncomingRecord): readonly { ou_id: string }[] {
  return type === records.scheduleDecays.type ? [payload as records.ScheduleDecays] : [];
}
