// Firings in full: each draft with what the explanation of the lead's score says at that moment.
import { withLeadFields, type LeadFields, type NotificationDriver } from '@lead-scoring/contracts';
import { nameOf, type LeadAccount } from '@lead-scoring/explanations';
import { driversOf, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { AccountsOfBatch, SeenLead } from './accounts.js';
import type { Explanations } from '../explanations/reader.js';
import type { LeadRecord } from './lead-records.js';
import type { FiredDraft, FiredEvent } from './messages.js';
import { describeFiring, type Description, type LeadDetails } from './notification-model.js';

/** A firing that is decided and not described yet. */
export interface PendingFiring {
  readonly draft: FiredDraft;
  /** The record that made the trigger fire. */
  readonly leadRecord: LeadRecord;
  /** The lead as of that record. */
  readonly seen: SeenLead | undefined;
  /** Scoring's explanation is known to be of this lead, not of a deleted one with the same id. */
  readonly isExplained: boolean;
}

export interface DescribedFiring {
  readonly event: FiredEvent;
  readonly lead_seen_in: Description['seen_in'];
}

/** In the order of the firings. */
export async function describeFirings(
  firings: readonly PendingFiring[],
  accounts: AccountsOfBatch,
  explanations: Pick<Explanations, 'configurations'>,
): Promise<DescribedFiring[]> {
  const accountOf = await accountsOf(firings, accounts);
  const configurations = await explanations.configurations(versionsIn(accountOf.values()));
  return firings.map(({ draft, leadRecord }) => {
    const account = accountOf.get(leadRecord) ?? null;
    const description = describe(leadRecord, account, configurations.get(leadRecord.ou_id));
    return { event: describeFiring(draft, description), lead_seen_in: description.seen_in };
  });
}

/** One look-up for each record, however many triggers it made fire. */
async function accountsOf(
  firings: readonly PendingFiring[],
  accounts: AccountsOfBatch,
): Promise<ReadonlyMap<LeadRecord, LeadAccount | null>> {
  const byRecord = new Map(firings.map((firing) => [firing.leadRecord, firing]));
  const explained = [...byRecord.values()].filter(({ isExplained }) => isExplained);
  const found = await accounts.of(explained.map(({ leadRecord, seen }) => ({ ...leadRecord, seen })));
  return new Map(explained.map(({ leadRecord }, index) => [leadRecord, found[index] ?? null]));
}

/** By OU, the newest version of scoring's configuration that one of the accounts was scored with. */
function versionsIn(accounts: Iterable<LeadAccount | null>): ReadonlyMap<string, number> {
  const versions = new Map<string, number>();
  for (const account of accounts)
    if (account) {
      const { ou_id, configuration_version } = account;
      versions.set(ou_id, Math.max(configuration_version, versions.get(ou_id) ?? 0));
    }
  return versions;
}

/** @param configuration scoring's, as far as it is known by now: it names rules and levels */
function describe(
  leadRecord: LeadRecord,
  account: LeadAccount | null,
  configuration: ScoringConfiguration | undefined,
): Description {
  const { aliases, source } = leadRecord;
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
    ...valuesOf(account.given),
    aliases,
    score: account.score,
    top_drivers: driversOf(account.contributions, configuration).map(driver),
    levels: configuration.levels,
    // An ingested event may be decided on before scoring knows its lead, or after scoring knew another lead with this id.
    seen_in: {
      topic: 'scoring.events',
      offset: source.topic === 'scoring.events' ? source.offset : account.offset,
    },
  };
}

/** For a lead without an account: what the record itself says of it. */
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

const maximumLabelLength = 200;

function driver(contribution: ReturnType<typeof driversOf>[number]): NotificationDriver {
  const { rule_id, event_type, count, weight, total, label, filter_label } = contribution;
  return {
    rule_id,
    event_type,
    count,
    weight,
    total,
    ...(filter_label !== undefined && { filter_label: shortened(filter_label) }),
    ...(label !== undefined && { label: shortened(label) }),
  };
}

function shortened(text: string): string {
  return text.length <= maximumLabelLength
    ? text
    : `${text.slice(0, maximumLabelLength - 1).toWellFormed()}…`;
}
