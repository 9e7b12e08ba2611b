// No regular expression of the system tries again from each place of a text: 100 KB of anybody's text must not cost minutes.
// Held against recheck, which searches each pattern's automaton for texts that cost more than they are long.
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkSync } from 'recheck';
import ts from 'typescript';

const root = join(import.meta.dirname, '../../..');

/** Not met by anybody's text: the benchmarks, what tests are made of, and how servers of a developer's machine are found. */
const left = /[.]test[.]ts$|\/(?:packages\/(?:benchmarks|testing|platform|start)\/|testing\/)/;

interface Pattern {
  file: string;
  line: number;
  source: string;
  flags: string;
}

/** The patterns written in a file; of one that is put together while running, the text of the expression. */
function patternsIn(file: string): { literal: Pattern[]; assembled: Pattern[] } {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = { literal: [] as Pattern[], assembled: [] as Pattern[] };
  const place = (node: ts.Node) => ({
    file: relative(root, file),
    line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1,
  });
  const visit = (node: ts.Node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      found.literal.push({
        ...place(node),
        source: node.text.slice(1, end),
        flags: node.text.slice(end + 1),
      });
    } else if (
      (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
      node.expression.getText(source) === 'RegExp'
    )
      found.assembled.push({ ...place(node), source: node.getText(source), flags: '' });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const files = globSync(join(root, '{packages,services}/*/src/**/*.ts')).filter((file) => !left.test(file));
const patterns = files.map(patternsIn);
const literal = patterns.flatMap((found) => found.literal);

/** `safe`, or how much more than its length a text can cost; `unknown` is no better. */
function verdictOn(source: string, flags: string): string {
  const diagnostics = checkSync(source, flags, { timeout: 60_000 });
  return diagnostics.status === 'vulnerable' ? diagnostics.complexity.summary : diagnostics.status;
}

test('the sources are found', () => {
  expect(files.length).toBeGreaterThan(200);
  expect(literal.length).toBeGreaterThan(100);
});

test('every pattern of the sources takes linear time', () => {
  const known = new Map<string, string>();
  const wrong = literal.flatMap(({ file, line, source, flags }) => {
    const pattern = `/${source}/${flags}`;
    const verdict = known.get(pattern) ?? verdictOn(source, flags);
    known.set(pattern, verdict);
    return verdict === 'safe' ? [] : [`${file}:${String(line)} ${pattern}: ${verdict}`];
  });
  expect(wrong).toEqual([]);
});

test('no pattern is put together while running, where nothing looks at it, but in the declarations, which a walk checks', () => {
  const elsewhere = patterns
    .flatMap((found) => found.assembled)
    .filter(({ file }) => !file.startsWith('packages/contracts/src/routes/'));
  expect(elsewhere).toEqual([]);
});
