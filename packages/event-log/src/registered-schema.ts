// A schema of the registry with the check that goes with it.
import type { Ajv, ValidateFunction } from 'ajv';

/** A schema as records carry it: the registry's id in front of the JSON, and the check that goes with it. */
export interface RegisteredSchema {
  readonly id: number;
  readonly validate: ValidateFunction;
}

/** A schema that this process has registered; its check is compiled when it is first needed. */
export class OwnSchema implements RegisteredSchema {
  #validate: ValidateFunction | undefined;

  constructor(
    readonly id: number,
    private readonly ajv: Ajv,
    private readonly schema: string,
  ) {}

  /** A service reads and writes few of all types, and to compile the checks of all takes most of a second. */
  get validate(): ValidateFunction {
    return (this.#validate ??= this.ajv.compile(JSON.parse(this.schema) as object));
  }
}
