// What attribution needs of an event: when it happened, its type, its campaign and its path. Pure.
import { touchLimits, type JsonObject, type JsonValue, type records } from '@lead-scoring/contracts';

type RecordedEvent = records.EventsIngested['events'][number];

export interface Touch {
  id: string;
  at: string;
  event_type: string;
  /** Absent where the event names none. */
  campaign?: string;
  path?: string;
}

/** null for an event that carries a deal: it is a record of the deal, and nothing that led to it. */
export function touchOf({ id, timestamp: at, event_type, metadata = {} }: RecordedEvent): Touch | null {
  if (metadata.deal !== undefined && metadata.deal !== null) return null;
  const campaign = campaignIn(metadata);
  const path = pathIn(metadata);
  return {
    id,
    at,
    event_type,
    ...(campaign !== undefined && { campaign }),
    ...(path !== undefined && { path }),
  };
}

/** `utm_campaign`, else `campaign`: a text, or an object with its `name`, as trackers send it. */
function campaignIn({ utm_campaign, campaign }: JsonObject): string | undefined {
  const named = isObject(campaign) ? campaign.name : campaign;
  return textOf(utm_campaign, touchLimits.campaign) ?? textOf(named, touchLimits.campaign);
}

/** `path` without a query or fragment, else the path of `url`. */
function pathIn({ path, url }: JsonObject): string | undefined {
  if (typeof path === 'string') {
    const end = path.search(/[?#]/);
    const shown = textOf(end === -1 ? path : path.slice(0, end), touchLimits.path);
    if (shown !== undefined) return shown;
  }
  const parsed = typeof url === 'string' ? URL.parse(url) : null;
  return parsed && /^https?:$/.test(parsed.protocol) ? textOf(parsed.pathname, touchLimits.path) : undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Campaigns are written as numbers too. */
function textOf(value: JsonValue | undefined, maximum: number): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).trim().slice(0, maximum).toWellFormed();
  return text === '' ? undefined : text;
}
