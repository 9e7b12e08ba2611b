// The stored definitions of triggers: one document for each trigger, which scoring folds from notification's public events.
import { nameBasedId, type JsonValue, type records } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';

/** A trigger as it was defined last. */
export interface DefinedTrigger {
  readonly id: string;
  readonly definition: records.TriggerDefinition;
  /** When it was defined so. */
  readonly at: string;
}

export interface DefinitionDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  trigger: Binary;
  /** A TriggerDefinition as JSON text, because names may contain any character; without its channels. */
  definition: string;
  at: string;
}

export const triggerDefinitions = defineCollection<DefinitionDocument>({
  name: 'trigger_definitions',
  indexes: [{ key: { ou: 1 } }],
});

/** The id of the document of a trigger. */
export function definitionId(ouId: string, triggerId: string): string {
  return nameBasedId(ouId, `trigger-definition:${triggerId}`);
}

export function toDefinitionDocument(
  {
    ou_id,
    trigger_id,
    definition,
    at,
  }: Pick<records.TriggerCreated, 'ou_id' | 'trigger_id' | 'definition' | 'at'>,
  guard: { readonly partition: number; readonly offset: number },
): DefinitionDocument {
  return {
    _id: uuidToBinary(definitionId(ou_id, trigger_id)),
    ou: uuidToBinary(ou_id),
    trigger: uuidToBinary(trigger_id),
    definition: packJson({ ...definition, channel_ids: [] } as unknown as JsonValue),
    at,
    ...guard,
  };
}

/** The triggers of an OU, by their ids. */
export async function readTriggers(readModel: ReadModel, ouId: string): Promise<DefinedTrigger[]> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(triggerDefinitions)
      .find({ ou: uuidToBinary(ouId) })
      .toArray(),
  );
  return found
    .map(({ trigger, definition, at }) => ({
      id: binaryToUuid(trigger),
      definition: unpackJson(definition) as unknown as records.TriggerDefinition,
      at,
    }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}
