// Workbooks: what is read of a sheet, and the workbooks that are refused.
import { describe, expect, test } from '@jest/globals';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import type { StoredRow } from '../documents.js';
import { workbookRows } from './sheet-rows.js';

const book = `<workbook xmlns:r="r"><workbookPr/><sheets>
  <sheet name="Hidden" sheetId="1" state="hidden" r:id="rId1"/><sheet name="Leads" sheetId="2" r:id="rId2"/></sheets></workbook>`;
const relations = `<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/>
  <Relationship Id="rId2" Target="worksheets/sheet2.xml"/></Relationships>`;
const styles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/><numFmt numFmtId="165" formatCode="&quot;day&quot; 0"/></numFmts>
  <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`;
const texts = `<sst><si><t>Email</t></si><si><r><t>Ada </t></r><r><t>Lovelace</t></r><rPh><t>no</t></rPh></si></sst>`;
const sheetOf = (rows: string) =>
  `<?xml version="1.0"?><x:worksheet xmlns:x="x"><x:dimension ref="A1:XFD1000000000"/><x:sheetData>${rows}</x:sheetData></x:worksheet>`
    .replaceAll('<row', '<x:row')
    .replaceAll('</row', '</x:row');

async function zipped(files: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  return buffer(zip.outputStream);
}

const workbook = (rows: string, more: Record<string, string | Buffer> = {}) =>
  zipped({
    'xl/workbook.xml': book,
    'xl/_rels/workbook.xml.rels': relations,
    'xl/styles.xml': styles,
    'xl/sharedStrings.xml': texts,
    'xl/worksheets/sheet1.xml': sheetOf('<row r="1"><c r="A1"><v>1</v></c></row>'),
    'xl/worksheets/sheet2.xml': sheetOf(rows),
    ...more,
  });

async function rowsOf(bytes: Buffer, partBytes = 100): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  const part = (number: number) =>
    Promise.resolve(bytes.subarray(number * partBytes, (number + 1) * partBytes));
  for await (const some of workbookRows({ size: bytes.length, partBytes, part })) rows.push(...some);
  return rows;
}

describe('a sheet', () => {
  test('is read as texts: shared ones, numbers, dates, and of formulas the stored value', async () => {
    const rows = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Since</t></is></c></row>
      <row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3" s="1"><v>46053</v></c><c r="C3" s="2"><v>46053.5</v></c>
      <c r="D3" s="3"><v>4.9000000000000004</v></c><c r="E3" t="str"><f>1+1</f><v>=cmd</v></c><c r="F3" t="b"><v>1</v></c>
      <c r="G3" t="e"><v>#N/A</v></c><c r="H3"><v>4915112345678</v></c></row><row/>
      <row><c><f>SUM(A1:A9)</f><v>17</v></c></row>`;
    expect(await rowsOf(await workbook(rows))).toEqual([
      [1, ['Email', '', 'Since']],
      [3, ['Ada Lovelace', '2026-01-31', '2026-01-31T12:00:00Z', '4.9', '=cmd', 'TRUE', '', '4915112345678']],
      [5, ['17']],
    ]);
  });

  test('needs neither styles nor shared texts', async () => {
    const bytes = await zipped({
      'xl/workbook.xml': '<workbook xmlns:r="r"><sheets><sheet r:id="rId1"/></sheets></workbook>',
      'xl/worksheets/sheet1.xml': sheetOf('<row><c><v>1</v></c></row>'),
    });
    expect(await rowsOf(bytes)).toEqual([[1, ['1']]]);
  });

  test('may lie in parts of any size', async () => {
    const bytes = await workbook('<row r="1"><c r="A1"><v>1</v></c></row>');
    for (const size of [7, 1_000, 1_000_000]) expect(await rowsOf(bytes, size)).toEqual([[1, ['1']]]);
  });
});

test.each<[string, () => Promise<Buffer>, string]>([
  [
    'a bomb',
    () => workbook(`<row r="1"><c r="A1" t="str"><v>${'0'.repeat(900)}</v></c></row>`.repeat(40_000)),
    '200 times',
  ],
  [
    'a cell without an end',
    () => workbook(`<row r="1"><c r="A1" t="str"><v>${'ab'.repeat(900_000)}`),
    'longer than a row',
  ],
  ['a row that no sheet has', () => workbook('<row r="1000000000"><c><v>1</v></c></row>'), 'no sheet has'],
  ['too many columns', () => workbook('<row r="1"><c r="XFD1"><v>1</v></c></row>'), '500 columns'],
  [
    'a document type',
    () => workbook('', { 'xl/worksheets/sheet2.xml': '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>' }),
    'document type',
  ],
  ['XML that is broken', () => workbook('<row><c></row>'), 'broken XML'],
  ['another archive', () => zipped({ 'a.txt': 'a' }), 'no XLSX workbook'],
  ['an archive that was cut', async () => (await workbook('<row/>')).subarray(0, 700), 'cannot be read'],
])('%s is refused, with what to do', async (_, make, detail) => {
  await expect(rowsOf(await make(), 1_000_000)).rejects.toMatchObject({
    status: 400,
    code: 'unreadable_file',
    detail: expect.stringContaining(detail) as unknown,
  });
});
