// Reads XML as it arrives. Nothing in it is fetched or expanded, and no single text or tag is longer than a row may be.
import { leadImportLimits } from '@lead-scoring/contracts';
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { unreadable } from '../table-rows.js';

export interface XmlListener {
  /** @param name without its namespace's prefix */
  opened(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  closed?(name: string): void;
}

/**
 * Tells the listener of the file's content, and yields after each part of it.
 * @throws ProblemError 400 for what is no XML, has a document type, or an endless text
 */
export async function* xmlIn(bytes: AsyncIterable<Uint8Array>, listener: XmlListener): AsyncGenerator<void> {
  const parser = new SaxesParser({ xmlns: false, position: false });
  let charactersSinceEvent = 0;
  const heard = () => {
    charactersSinceEvent = 0;
  };
  parser.on('error', (error) => {
    throw unreadable(`The workbook holds broken XML: ${error.message.slice(0, 200)}.`, error);
  });
  parser.on('doctype', () => {
    throw unreadable('The workbook holds a document type, which no spreadsheet writes.');
  });
  parser.on('opentag', ({ name, attributes }: SaxesTagPlain) => {
    heard();
    listener.opened(localName(name), attributes);
  });
  parser.on('text', (text) => {
    heard();
    listener.text?.(text);
  });
  parser.on('closetag', ({ name }) => {
    heard();
    listener.closed?.(localName(name));
  });
  const decoder = new TextDecoder();
  const take = (text: string) => {
    charactersSinceEvent += text.length;
    parser.write(text);
    // A text of which the end has not come is held by the parser.
    if (charactersSinceEvent > leadImportLimits.rowCharacters)
      throw unreadable('A cell of the workbook is longer than a row may be.');
  };
  for await (const part of bytes) {
    take(decoder.decode(part, { stream: true }));
    yield;
  }
  take(decoder.decode());
  parser.close();
  yield;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
