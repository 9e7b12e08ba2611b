// Commands, events and rules for tests, with fixed values that a test can override.
import {
  accountIdOf,
  nameBasedId,
  type AccountKind,
  type AccountReference,
  type AttributeFilter,
  type JsonObject,
  type records,
} from '@lead-scoring/contracts';
import type { ConfigurationCommand } from '../configuration/messages.js';

export const ouId = '11111111-1111-4111-8111-111111111111';
export const otherOuId = '22222222-2222-4222-8222-222222222222';
export const at = '2026-01-01T12:00:00.000Z';

/** A stable id for a short name. */
export const idOf = (name: string): string => nameBasedId(ouId, `test:${name}`);

export const createRuleset = (
  name: string,
  more: Partial<records.CreateRuleset> = {},
): ConfigurationCommand => ({
  type: 'CreateRuleset',
  payload: {
    ou_id: ouId,
    ruleset_id: idOf(name),
    name,
    score_type: 'engagement',
    active: true,
    requested_at: at,
    ...more,
  },
});

export const updateRuleset = (name: string, more: Partial<records.UpdateRuleset>): ConfigurationCommand => ({
  type: 'UpdateRuleset',
  payload: { ou_id: ouId, ruleset_id: idOf(name), requested_at: at, ...more },
});

export const createRule = (
  name: string,
  more: Partial<records.CreateRule> & { filters?: AttributeFilter[] } = {},
): ConfigurationCommand => {
  const { filters, ...fields } = more;
  return {
    type: 'CreateRule',
    payload: {
      ou_id: ouId,
      rule_id: idOf(name),
      event_type: 'Page View',
      weight: 10,
      requested_at: at,
      ...(filters && { attribute_filters: filters }),
      ...fields,
    },
  };
};

export const updateRule = (name: string, changes: Partial<records.UpdateRule>): ConfigurationCommand => ({
  type: 'UpdateRule',
  payload: { ou_id: ouId, rule_id: idOf(name), requested_at: at, ...changes },
});

export const deleteRule = (name: string, more: Partial<records.DeleteRule> = {}): ConfigurationCommand => ({
  type: 'DeleteRule',
  payload: { ou_id: ouId, rule_id: idOf(name), requested_at: at, ...more },
});

export const deleteRuleset = (
  name: string,
  more: Partial<records.DeleteRuleset> = {},
): ConfigurationCommand => ({
  type: 'DeleteRuleset',
  payload: { ou_id: ouId, ruleset_id: idOf(name), requested_at: at, ...more },
});

export const setRulesActive = (
  names: string[],
  active?: boolean,
  more: Partial<records.SetRulesActive> = {},
): ConfigurationCommand => ({
  type: 'SetRulesActive',
  payload: {
    ou_id: ouId,
    rule_ids: names.map(idOf),
    ...(active !== undefined && { active }),
    requested_at: at,
    ...more,
  },
});

/** A profile rule of the ruleset "Fit". */
export const createProfileRule = (
  name: string,
  conditions: AttributeFilter[],
  more: Partial<records.CreateProfileRule> = {},
): ConfigurationCommand => ({
  type: 'CreateProfileRule',
  payload: {
    ou_id: ouId,
    rule_id: idOf(name),
    ruleset_id: idOf('Fit'),
    conditions,
    weight: 20,
    requested_at: at,
    ...more,
  },
});

export const setProfileRulesActive = (names: string[], active?: boolean): ConfigurationCommand => ({
  type: 'SetProfileRulesActive',
  payload: {
    ou_id: ouId,
    rule_ids: names.map(idOf),
    ...(active !== undefined && { active }),
    requested_at: at,
  },
});

export const addMapping = (
  name: string,
  field: string,
  source: string,
  transform?: records.AddProfileMapping['transform'],
): ConfigurationCommand => ({
  type: 'AddProfileMapping',
  payload: {
    ou_id: ouId,
    mapping_id: idOf(name),
    field,
    source,
    ...(transform && { transform }),
    requested_at: at,
  },
});

export const removeMapping = (name: string): ConfigurationCommand => ({
  type: 'RemoveProfileMapping',
  payload: { ou_id: ouId, mapping_id: idOf(name), requested_at: at },
});

/** A level of a request: `['Warm', 20, 49]`, and further fields. */
export type LevelBuilder = [
  name: string,
  min_score: number | null,
  max_score: number | null,
  more?: Partial<records.SetEngagementLevels['levels'][number]>,
];

