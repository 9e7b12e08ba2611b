// A schema of the registry with its validator.
import type { RecordDeclaration } from '@lead-scoring/contracts';
import type { ValidateFunction } from 'ajv';
import { validatorOf } from './record-schema.js';

/** A registered schema: the id that records carry, and the validator. */
export interface RegisteredSchema {
  readonly id: number;
  readonly validate: ValidateFunction;
}

/** A schema that this process has registered; its validator is compiled on first use. */
export class OwnSchema implements RegisteredSchema {
  constructor(
    readonly id: number,
    private readonly declaration: RecordDeclaration,
  ) {}

  get validate(): ValidateFunction {
    return validatorOf(this.declaration);
  }
}
