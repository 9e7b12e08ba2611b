// What a trigger remembers of a lead or an account, and when that keeps it silent. Pure.
import type { Trigger } from './trigger.js';
import { noMemory, type TriggerMemory } from './lead-state.js';

/** Number of firings in a memory: as many as the flood limit counts. */
export const rememberedFirings = 20;

/** A trigger that fires for one lead or account more often than `firings` within `windowSeconds` is silent for `silenceSeconds`. */
export const flood = { firings: rememberedFirings, windowSeconds: 600, silenceSeconds: 3_600 };

/** Tolerated difference between the clocks of processes, in milliseconds. */
const clockToleranceMs = 60_000;

/** The memory since the trigger's current definition: an older memory does not count. */
export function memorySince({ since }: Trigger, memory: TriggerMemory | undefined): TriggerMemory {
  if (!memory) return noMemory;
  const { fired, disarmed, suppressed } = memory;
  return {
    fired: fired.filter(({ configuration_version }) => configuration_version >= since),
    disarmed: disarmed !== null && disarmed >= since ? disarmed : null,
    suppressed: suppressed && suppressed.configuration_version >= since ? suppressed : null,
  };
}

/** @param now the record's time, in milliseconds since 1970 */
export function isSilent(trigger: Trigger, { fired, suppressed }: TriggerMemory, now: number): boolean {
  // A trigger does not fire for records from before its creation, which a service with a backlog still reads.
  if (now < Date.parse(trigger.created_at) - clockToleranceMs) return true;
  const last = fired.at(-1);
  return (
    (suppressed !== null && now < suppressed.until) ||
    (last !== undefined && now < last.at + cooldownSecondsOf(trigger) * 1_000)
  );
}

/**
 * What a trigger does that would fire: it is silent, or it fires too often and is silenced instead, or it fires.
 * @param memory since the trigger's current definition
 */
export function reactionOf(
  trigger: Trigger,
  memory: TriggerMemory,
  now: number,
): 'fire' | 'suppress' | 'silent' {
  if (isSilent(trigger, memory, now)) return 'silent';
  return recentFirings(memory, now) >= flood.firings ? 'suppress' : 'fire';
}

/** Number of firings within the window of the flood limit. */
export function recentFirings({ fired }: TriggerMemory, now: number): number {
  const earliest = now - flood.windowSeconds * 1_000;
  return fired.filter(({ at }) => at > earliest).length;
}

/** When a trigger that is silenced now may fire again. */
export function silentUntil(now: number): string {
  return new Date(now + flood.silenceSeconds * 1_000).toISOString();
}

/** The remembered firings with one more. */
export function withFired(
  fired: TriggerMemory['fired'],
  { fired_at, configuration_version }: { fired_at: string; configuration_version: number },
): TriggerMemory['fired'] {
  return [...fired, { at: Date.parse(fired_at), configuration_version }].slice(-rememberedFirings);
}

function cooldownSecondsOf(trigger: Trigger): number {
  return trigger.kind === 'milestone' ? trigger.rearm.cooldown_seconds : trigger.cooldown_seconds;
}
