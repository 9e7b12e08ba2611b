// The content of a rule of any kind: the fields that a person sets. Pure.

/** Fields that each version has anew, or that follow from other fields. */
const besidesContent = new Set(['id', 'filter_label', 'version', 'created_at', 'updated_at', 'changed_by']);

/** The fields that have a value, in the order of the rule. */
export function contentOf(rule: object): [field: string, value: unknown][] {
  return (Object.entries(rule) as [string, unknown][]).filter(
    ([field, value]) => value !== undefined && !besidesContent.has(field),
  );
}
