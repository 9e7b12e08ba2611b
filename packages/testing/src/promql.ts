// Reads which series and labels a PromQL expression names, for tests that hold expressions against the declared metrics. Only the
// forms that the declarations use; promtool checks the syntax.

export interface NamedSeries {
  series: string;
  /** The labels that it is selected by, each with the pattern of its values and the operator. */
  selectors: readonly { label: string; operator: string; value: string }[];
}

export interface NamedInExpression {
  series: readonly NamedSeries[];
  /** The labels that results are grouped by. */
  grouping: readonly string[];
}

const words = new Set(['by', 'without', 'and', 'or', 'unless', 'on', 'ignoring', 'bool', 'offset']);
const identifier = /([a-zA-Z_][a-zA-Z0-9_]*)\s*(\{[^}]*\}|\()?/g;

export function namedIn(expression: string): NamedInExpression {
  const grouping: string[] = [];
  const rest = expression
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, labels: string) => {
      grouping.push(...labels.split(',').map((label) => label.trim()));
      return ' ';
    })
    // Ranges and numbers: [5m], 1.2e9.
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\b\d[\w.]*/g, ' ');
  const series = [...rest.matchAll(identifier)]
    .filter(([, name = '', behind]) => behind !== '(' && !words.has(name))
    .map(([, name = '', selectors = '']) => ({ series: name, selectors: selectorsIn(selectors) }));
  return { series, grouping };
}

function selectorsIn(text: string): NamedSeries['selectors'] {
  return [...text.matchAll(/([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
  );
}
