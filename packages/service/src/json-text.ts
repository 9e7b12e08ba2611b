// Scans JSON text: how deep it nests, its duplicate keys, and where it is invalid. The scanners do not recurse, so no
// text overflows the stack.

/**
 * @returns the index of the bracket that nests deeper than `maximum`, or null. Linear; strings are skipped natively.
 */
export function depthExceededAt(text: string, maximum: number): number | null {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === quote) {
      index = endOfString(text, index);
      if (index === -1) return null;
    } else if (character === openBrace || character === openBracket) {
      depth += 1;
      if (depth > maximum) return index;
    } else if (character === closeBrace || character === closeBracket) depth -= 1;
  }
  return null;
}

const quote = 34;
const comma = 44;
const backslash = 92;
const openBrace = 123;
const closeBrace = 125;
const openBracket = 91;
const closeBracket = 93;

/** The index of the quote that ends the string starting at `start`, or -1. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, start: number, at: number): boolean {
  let before = at - 1;
  while (before > start && text.charCodeAt(before) === backslash) before -= 1;
  return (at - before) % 2 === 0;
}

/** An open object with its keys so far and the latest of them, or an open array with the present index. */
type OpenContainer = { keys: Set<string>; last: string } | { keys: null; last: number };

/**
 * The path to the first key that an object of the text has twice, or null. JSON.parse would silently keep the later
 * value.
 * @param text valid JSON; for other texts the result is meaningless
 */
export function duplicateKeyIn(text: string): (string | number)[] | null {
  const open: OpenContainer[] = [];
  let awaitsKey = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    const within = open.at(-1);
    if (character === quote) {
      const end = endOfString(text, index);
      if (end === -1) return null;
      if (awaitsKey && within?.keys) {
        const key = JSON.parse(text.slice(index, end + 1)) as string;
        within.last = key;
        if (within.keys.has(key)) return open.map(({ last }) => last);
        within.keys.add(key);
        awaitsKey = false;
      }
      index = end;
    } else if (character === openBrace) {
      open.push({ keys: new Set(), last: '' });
      awaitsKey = true;
    } else if (character === openBracket) {
      open.push({ keys: null, last: 0 });
      awaitsKey = false;
    } else if (character === closeBrace || character === closeBracket) {
      open.pop();
      awaitsKey = false;
    } else if (character === comma && within) {
      if (within.keys) awaitsKey = true;
      else within.last += 1;
    }
  }
  return null;
}

const space = /[ \t\n\r]*/y;
const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// oxlint-disable-next-line no-control-regex
const stringPart = /[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The tokens that may come next. */
type ExpectedToken = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

/**
 * Finds where a text stops being JSON (RFC 8259), because JSON.parse does not always tell.
 * @returns the index of the first character that cannot be there, the length if the text ends too early, or null if it
 *   is JSON
 */
export function syntaxErrorAt(text: string): number | null {
  return new SyntaxScanner(text).errorAt();
}

/** Reads a text token by token. `#index` stays at the first character that no expected token has there. */
class SyntaxScanner {
  readonly #open: ('{' | '[')[] = [];
  #expected: ExpectedToken = 'value';
  #index = 0;

  constructor(private readonly text: string) {}

  errorAt(): number | null {
    for (;;) {
      this.#index = endOf(space, this.text, this.#index) ?? this.#index;
      if (this.#index >= this.text.length) return this.#expected === 'nothing' ? null : this.text.length;
      if (!this.#acceptToken()) return this.#index;
    }
  }

  /** Moves behind the next token, or returns false if it is not one of the expected tokens. */
  #acceptToken(): boolean {
    if (this.#mayEnd() && this.text[this.#index] === (this.#open.at(-1) === '{' ? '}' : ']')) {
      this.#open.pop();
      return this.#moveTo(this.#index + 1, this.#afterValue());
    }
    switch (this.#expected) {
      case 'nothing':
        return false;
      case 'colon':
        return this.#acceptCharacter(':', 'value');
      case 'comma-or-end':
        return this.#acceptCharacter(',', this.#open.at(-1) === '{' ? 'key' : 'value');
      case 'key':
      case 'key-or-end':
        return this.text[this.#index] === '"' && this.#acceptString('colon');
      case 'value':
      case 'value-or-end':
        return this.#acceptValue();
    }
  }

  #mayEnd(): boolean {
    return (
      this.#expected === 'value-or-end' ||
      this.#expected === 'key-or-end' ||
      this.#expected === 'comma-or-end'
    );
  }

  #acceptCharacter(character: string, next: ExpectedToken): boolean {
    return this.text[this.#index] === character && this.#moveTo(this.#index + 1, next);
  }

  #acceptValue(): boolean {
    const character = this.text[this.#index];
    if (character === '{' || character === '[') {
      this.#open.push(character);
      return this.#moveTo(this.#index + 1, character === '{' ? 'key-or-end' : 'value-or-end');
    }
    if (character === '"') return this.#acceptString(this.#afterValue());
    const end = endOf(literal, this.text, this.#index);
    return end !== null && this.#moveTo(end, this.#afterValue());
  }

  #acceptString(next: ExpectedToken): boolean {
    const string = scanString(this.text, this.#index);
    this.#moveTo(string.at, next);
    return string.whole;
  }

  #afterValue(): ExpectedToken {
    return this.#open.length === 0 ? 'nothing' : 'comma-or-end';
  }

  #moveTo(index: number, next: ExpectedToken): true {
    this.#index = index;
    this.#expected = next;
    return true;
  }
}

function scanString(text: string, start: number): { whole: boolean; at: number } {
  let index = start + 1;
  while (text[index] !== '"') {
    const end = endOf(stringPart, text, index);
    if (end === null) return { whole: false, at: index };
    index = end;
  }
  return { whole: true, at: index + 1 };
}

function endOf(pattern: RegExp, text: string, index: number): number | null {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : null;
}
