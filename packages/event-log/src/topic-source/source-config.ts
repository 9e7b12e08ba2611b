// The topic of another cluster that is read, and how errors name the settings of that cluster.
import type { ServerAccess } from '@lead-scoring/contracts';
import { EventLogUnavailable } from '../errors.js';
import { unavailable } from '../kafka/access-errors.js';

export interface SourceAccess {
  clientId: string;
  access: ServerAccess;
  /** What the names of the settings in `access` begin with, such as `SOURCE_`: errors name the setting to change. */
  settingPrefix: string;
}

export interface TopicSourceConfig extends SourceAccess {
  brokers: string[];
  topic: string;
  groupId: string;
  /** Where a partition begins for which the group has committed no offset. */
  startAt: 'earliest' | 'latest';
}

/** An EventLogUnavailable that names the setting of the source to change, when it is known. */
export function sourceUnavailable(
  message: string,
  error: unknown,
  { access, brokers, settingPrefix }: SourceAccess & { brokers: readonly string[] },
): EventLogUnavailable {
  const found = unavailable(message, error, { access, brokers });
  return new EventLogUnavailable(withPrefix(found.message, settingPrefix), error, {
    isAccessRefused: found.isAccessRefused,
  });
}

/** The text with the names of settings as the source has them. */
export function withPrefix(text: string, prefix: string): string {
  return text.replaceAll(/\b(?=(?:KAFKA|SCHEMA_REGISTRY)_[A-Z])/g, prefix);
}
