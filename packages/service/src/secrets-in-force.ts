// A secret that can be exchanged while the system runs: up to three of its values are in force at once.
// docs/runbooks/secrets.md
import type { z } from 'zod';
import { setting } from './configuration.js';

export interface SecretsInForce {
  /** The value for everything new. */
  current: string;
  /** The former value, still accepted. */
  previous?: string | undefined;
  /** The coming value, already accepted, because other instances may use it as their current one. */
  next?: string | undefined;
}

type Settings<Name extends string> = Record<Name, z.ZodString> &
  Record<`${Name}_PREVIOUS` | `${Name}_NEXT`, z.ZodOptional<z.ZodString>>;

/**
 * The three settings of a secret: `NAME`, `NAME_PREVIOUS` and `NAME_NEXT`.
 * @param meaning a sentence on its use, for docs/settings.md
 */
export function exchangeableSecret<Name extends string>(name: Name, meaning: string): Settings<Name> {
  const whileExchanged = `while it is exchanged: docs/runbooks/secrets.md.`;
  return {
    [name]: setting.secret.describe(meaning),
    [`${name}_PREVIOUS`]: setting.secret
      .optional()
      .describe(`The former value of ${name}, ${whileExchanged}`),
    [`${name}_NEXT`]: setting.secret.optional().describe(`The coming value of ${name}, ${whileExchanged}`),
  } as Settings<Name>;
}

/** The values of these three settings. */
export function secretsInForce<Name extends string>(
  name: Name,
  configuration: Record<Name, string> &
    Partial<Record<`${Name}_PREVIOUS` | `${Name}_NEXT`, string | undefined>>,
): SecretsInForce {
  const values = configuration as Readonly<Record<string, string | undefined>>;
  return {
    current: configuration[name],
    previous: values[`${name}_PREVIOUS`],
    next: values[`${name}_NEXT`],
  };
}
