// A schema of the registry with its validator.
import type { Ajv, ValidateFunction } from 'ajv';

/** A registered schema: the id that records carry, and the validator. */
export interface RegisteredSchema {
  readonly id: number;
  readonly validate: ValidateFunction;
}

/** A schema that this process has registered; its validator is compiled on first use. */
export class OwnSchema implements RegisteredSchema {
  #validate: ValidateFunction | undefined;

  constructor(
    readonly id: number,
    private readonly ajv: Ajv,
    private readonly schema: string,
  ) {}

  /** A service uses few of all types, and compiling the validators of all of them takes most of a second. */
  get validate(): ValidateFunction {
    return (this.#validate ??= this.ajv.compile(JSON.parse(this.schema) as object));
  }
}
