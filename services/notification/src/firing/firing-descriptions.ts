// Completes drafts of firings with the lead's name, fields, level and top drivers as of the record that made the trigger fire.
import {
  shownFields,
  withLeadFields,
  type LeadFields,
  type LeadScoreType,
  type NotificationDriver,
} from '@lead-scoring/contracts';
import { nameOf, type LeadAccount } from '@lead-scoring/explanations';
import {
  dealDriversOf,
  driversOf,
  givenForDeals,
  levelsOfScore,
  profileDriversOf,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import type { FiredDraft, FiredEvent } from '@lead-scoring/scoring-domain/triggers';
import type { BatchAccounts, SeenLead } from './accounts.js';
import type { Explanations } from '../explanations/reader.js';
import type { LeadRecord } from './lead-records.js';
import { describeFiring, type Description, type LeadDetails } from './notification-model.js';

/** A firing that is decided and not yet described. */
export interface PendingFiring {
  readonly draft: FiredDraft;
  /** The record that made the trigger fire. */
  readonly leadRecord: LeadRecord;
  /** The lead as of that record. */
  readonly seen: SeenLead | undefined;
  /** The explanation is of this lead and not of a deleted lead with the same id. */
  readonly isExplained: boolean;
}

export interface DescribedFiring {
  readonly event: FiredEvent;
  readonly lead_seen_in: Description['seen_in'];
}

/** Describes firings; the result is in their order. */
export async function describeFirings(
  firings: readonly PendingFiring[],
  accounts: BatchAccounts,
  explanations: Pick<Explanations, 'configurations'>,
): Promise<DescribedFiring[]> {
  const accountOf = await accountsOf(firings, accounts);
  const configurations = await explanations.configurations(versionsIn(accountOf.values()));
  return firings.map(({ draft, leadRecord }) => {
    const account = accountOf.get(leadRecord) ?? null;
    const description = describe(
      { leadRecord, account, scoreType: watchedScoreOf(draft) },
      configurations.get(leadRecord.ou_id),
    );
    return { event: describeFiring(draft, description), lead_seen_in: description.seen_in };
  });
}

const noAliases: Description['aliases'] = [];

/** Sequences show the engagement score, and surges are of its points. */
function watchedScoreOf(draft: FiredDraft): LeadScoreType {
  return draft.type === 'MilestoneFired' ? draft.payload.score_type : 'engagement';
}

/** Looks up one account per record, also where the record made several triggers fire. */
async function accountsOf(
  firings: readonly PendingFiring[],
  accounts: BatchAccounts,
): Promise<ReadonlyMap<LeadRecord, LeadAccount | null>> {
  const byRecord = new Map(firings.map((firing) => [firing.leadRecord, firing]));
  const explained = [...byRecord.values()].filter(({ isExplained }) => isExplained);
  const found = await accounts.of(explained.map(({ leadRecord, seen }) => ({ ...leadRecord, seen })));
  return new Map(explained.map(({ leadRecord }, index) => [leadRecord, found[index] ?? null]));
}

/** The newest version of scoring's configuration in the accounts, by OU. */
function versionsIn(accounts: Iterable<LeadAccount | null>): ReadonlyMap<string, number> {
  const versions = new Map<string, number>();
  for (const account of accounts)
    if (account) {
      const { ou_id, configuration_version } = account;
      versions.set(ou_id, Math.max(configuration_version, versions.get(ou_id) ?? 0));
    }
  return versions;
}

interface DescribedLead {
  readonly leadRecord: LeadRecord;
  readonly account: LeadAccount | null;
  /** The score that the trigger watches: drivers and level are of it. */
  readonly scoreType: LeadScoreType;
}

/** @param configuration scoring's newest known configuration of the OU: has the names of rules and levels */
function describe(
  { leadRecord, account, scoreType }: DescribedLead,
  configuration: ScoringConfiguration | undefined,
): Description {
  const { source } = leadRecord;
  // A decision that no event caused names no aliases.
  const aliases =
    leadRecord.aliases.length > 0 ? leadRecord.aliases : (account?.activity.aliases ?? noAliases);
  if (!account || !configuration)
    return {
      ...fieldsInRecord(leadRecord),
      aliases,
      score: 0,
      top_drivers: [],
      levels: [],
      seen_in: { topic: source.topic, offset: source.offset },
    };
  return {
    name: nameOf(account),
    ...valuesOf(shownFields(account.given, account.overrides)),
    aliases,
    score: account.score,
    top_drivers: driversOfScore(account, configuration, scoreType).map(driver),
    levels: levelsOfScore(configuration, scoreType),
    // An ingested event's own offset says nothing here: scoring may not know its lead yet, or may still know a deleted lead
    // with the same id.
    seen_in: {
      topic: 'scoring.events',
      offset: source.topic === 'scoring.events' ? source.offset : account.offset,
    },
  };
}

/** Name and fields as in the record itself, for a lead without an account. */
function fieldsInRecord({ fields, aliases, lead_id }: LeadRecord): Pick<Description, 'name'> & LeadDetails {
  const given = withLeadFields({}, fields ?? []);
  return { name: given.name?.value ?? aliases[0]?.alias ?? lead_id, ...valuesOf(given) };
}

function valuesOf({ company, title, owner }: LeadFields): LeadDetails {
  return {
    ...(company && { company: company.value }),
    ...(title && { title: title.value }),
    ...(owner && { owner: owner.value }),
  };
}

function driversOfScore(
  { contributions, profile, deal }: LeadAccount,
  configuration: ScoringConfiguration,
  scoreType: LeadScoreType,
): ReturnType<typeof driversOf> {
  switch (scoreType) {
    case 'engagement':
      return driversOf(contributions, configuration);
    case 'profile':
      return profileDriversOf(profile?.given ?? [], configuration);
    case 'deal':
      return dealDriversOf(deal ? givenForDeals(deal.points) : [], configuration);
  }
}

const maximumLabelLength = 200;

function driver(contribution: ReturnType<typeof driversOf>[number]): NotificationDriver {
  const { rule_id, event_type, count, weight, total, label, filter_label } = contribution;
  const { counted, counted_total, limits } = contribution;
  return {
    rule_id,
    event_type,
    count,
    weight,
    total,
    ...(filter_label !== undefined && { filter_label: shortened(filter_label) }),
    ...(label !== undefined && { label: shortened(label) }),
    ...(counted !== undefined && { counted }),
    ...(counted_total !== undefined && { counted_total }),
    ...(limits !== undefined && { limits: shortened(limits) }),
  };
}

function shortened(text: string): string {
  return text.length <= maximumLabelLength
    ? text
    : `${text.slice(0, maximumLabelLength - 1).toWellFormed()}…`;
}
