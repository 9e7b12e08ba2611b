// Queries on channels and triggers, with the health of channels and the suppressions of triggers.
import { routes, type TriggerKind } from '@lead-scoring/contracts';
import { emptyConfiguration } from '@lead-scoring/scoring-domain';
import { bindQuery, ProblemError, type BoundQuery } from '@lead-scoring/service';
import { isOfKind, namesScoring, type Trigger } from '@lead-scoring/scoring-domain/triggers';
import {
  shownChannel,
  shownMilestone,
  shownSequence,
  shownSurge,
  type ChannelCondition,
  type Suppression,
  type TriggerCondition,
} from './answers-model.js';
import { emptyNotificationConfiguration, type NotificationConfiguration } from './state.js';
import type { ScoringReader } from '../levels/reader.js';
import type { ConfigurationReader } from './reader.js';

export interface ConfigurationQueriesDependencies {
  configurations: ConfigurationReader;
  scoring: Pick<ScoringReader, 'now'>;
  /** The condition of channels; a channel without an entry is active. */
  conditionsOf: (channelIds: readonly string[]) => Promise<Map<string, ChannelCondition>>;
  /** The suppressions of triggers by id. */
  suppressionsOf: (ouId: string, triggerIds: readonly string[]) => Promise<Map<string, Suppression>>;
}

type OfKind<Kind extends TriggerKind> = Extract<Trigger, { kind: Kind }>;
interface TriggerListQuery {
  page: number;
  limit: number;
  channel_id?: string | undefined;
}

export function configurationQueries(dependencies: ConfigurationQueriesDependencies): BoundQuery[] {
  const { configurations, conditionsOf } = dependencies;
  const triggers = new ShownTriggers(dependencies);
  return [
    bindQuery(routes.listChannels, async ({ context }) => {
      const { channels } = await loadOne(configurations, context.ouId);
      const conditions = await conditionsOf([...channels.keys()]);
      return [...channels.values()].map((channel) =>
        shownChannel(channel, conditions.get(channel.id) ?? { status: 'active' }),
      );
    }),
    bindQuery(routes.listTriggers, ({ query, context }) =>
      triggers.list(context.ouId, 'milestone', query, shownMilestone),
    ),
    bindQuery(routes.getTrigger, ({ params, context }) =>
      triggers.one(context.ouId, 'milestone', params.id, shownMilestone),
    ),
    bindQuery(routes.listSequences, ({ query, context }) =>
      triggers.list(context.ouId, 'sequence', query, shownSequence),
    ),
    bindQuery(routes.getSequence, ({ params, context }) =>
      triggers.one(context.ouId, 'sequence', params.id, shownSequence),
    ),
    bindQuery(routes.listSurgeTriggers, ({ query, context }) =>
      triggers.list(context.ouId, 'surge', query, shownSurge),
    ),
    bindQuery(routes.getSurgeTrigger, ({ params, context }) =>
      triggers.one(context.ouId, 'surge', params.id, shownSurge),
    ),
  ];
}

/** Reads the triggers of an OU for the routes of each kind. */
class ShownTriggers {
  constructor(
    private readonly dependencies: Pick<
      ConfigurationQueriesDependencies,
      'configurations' | 'scoring' | 'suppressionsOf'
    >,
  ) {}

  async list<Kind extends TriggerKind, Answer>(
    ouId: string,
    kind: Kind,
    { page, limit, channel_id }: TriggerListQuery,
    shown: (trigger: OfKind<Kind>, condition: TriggerCondition) => Answer,
  ) {
    const { triggers } = await loadOne(this.dependencies.configurations, ouId);
    const channelId = channel_id?.toLowerCase();
    const wanted = [...triggers.values()].filter(
      (trigger): trigger is OfKind<Kind> =>
        isOfKind(trigger, kind) && (channelId === undefined || trigger.channel_ids.includes(channelId)),
    );
    const listed = wanted.slice((page - 1) * limit, page * limit);
    const conditionOf = await this.#conditionsOf(ouId, listed);
    const data = listed.map((trigger) => shown(trigger, conditionOf(trigger)));
    return { data, total: wanted.length, page, limit };
  }

  async one<Kind extends TriggerKind, Answer>(
    ouId: string,
    kind: Kind,
    id: string,
    shown: (trigger: OfKind<Kind>, condition: TriggerCondition) => Answer,
  ): Promise<Answer> {
    const trigger = await findTrigger(this.dependencies.configurations, ouId, kind, id);
    const conditionOf = await this.#conditionsOf(ouId, [trigger]);
    return shown(trigger, conditionOf(trigger));
  }

  async #conditionsOf(
    ouId: string,
    triggers: readonly Trigger[],
  ): Promise<(trigger: Trigger) => TriggerCondition> {
    const { scoring, suppressionsOf } = this.dependencies;
    const [suppressions, scoringNow] = await Promise.all([
      suppressionsOf(
        ouId,
        triggers.map(({ id }) => id),
      ),
      triggers.some(namesScoring) ? scoring.now(ouId) : emptyConfiguration(ouId),
    ]);
    return ({ id }) => ({ suppressed: suppressions.get(id), scoring: scoringNow });
  }
}

/** Finds a trigger of the OU. @throws ProblemError 404 */
export async function findTrigger<Kind extends TriggerKind>(
  configurations: ConfigurationReader,
  ouId: string,
  kind: Kind,
  id: string,
): Promise<OfKind<Kind>> {
  const trigger = (await loadOne(configurations, ouId)).triggers.get(id.toLowerCase());
  if (!trigger || !isOfKind(trigger, kind))
    throw new ProblemError(
      404,
      'trigger_not_found',
      'No trigger of this kind has this id in this organizational unit.',
    );
  return trigger;
}

async function loadOne(
  configurations: ConfigurationReader,
  ouId: string,
): Promise<NotificationConfiguration> {
  return (await configurations.load([ouId])).get(ouId) ?? emptyNotificationConfiguration(ouId);
}
