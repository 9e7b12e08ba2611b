// Stands in for ingest where scoring asks it: a query port with touches that a test sets.
import { routeDeclarations } from '@lead-scoring/contracts';
import { bindQuery, createLogger, createQueryServer, problem, QueryPort } from '@lead-scoring/service';
import type { Touch } from '../attribution/credit-model.js';

export interface IngestStandIn {
  /** What scoring asks through. */
  port: QueryPort;
  /** The touches that answers choose from, by OU. */
  touches: Map<string, Touch[]>;
  /** Answers 500 while it is set. */
  fails: boolean;
  stop: () => Promise<void>;
}

const internalSecret = 'a secret between scoring and its stand-in';

export async function startIngestStandIn(): Promise<IngestStandIn> {
  const state = { touches: new Map<string, Touch[]>(), fails: false };
  const answer = bindQuery(routeDeclarations.listTouches, ({ body, context }) => {
    if (state.fails) throw problem('internal_error', 'The test wants it.');
    const ofLeads = (state.touches.get(context.ouId) ?? []).filter(({ lead_id }) =>
      body.leads.includes(lead_id),
    );
    const isComplete = ofLeads.length <= body.maximum_events;
    return Promise.resolve({
      touches: isComplete ? ofLeads.filter(({ at }) => at < body.before) : [],
      events: ofLeads.length,
      complete: isComplete,
    });
  });
  const server = await createQueryServer({
    host: '127.0.0.1',
    port: 0,
    routes: [answer],
    healthChecks: {},
    internalSecret,
    logger: createLogger({ name: 'ingest stand-in', level: 'silent' }),
    checkAnswers: true,
  }).start();
  const port = new QueryPort({
    url: `http://127.0.0.1:${String(server.value.port)}`,
    internalSecret,
    timeoutMs: 5_000,
  });
  return Object.assign(state, {
    port,
    stop: async () => {
      await port.close();
      await server.stop();
    },
  });
}
