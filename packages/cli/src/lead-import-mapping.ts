// The mapping of an import of leads as a person sees and changes it: a column at a time. Pure.
import {
  metadataKeyOf,
  timeFormats,
  type SuggestedLeadImportMapping,
  type TimeFormat,
} from '@lead-scoring/contracts';

type Mapping = SuggestedLeadImportMapping;

/** What a column is taken for. */
export type Meaning =
  | { as: 'primary' | 'alias'; kind: string }
  | { as: 'field'; field: string }
  | { as: 'event'; eventType: string; format: TimeFormat }
  | { as: 'nothing' };

export const meaningForms =
  'primary KIND, alias KIND, field NAME, event TYPE, or event FORMAT TYPE with iso, day_first, month_first or epoch as the FORMAT; - for nothing';

/** The meaning in a person's words; null where they have none. */
export function meaningIn(text: string): Meaning | null {
  const [word = '', ...rest] = text.trim().split(/\s+/);
  const said = rest.join(' ');
  if (word === '-') return { as: 'nothing' };
  if (said === '') return null;
  if (word === 'primary' || word === 'alias') return { as: word, kind: said };
  if (word === 'field') return { as: 'field', field: said };
  if (word !== 'event') return null;
  const format = timeFormats.find((one) => one === rest[0]);
  if (!format) return { as: 'event', eventType: said, format: 'iso' };
  return rest.length > 1 ? { as: 'event', eventType: rest.slice(1).join(' '), format } : null;
}

/** What the mapping takes a column for, in the same words. */
export function wordsFor(mapping: Mapping, column: string): string {
  const { primary_identifier, alias_mappings, field_mappings, event_mappings } = mapping;
  if (primary_identifier?.column === column) return `primary ${primary_identifier.kind}`;
  const alias = alias_mappings.find((one) => one.column === column);
  if (alias) return `alias ${alias.kind}`;
  const event = event_mappings.find(({ time }) => time.column === column);
  if (event) return `event ${event.time.format} ${event.event_type}`;
  const field = field_mappings.find((one) => one.column === column);
  return field ? `field ${field.field}` : '-';
}

/** The mapping in which a column has another meaning. A primary identifier that is replaced becomes an alias. */
export function withMeaning(mapping: Mapping, column: string, meaning: Meaning): Mapping {
  const isOther = (one: { column: string }) => one.column !== column;
  const before = mapping.primary_identifier;
  const others: Mapping = {
    ...mapping,
    primary_identifier: before && isOther(before) ? before : null,
    alias_mappings: mapping.alias_mappings.filter(isOther),
    field_mappings: mapping.field_mappings.filter(isOther),
    event_mappings: mapping.event_mappings.filter(({ time }) => isOther(time)),
  };
  switch (meaning.as) {
    case 'nothing':
      return others;
    case 'field':
      return { ...others, field_mappings: [...others.field_mappings, { column, field: meaning.field }] };
    case 'alias':
      return { ...others, alias_mappings: [...others.alias_mappings, { column, kind: meaning.kind }] };
    case 'event': {
      const time = { column, format: meaning.format };
      const event = { event_type: meaning.eventType, time, field_mappings: [] };
      return { ...others, event_mappings: [...others.event_mappings, event] };
    }
    case 'primary':
      return {
        ...others,
        primary_identifier: { column, kind: meaning.kind },
        alias_mappings: others.primary_identifier
          ? [...others.alias_mappings, others.primary_identifier]
          : others.alias_mappings,
      };
  }
}

/**
 * The column and the meaning in a flag such as `--map "Job Role=field title"`; null where it has no such form. Without a meaning after
 * the equals sign, the column becomes the field of its name.
 */
export function mappedIn(flag: string): { column: string; meaning: Meaning } | null {
  const at = flag.lastIndexOf('=');
  if (at < 1) return null;
  const column = flag.slice(0, at).trim();
  const said = flag.slice(at + 1).trim();
  const meaning = said === '' ? ({ as: 'field', field: metadataKeyOf(column) } as const) : meaningIn(said);
  return meaning && { column, meaning };
}
