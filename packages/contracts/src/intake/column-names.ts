// The metadata keys of a table's columns, and the columns whose names resemble a field of the lead.

/** The name of a column in snake_case. */
export function metadataKeyOf(column: string): string {
  return (
    column
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '_')
      .replace(/^_+|(?<!_)_+$/g, '') || column
  );
}

/** Patterns of column names that mean a field of the lead, with the name of the field. */
const fields: readonly (readonly [RegExp, string])[] = [
  [/^(?:full|lead|contact|prospect|customer|person)[ _-]?name$/i, 'name'],
  [/^(?:given[ _-]?name|first[ _-]?name|forename)$/i, 'first_name'],
  [/^(?:surname|(?:family|last)[ _-]?name)$/i, 'last_name'],
  [
    /^(?:(?:company|account|business|employer)[ _-]?name|organi[sz]ation(?:[ _-]?name)?|employer)$/i,
    'company',
  ],
  [/^(?:job[ _-]?title|position|job[ _-]?role)$/i, 'title'],
  [/^(?:(?:lead|account|contact|record)[ _-]?owner|assigned[ _-]?to|sales[ _-]?rep)$/i, 'owner'],
  [
    /^(?:(?:mobile|cell|work|business|office|direct)[ _-]?)?(?:phone|telephone|mobile)[ _-]?(?:number|no\.?)?$/i,
    'phone',
  ],
];

/** The field of a lead that a column probably holds under another name; null when there is none. */
export function fieldMeantBy(column: string): string | null {
  const field = fields.find(([form]) => form.test(column.trim()))?.[1] ?? null;
  return field === null || metadataKeyOf(column) === field ? null : field;
}
