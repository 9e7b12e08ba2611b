// The deals that the events of a batch name: the commands to the deals, and what the leads remember.
import { describe, expect, test } from '@jest/globals';
import { dealKeyOf, records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import { decideLeads } from '../scores/decide.js';
import type { CausedEvent, LeadCause } from '../scores/messages.js';
import { causedEvents } from '../testing/caused-events.js';
import { deleted, idOf, ingested, ouId } from '../testing/builders.js';
import { keyOf, naming } from '../testing/deal-builders.js';
import { viewRules } from '../testing/view-rules.js';
import { withDeals } from './decide-batch.js';
import { withIgnored, type Ignored } from './ignored.js';
import type { DealCommand } from './messages.js';

/** Decides batches and folds them, like a partition. */
class Partition {
  readonly leads = new Map<string, Lead>();
  readonly commands: DealCommand[] = [];
  readonly ignored: records.DealsIgnored[] = [];
  /** Of leads that were not deleted since. */
  listed: readonly Ignored[] = [];
  #offset = 0;
  #folded = 0;

  take(
    happened: readonly (records.EventsIngested | records.LeadDeleted)[],
    sizes: readonly number[] = [],
  ): void {
    const causes = happened.map((payload): LeadCause => {
      this.#offset += 1;
      const source = { offset: this.#offset };
      return 'events' in payload
        ? { type: 'EventsIngested', payload, source }
        : { type: 'LeadDeleted', payload, source };
    });
    for (const size of [...sizes, causes.length]) this.#batch(causes.splice(0, size));
  }

  #batch(causes: readonly LeadCause[]): void {
    const leadBefore = (_: string, leadId: string) => this.leads.get(leadId) ?? null;
    const batch = withDeals(decideLeads(causes, leadBefore, viewRules), causes, leadBefore);
    if (!batch) throw new Error('the batch is too large');
    for (const { payload } of batch.commands.filter(({ type }) => type === 'RecordDeal'))
      expect(records.recordDeal.schema.safeParse(payload).error).toBeUndefined();
    this.commands.push(...batch.commands);
    this.ignored.push(...batch.ignored);
    for (const event of causedEvents(batch.decided)) this.#fold(event);
    for (const payload of batch.ignored)
      this.listed = withIgnored(this.listed, { type: 'DealsIgnored', payload });
  }

  #fold({ type, payload }: CausedEvent): void {
    const { lead_id } = payload;
    if (type === 'LeadRemoved') {
      this.leads.delete(lead_id);
      this.listed = withIgnored(this.listed, { type, payload });
    } else {
      expect(records.leadScored.schema.safeParse(payload).error).toBeUndefined();
      this.#folded += 1;
      this.leads.set(lead_id, foldLead(this.leads.get(lead_id) ?? null, payload, this.#folded));
    }
  }

  deals(lead: string): readonly string[] {
    return this.leads.get(idOf(lead))?.deals ?? [];
  }
}

const living = (...happened: (records.EventsIngested | records.LeadDeleted)[]) => {
  const partition = new Partition();
  for (const one of happened) partition.take([one]);
  return partition;
};

describe('a lead remembers the deals that its events named', () => {
  test('each once, and the deal learns of the lead', () => {
    const partition = living(
      naming('ada', [{ id: 'D-1', stage: 'open' }, { id: 'D-2' }]),
      naming('ada', [{ id: 'D-1', stage: 'won' }]),
    );
    expect(partition.deals('ada')).toEqual([keyOf('D-1'), keyOf('D-2')]);
    expect(partition.commands.map(({ payload }) => payload)).toMatchObject([
      { deal_key: keyOf('D-1'), deal_id: 'D-1', lead_id: idOf('ada'), changes: [{ value: 'open' }] },
      { deal_key: keyOf('D-2'), changes: [] },
      { deal_key: keyOf('D-1'), changes: [{ value: 'won' }] },
    ]);
  });

  test('at most 200; further deals are deals without the lead', () => {
    const many = Array.from({ length: 201 }, (_, index) => ({ id: index }));
    const partition = living(naming('ada', many), naming('ada', [{ id: 5 }, { id: 200 }]));
    expect(partition.deals('ada')).toHaveLength(200);
    expect(
      partition.commands.slice(-3).map(({ type, payload }) => type === 'RecordDeal' && payload.lead_id),
    ).toEqual([undefined, idOf('ada'), undefined]);
  });

  test('and tells each of them when it is deleted; a later lead of its alias has none', () => {
    const partition = living(
      naming('ada', [{ id: 'D-1' }, { id: 'D-2' }]),
      deleted('ada'),
      naming('ada', [{ id: 'D-1' }]),
    );
    expect(partition.commands.map(({ type, payload }) => [type, payload.deal_key])).toEqual([
      ['RecordDeal', keyOf('D-1')],
      ['RecordDeal', keyOf('D-2')],
      ['ForgetDealLead', keyOf('D-1')],
      ['ForgetDealLead', keyOf('D-2')],
      ['RecordDeal', keyOf('D-1')],
    ]);
    expect(partition.deals('ada')).toEqual([keyOf('D-1')]);
  });
});

test('what is no deal is recorded once for each record of events, and its events count', () => {
  const partition = living(naming('ada', ['spring sale', { id: 'D-1' }, { stage: 'won' }]));
  expect(partition.ignored).toMatchObject([
    { lead_id: idOf('ada'), count: 2, deals: [{ path: 'metadata.deal' }, { path: 'metadata.deal.id' }] },
  ]);
  expect(partition.leads.get(idOf('ada'))).toMatchObject({ event_count: 3, score: 30 });
  expect(partition.commands).toHaveLength(1);
});

test('what a lead said that was deleted in the same batch is not recorded as ignored; what it says later is', () => {
  const partition = new Partition();
  const [said, later] = ['spring sale', 'autumn sale'].map((deal) => naming('ada', [deal]));
  if (!said || !later) throw new Error('there are two');
  partition.take([said, naming('bob', ['no deal']), deleted('ada'), later]);
  expect(partition.listed.map(({ lead_id, event_id }) => [lead_id, event_id])).toEqual([
    [idOf('bob'), expect.any(String)],
    [idOf('ada'), later.events[0]?.id],
  ]);
});

test('one id names different deals in different OUs', () => {
  expect(dealKeyOf(ouId, 'D-1')).not.toBe(dealKeyOf(idOf('other OU'), 'D-1'));
});

test('events without deals come to what they came to', () => {
  const causes: LeadCause[] = [
    { type: 'EventsIngested', payload: ingested('ada', [{}]), source: { offset: 1 } },
  ];
  const decided = decideLeads(causes, () => null, viewRules);
  const batch = withDeals(decided, causes, () => null);
  expect(batch?.decided).toBe(decided);
  expect(batch).toMatchObject({ commands: [], ignored: [] });
});

test('a batch with very many deals is divided; one record alone never is', () => {
  const causes = [1, 2].map((offset): LeadCause => ({
    type: 'EventsIngested',
    payload: naming('ada', [{ id: 'D-1' }, { id: 'D-2' }]),
    source: { offset },
  }));
  const decided = decideLeads(causes, () => null, viewRules);
  expect(withDeals(decided, causes, () => null, 3)).toBeNull();
  expect(withDeals(decided.slice(0, 1), causes.slice(0, 1), () => null, 1)?.commands).toHaveLength(2);
});

test('any division into batches comes to the same commands and the same leads', () => {
  const found = fc.oneof(
    fc.constantFrom('D-1', 'D-2', 'D-3').map((id) => ({ id })),
    fc.constant('no deal'),
  );
  const happened = fc.array(
    fc.oneof(
      fc
        .record({
          lead: fc.constantFrom('ada', 'bob'),
          deals: fc.array(found, { minLength: 1, maxLength: 3 }),
        })
        .map(({ lead, deals }) => naming(lead, deals)),
      fc.constantFrom('ada', 'bob').map((lead) => deleted(lead)),
      fc.constantFrom('ada', 'bob').map((lead) => ingested(lead, [{}])),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(happened, fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }), (all, sizes) => {
      const [one, other] = [new Partition(), new Partition()];
      one.take(all);
      other.take(all, sizes);
      expect(other.commands).toEqual(one.commands);
      expect(other.listed).toEqual(one.listed);
      for (const lead of ['ada', 'bob']) expect(other.deals(lead)).toEqual(one.deals(lead));
    }),
  );
});
