// The rows of a sheet as texts: numbers as they are, dates in ISO 8601, and of a formula the value that the workbook has stored.
import { leadImportLimits } from '@lead-scoring/contracts';
import type { StoredRow } from '../documents.js';
import { unreadable, type TableRows } from '../table-rows.js';
import { Archive, type StoredBytes } from './archive.js';
import { partsOf, type WorkbookParts } from './parts.js';
import { xmlIn, type XmlListener } from './xml.js';

/** The last row that a sheet can have. */
const lastRow = 1_048_576;

/** @throws ProblemError 400 while it is read, when the file is no workbook or too large */
export async function* workbookRows(stored: StoredBytes): TableRows {
  const archive = await Archive.open(stored);
  const parts = await partsOf(archive);
  const sheet = new Sheet(parts);
  for await (const _ of xmlIn(archive.read(parts.sheet), sheet)) yield sheet.take();
}

class Sheet implements XmlListener {
  #rows: StoredRow[] = [];
  #row = 0;
  #cells: string[] = [];
  #characters = 0;
  #column = -1;
  #type = 'n';
  #style = -1;
  #value = '';
  #isValue = false;

  constructor(private readonly parts: WorkbookParts) {}

  /** The rows that have ended since the last call. */
  take(): StoredRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  opened(name: string, attributes: Readonly<Record<string, string>>): void {
    switch (name) {
      case 'row':
        this.#row = attributes.r === undefined ? this.#row + 1 : Number(attributes.r);
        if (!(this.#row >= 1 && this.#row <= lastRow))
          throw unreadable('A row of the sheet has a number that no sheet has.');
        this.#cells = [];
        this.#characters = 0;
        this.#column = -1;
        return;
      case 'c':
        this.#column = attributes.r === undefined ? this.#column + 1 : columnIn(attributes.r);
        this.#type = attributes.t ?? 'n';
        this.#style = Number(attributes.s ?? -1);
        this.#value = '';
        return;
      default:
        this.#isValue = name === 'v' || name === 't';
    }
  }

  text(text: string): void {
    if (!this.#isValue) return;
    this.#value += text;
    if (this.#value.length > leadImportLimits.rowCharacters)
      throw unreadable(`Row ${String(this.#row)} of the sheet is too long.`);
  }

  closed(name: string): void {
    this.#isValue = false;
    if (name === 'c') this.#endCell();
    else if (name === 'row' && this.#cells.length > 0) this.#rows.push([this.#row, this.#cells]);
  }

  #endCell(): void {
    const text = this.#textOfCell();
    if (text === '') return;
    if (!(this.#column >= 0 && this.#column < leadImportLimits.columns))
      throw unreadable(`The sheet has more than ${String(leadImportLimits.columns)} columns.`);
    this.#characters += text.length;
    if (this.#characters > leadImportLimits.rowCharacters)
      throw unreadable(`Row ${String(this.#row)} of the sheet is too long.`);
    while (this.#cells.length < this.#column) this.#cells.push('');
    this.#cells[this.#column] = text;
  }

  #textOfCell(): string {
    const { texts, isDate, isFrom1904 } = this.parts;
    const value = this.#value;
    switch (this.#type) {
      case 's':
        return value === '' ? '' : (texts[Number(value)] ?? '');
      case 'b':
        return value === '1' ? 'TRUE' : 'FALSE';
      // An error such as #N/A is no value.
      case 'e':
        return '';
      case 'n':
        if (value === '' || !Number.isFinite(Number(value))) return '';
        return isDate[this.#style] === true ? dateText(Number(value), isFrom1904) : numberText(value);
      default:
        return value;
    }
  }
}

/** The place of the column in a reference such as `AB12`, from 0; -1: it is none. */
function columnIn(reference: string): number {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0] ?? '';
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

/** Workbooks store 4.9 as 4.9000000000000004. A long number, such as that of a telephone, keeps all its digits. */
function numberText(value: string): string {
  const number = Number(value);
  return Number.isSafeInteger(number) || Math.abs(number) < 1e15 ? String(number) : value;
}

const dayMs = 86_400_000;
const last = Date.UTC(9999, 11, 31);

/** The moment of a number of days: a date, a time where there is no day, or both. */
function dateText(days: number, isFrom1904: boolean): string {
  const start = isFrom1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  // Excel counts a day too many, because it takes 1900 for a leap year.
  const counted = !isFrom1904 && days >= 1 && days < 60 ? days + 1 : days;
  const ms = start + Math.round((counted * dayMs) / 1_000) * 1_000;
  if (!(ms >= start && ms < last + dayMs)) return String(days);
  const text = new Date(ms).toISOString();
  if (days < 1) return text.slice(11, 19);
  return Number.isInteger(days) ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
}
