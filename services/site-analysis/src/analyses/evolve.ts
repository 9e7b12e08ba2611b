// Folds the events of an analysis. Pure. Each event contains the complete state after it, so that the state before does not matter.
import type { AnalysisEvent } from './messages.js';
import type { Analysis } from './state.js';

export function evolveAnalysis(event: AnalysisEvent): Analysis {
  const { ou_id, analysis_id, url, requested_at } = event.payload;
  const requested = { ou_id, analysis_id, url, requested_at };
  switch (event.type) {
    case 'SiteAnalysisRequested':
      return { status: 'running', ...requested, caller: event.caller };
    case 'SiteAnalyzed':
      return { status: 'analyzed', ...requested, at: event.payload.at, result: event.payload.result };
    case 'SiteAnalysisFailed': {
      const { at, code, message } = event.payload;
      return { status: 'failed', ...requested, at, code, message };
    }
  }
}
