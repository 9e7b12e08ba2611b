// The parts of a workbook that its first sheet needs: where it is, the texts that its cells share, and which styles show a date.
import { unreadable } from '../table-rows.js';
import type { Archive } from './archive.js';
import { xmlIn, type XmlListener } from './xml.js';

export interface WorkbookParts {
  /** The path of the first sheet in the archive. */
  sheet: string;
  /** Texts that cells name by their place. */
  texts: readonly string[];
  /** The styles of cells by their place: whether a number is shown as a date or a time. */
  isDate: readonly boolean[];
  /** The day 0 of dates is 1904-01-01. */
  isFrom1904: boolean;
}

/** Characters of all shared texts together: they are in memory while the sheet is read. */
const maximumTexts = 30_000_000;

export async function partsOf(archive: Archive): Promise<WorkbookParts> {
  const { sheetId, isFrom1904 } = await readWorkbook(archive);
  return {
    sheet: await sheetPath(archive, sheetId),
    texts: await readTexts(archive),
    isDate: await readDateStyles(archive),
    isFrom1904,
  };
}

/** A workbook may lack all parts but the first. */
async function readPart(archive: Archive, name: string, listener: XmlListener): Promise<void> {
  if (!archive.has(name)) return;
  for await (const _ of xmlIn(archive.read(name), listener));
}

async function readWorkbook(archive: Archive): Promise<{ sheetId: string | null; isFrom1904: boolean }> {
  if (!archive.has('xl/workbook.xml'))
    throw unreadable('The file is an archive, and no XLSX workbook. Save the table as XLSX or CSV.');
  let sheetId: string | null = null;
  let isFrom1904 = false;
  await readPart(archive, 'xl/workbook.xml', {
    opened: (name, attributes) => {
      if (name === 'workbookPr') isFrom1904 = isTrue(attributes.date1904);
      if (name === 'sheet' && sheetId === null && (attributes.state ?? 'visible') === 'visible')
        sheetId = attributes['r:id'] ?? null;
    },
  });
  return { sheetId, isFrom1904 };
}

async function sheetPath(archive: Archive, sheetId: string | null): Promise<string> {
  let path = 'xl/worksheets/sheet1.xml';
  await readPart(archive, 'xl/_rels/workbook.xml.rels', {
    opened: (name, { Id, Target }) => {
      if (name !== 'Relationship' || Id !== sheetId || Target === undefined) return;
      path = Target.startsWith('/') ? Target.slice(1) : `xl/${Target}`;
    },
  });
  if (!archive.has(path)) throw unreadable('The workbook has no visible sheet.');
  return path;
}

async function readTexts(archive: Archive): Promise<string[]> {
  const texts: string[] = [];
  let text = '';
  let characters = 0;
  let isText = false;
  /** Within the spelling of a text in another script, which is no part of it. */
  let isPhonetic = false;
  await readPart(archive, 'xl/sharedStrings.xml', {
    opened: (name) => {
      if (name === 'si') text = '';
      if (name === 'rPh') isPhonetic = true;
      isText = name === 't';
    },
    text: (more) => {
      if (!isText || isPhonetic) return;
      text += more;
      characters += more.length;
      if (characters > maximumTexts)
        throw unreadable(
          `The workbook has more than ${String(maximumTexts)} characters of text. Save its first sheet as CSV.`,
        );
    },
    closed: (name) => {
      isText = false;
      if (name === 'rPh') isPhonetic = false;
      if (name === 'si') texts.push(text);
    },
  });
  return texts;
}

/** Formats of dates and times that workbooks do not spell out. */
const builtInDates = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47]);

async function readDateStyles(archive: Archive): Promise<boolean[]> {
  const dates = new Set(builtInDates);
  const styles: boolean[] = [];
  let isInCells = false;
  await readPart(archive, 'xl/styles.xml', {
    opened: (name, attributes) => {
      if (name === 'numFmt' && isDateFormat(attributes.formatCode ?? ''))
        dates.add(Number(attributes.numFmtId));
      if (name === 'cellXfs') isInCells = true;
      if (name === 'xf' && isInCells) styles.push(dates.has(Number(attributes.numFmtId)));
    },
    closed: (name) => {
      if (name === 'cellXfs') isInCells = false;
    },
  });
  return styles;
}

/** Whether a format has a part of a date or a time, outside of quoted texts, escaped characters and colours. */
function isDateFormat(code: string): boolean {
  let bare = '';
  for (let at = 0; at < code.length; at += 1) {
    const character = code.charAt(at);
    const closing = character === '"' ? '"' : character === '[' ? ']' : null;
    if (character === '\\') at += 1;
    else if (closing === null) bare += character;
    else {
      const end = code.indexOf(closing, at + 1);
      const inside = code.slice(at + 1, end === -1 ? code.length : end);
      // [h], [mm] and [s] are hours, minutes and seconds that are not cut at a day.
      if (closing === ']' && /^(?:h{1,2}|m{1,2}|s{1,2})$/i.test(inside)) return true;
      at += inside.length + 1;
    }
  }
  return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}
