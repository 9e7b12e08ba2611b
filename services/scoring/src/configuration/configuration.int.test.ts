// The configuration's folds on a real database: any cut of the log into batches, with a kill at any write, stores and publishes the
// same configurations and the same changes.
import { expect, test } from '@jest/globals';
import { openServicePartition } from '@lead-scoring/capability';
import type { FoldedRecord } from '@lead-scoring/event-log';
import {
  configurationRecords,
  emptyConfiguration,
  evolveConfiguration,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import {
  anyStep,
  foldedInSteps,
  foldedRecord,
  oneByOne,
  type FoldStep,
} from '@lead-scoring/testing/fold-laws';
import fc from 'fast-check';
import { configurationChanges } from '../configuration-changes/documents.js';
import { ruleChanges } from '../rule-history/documents.js';
import {
  createRule,
  createRuleset,
  deleteRule,
  otherOuId,
  setLevels,
  setRulesActive,
  updateRule,
} from '../testing/builders.js';
import { serviceOn } from '../testing/rig.js';
import { decideConfiguration } from './decide.js';
import { configurations, publishedConfigurations } from './documents.js';
import type { ConfigurationCommand } from './messages.js';

const collections = [configurations, publishedConfigurations, configurationChanges, ruleChanges];

/** The records of the decisions on these commands. */
function logOf(commands: readonly ConfigurationCommand[]): FoldedRecord[] {
  const states = new Map<string, ScoringConfiguration>();
  const events = commands.flatMap((command) => {
    const { ou_id } = command.payload;
    const before = states.get(ou_id) ?? emptyConfiguration(ou_id);
    const decision = decideConfiguration(command, before);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    states.set(ou_id, decision.events.reduce(evolveConfiguration, before));
    return decision.events;
  });
  // Offsets have gaps: between the records of two transactions there is a commit marker.
  return events.map(({ type, payload }, index) =>
    foldedRecord(configurationRecords[type], payload, index * 2),
  );
}

const log = logOf([
  createRuleset('Intent'),
  createRule('other', { ou_id: otherOuId }),
  createRule('view'),
  setRulesActive(['view'], false),
  setLevels([['Hot', 50, null]], { ou_id: otherOuId }),
  setRulesActive(['view'], true),
  updateRule('view', { label: 'Views', weight: 3 }),
  deleteRule('view'),
]);

const folded = (steps: FoldStep[]) =>
  foldedInSteps({
    collections,
    log,
    steps,
    open: (readModel) => openServicePartition(serviceOn(readModel), readModel, 0),
  });

test('any cut of the log into batches, killed at any write, gives the same documents as one record after the other', async () => {
  const documents = await folded(oneByOne(log));
  const versions = (of: string) =>
    documents[of]?.map((document) => (document as { version: number }).version);
  expect(versions('configurations')).toEqual([7, 3]);
  expect(versions('published_configurations')).toEqual([7, 3]);
  expect(documents.configuration_changes).toHaveLength(log.length);
  // `other` once; `view` created, switched off and on, changed and deleted.
  expect(documents.rule_changes).toHaveLength(1 + 5);
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep(4, 6), { minLength: 3, maxLength: 8 }), async (steps) => {
      expect(await folded(steps)).toEqual(documents);
    }),
    { numRuns: 15 },
  );
}, 180_000);

test('a configuration whose write was killed before its publication is published when the log is folded again', async () => {
  const documents = await folded(oneByOne(log));
  for (let killedAfter = 0; killedAfter <= 8; killedAfter += 1)
    expect(await folded([{ size: log.length, killedAfter, isStored: false }])).toEqual(documents);
}, 180_000);