export const setLevels = (
  levels: readonly LevelBuilder[],
  more: Partial<records.SetEngagementLevels> = {},
): Extract<ConfigurationCommand, { type: 'SetEngagementLevels' }> => ({
  type: 'SetEngagementLevels',
  payload: {
    ou_id: ouId,
    levels: levels.map(([name, min_score, max_score, fields]) => ({
      name,
      min_score,
      max_score,
      color: '#e8590c',
      ...fields,
    })),
    requested_at: at,
    ...more,
  },
});

export interface IngestedEvent {
  id?: string;
  event_type?: string;
  timestamp?: string;
  metadata?: JsonObject;
}

export function ingested(
  lead: string,
  events: IngestedEvent[],
  more: Partial<Omit<records.EventsIngested, 'events'>> = {},
): records.EventsIngested {
  return {
    ou_id: ouId,
    lead_id: idOf(lead),
    batch_id: idOf('batch'),
    source: 'ingest',
    fire_triggers: true,
    received_at: at,
    aliases: [{ alias_kind: 'email', alias: `${lead}@example.com` }],
    ...more,
    events: events.map(({ id, event_type, timestamp, metadata }, index) => ({
      id: id ?? idOf(`${lead} event ${String(index)}`),
      event_type: event_type ?? 'Page View',
      timestamp: timestamp ?? '2026-01-01T11:00:00.000Z',
      ...(metadata && { metadata }),
    })),
  };
}

/** Metadata is set for a lead, and no other. */
export function patched(
  lead: string,
  metadata: JsonObject,
  more: Partial<records.LeadMetadataPatched> = {},
): records.LeadMetadataPatched {
  return {
    ou_id: ouId,
    lead_id: idOf(lead),
    patch_id: idOf(`patch of ${lead}`),
    patch: metadata,
    metadata,
    fire_triggers: true,
    patched_at: at,
    ...more,
  };
}

export function deleted(lead: string, more: Partial<records.LeadDeleted> = {}): records.LeadDeleted {
  return {
    ou_id: ouId,
    lead_id: idOf(lead),
    deletion_id: idOf(`deletion of ${lead}`),
    deleted_by: idOf('credential'),
    deleted_at: at,
    ...more,
  };
}

export const resetScores = (lead: string, more: Partial<records.ResetScores> = {}): records.ResetScores => ({
  ou_id: ouId,
  lead_id: idOf(lead),
  reset_id: idOf(`reset of ${lead}`),
  requested_at: at,
  ...more,
});

/** An account rule of the ruleset "Companies". */
export const createAccountRule = (
  name: string,
  conditions: AttributeFilter[],
  more: Partial<records.CreateAccountRule> = {},
): ConfigurationCommand => ({
  type: 'CreateAccountRule',
  payload: {
    ou_id: ouId,
    rule_id: idOf(name),
    ruleset_id: idOf('Companies'),
    conditions,
    weight: 20,
    requested_at: at,
    ...more,
  },
});

export const setAccountRulesActive = (names: string[], active?: boolean): ConfigurationCommand => ({
  type: 'SetAccountRulesActive',
  payload: {
    ou_id: ouId,
    rule_ids: names.map(idOf),
    ...(active !== undefined && { active }),
    requested_at: at,
  },
});

export const setAccountLevels = (
  ...levels: Parameters<typeof setLevels>
): Extract<ConfigurationCommand, { type: 'SetAccountLevels' }> => ({
  ...setLevels(...levels),
  type: 'SetAccountLevels',
});

/** What an account is made of, by its domain or other key. */
export const accountReference = (
  account_key: string,
  account_kind: AccountKind = 'domain',
): AccountReference => ({
  account_id: accountIdOf(ouId, { account_kind, account_key }),
  account_kind,
  account_key,
});

export const mergeAccounts = (
  source: AccountReference,
  target: AccountReference,
  more: Partial<records.MergeAccounts> = {},
): ConfigurationCommand => ({
  type: 'MergeAccounts',
  payload: {
    ou_id: ouId,
    source,
    target,
    leads_reassigned: 0,
    deals_reassigned: 0,
    requested_at: at,
    ...more,
  },
});

export const setRollUp = (
  method: records.SetAccountRollUp['roll_up']['method'],
  leads?: number,
  more: Partial<records.SetAccountRollUp> = {},
): ConfigurationCommand => ({
  type: 'SetAccountRollUp',
  payload: {
    ou_id: ouId,
    roll_up: { method, ...(leads !== undefined && { leads }) },
    requested_at: at,
    ...more,
  },
});
