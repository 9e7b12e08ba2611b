// Every regular expression of the system takes linear time, so that 100 KB of hostile text cannot block a process for minutes.
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { timeOfPattern } from '@lead-scoring/contracts/linear-time';
import ts from 'typescript';

const root = join(import.meta.dirname, '../../..');

/** Files whose patterns never match text of a request: tests and their helpers, benchmarks, and the start of local servers. */
const left = /[.]test[.]ts$|\/(?:packages\/(?:benchmarks|testing|platform|start)\/|testing\/)/;

interface Pattern {
  file: string;
  line: number;
  source: string;
  flags: string;
}

/** The patterns of a file: literals, and the source text of expressions that assemble a pattern at run time. */
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

test('the sources are found', () => {
  expect(files.length).toBeGreaterThan(200);
  expect(literal.length).toBeGreaterThan(100);
});

test('every pattern of the sources takes linear time', () => {
  const known = new Map<string, string>();
  const wrong = literal.flatMap(({ file, line, source, flags }) => {
    const pattern = `/${source}/${flags}`;
    const time = known.get(pattern) ?? timeOfPattern(source, flags);
    known.set(pattern, time);
    return time === 'safe' ? [] : [`${file}:${String(line)} ${pattern}: ${time}`];
  });
  expect(wrong).toEqual([]);
});

test('no pattern is assembled at run time, except in the declarations, which another test checks', () => {
  const elsewhere = patterns
    .flatMap((found) => found.assembled)
    .filter(({ file }) => !file.startsWith('packages/contracts/src/routes/'));
  expect(elsewhere).toEqual([]);
});
