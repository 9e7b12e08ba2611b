// Decodes bytes to text with the character set that browsers would use: by the byte order mark, else the header, else the document's
// own declaration.
import { TextDecoder } from 'node:util';

/** The part of a document in which a declaration counts, as in browsers. */
const declarationBytes = 1_024;

/** The tags that may declare a character set, and the declaration within them: two searches, so that each takes linear time. */
const declarations = [
  { tag: /<meta[^>]{0,300}/gi, label: /charset\s{0,10}=\s{0,10}["']?([\w:.-]{1,40})/i },
  { tag: /<\?xml[^>]{0,300}/gi, label: /encoding\s{0,10}=\s{0,10}["']([\w:.-]{1,40})/i },
];

/** A decoder for a document that starts with these bytes. Invalid bytes become U+FFFD; it never throws. */
export function decoderFor(start: Uint8Array, contentType: string | undefined): TextDecoder {
  return (
    known(byteOrderMark(start)) ??
    known(/charset\s{0,10}=\s{0,10}["']?([\w:.-]{1,40})/i.exec(contentType ?? '')?.[1]) ??
    known(declared(start)) ??
    new TextDecoder('utf-8')
  );
}

export function decodeText(body: Uint8Array, contentType: string | undefined): string {
  return decoderFor(body, contentType).decode(body);
}

function byteOrderMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** The declared character set. A declaration of UTF-16 that is readable as ASCII is wrong, and means UTF-8. */
function declared(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, declarationBytes)).toString('latin1');
  for (const declaration of declarations)
    for (const [tag] of start.matchAll(declaration.tag)) {
      const label = declaration.label.exec(tag)?.[1];
      if (label !== undefined) return /^utf-?16/i.test(label) ? 'utf-8' : label;
    }
  return undefined;
}

function known(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
