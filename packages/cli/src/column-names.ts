// What the names of a CSV's columns become in metadata, and which of them seem to mean a field of the lead.

/** A column's name in snake_case. */
export function metadataKeyOf(column: string): string {
  return (
    column
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '_')
      .replace(/^_+|(?<!_)_+$/g, '') || column
  );
}

/** Columns whose names say that they are a field of the lead, under another name than the field has. */
const fields: readonly (readonly [RegExp, string])[] = [
  [/^(?:full|lead|contact|prospect|customer)[ _-]?name$/i, 'name'],
  [/^given[ _-]?name$/i, 'first_name'],
  [/^(?:surname|family[ _-]?name)$/i, 'last_name'],
  [/^(?:company[ _-]?name|account[ _-]?name|organi[sz]ation(?:[ _-]?name)?)$/i, 'company'],
  [/^(?:job[ _-]?title|position)$/i, 'title'],
  [/^(?:lead|account|contact)[ _-]?owner$/i, 'owner'],
  [/^(?:phone|telephone|mobile)[ _-]?(?:number)?$/i, 'phone'],
];

/** The field of a lead that a column seems to hold under another name, if any. */
export function fieldMeantBy(column: string): string | null {
  const field = fields.find(([form]) => form.test(column.trim()))?.[1] ?? null;
  return field === null || metadataKeyOf(column) === field ? null : field;
}
