// How the states of leads follow from firing's events.
import {
  evolveLead,
  type FiringEvent,
  initialLeadState,
  type LeadState,
} from '@lead-scoring/scoring-domain/triggers';
import type { SubjectFold } from './firing-fold.js';

export const leadFold: SubjectFold<FiringEvent, LeadState> = {
  initial: ({ ou_id, lead_id }) => initialLeadState(ou_id, lead_id),
  evolve: evolveLead,
};
