// The findings of rescorings, what-ifs and suggestions as text: the parts that they have in common.
import { table } from './output.js';

interface Level {
  id: string;
  name: string;
  leads: number;
}

/** Leads whose scores were compared on two sides, such as `live` and `draft`. */
type ComparedLeads<Side extends string> = Record<Side, { levels: readonly Level[] }> & {
  leads: number;
  rising: number;
  falling: number;
  unchanged: number;
  level_changes: number;
  movers: Movers<Side>;
};
type Movers<Side extends string> = readonly Scores<
  Side,
  { name: string; why: readonly Scores<Side, { label: string }>[] }
>[];
type Scores<Side extends string, More> = Record<Side, number> & More;

/** The side that is there, and the one that would be; they are also the titles of columns. */
type Sides<Side extends string> = readonly [Side, Side];

const shownMovers = 20;

/** How many leads would move, how many there are in each level, and who moves most and why. */
export function comparedLeads<Side extends string>(
  compared: ComparedLeads<Side>,
  sides: Sides<Side>,
  { overtaken, isInForce = false }: { overtaken: string | null; isInForce?: boolean },
): string {
  const { leads, rising, falling, unchanged, level_changes, movers } = compared;
  const levels = levelRows(compared, sides);
  const words = isInForce
    ? `${count(rising)} rose, ${count(falling)} fell and ${count(unchanged)} stayed; ${count(level_changes)} came into another level. The new scores are in force.`
    : `${count(rising)} would rise, ${count(falling)} fall and ${count(unchanged)} stay; ${count(level_changes)} would be in another level. Nothing was changed.`;
  return [
    `Of ${count(leads)} leads ${words}`,
    ...(overtaken === null ? [] : [overtaken]),
    ...(levels.length === 0 ? [] : ['', levelsTable(levels, sides)]),
    ...(movers.length === 0 ? [] : ['', moversTable<Side>(movers, sides)]),
  ].join('\n');
}

/** A level with its leads on each side; null where that side has no such level. */
interface LevelRow {
  name: string;
  leads: [number | null, number | null];
}

/** A draft may add levels, and leave out others. */
function levelRows<Side extends string>(
  compared: ComparedLeads<Side>,
  [before, after]: Sides<Side>,
): LevelRow[] {
  const rows = new Map<string, LevelRow>();
  for (const { id, name, leads } of compared[before].levels) rows.set(id, { name, leads: [leads, null] });
  for (const { id, name, leads } of compared[after].levels)
    rows.set(id, { name, leads: [rows.get(id)?.leads[0] ?? null, leads] });
  return [...rows.values()];
}

function levelsTable(rows: readonly LevelRow[], [before, after]: Sides<string>): string {
  const inLevel = (leads: number | null) => (leads === null ? '' : count(leads));
  return table(rows, [
    { title: 'LEVEL', value: ({ name }) => name },
    { title: before.toUpperCase(), value: ({ leads }) => inLevel(leads[0]), align: 'right' },
    { title: after.toUpperCase(), value: ({ leads }) => inLevel(leads[1]), align: 'right' },
  ]);
}

function moversTable<Side extends string>(movers: Movers<Side>, [before, after]: Sides<Side>): string {
  return table(movers.slice(0, shownMovers), [
    { title: before.toUpperCase(), value: (mover) => mover[before], align: 'right' },
    { title: after.toUpperCase(), value: (mover) => mover[after], align: 'right' },
    { title: 'NAME', value: ({ name }) => name, maximum: 40 },
    {
      title: 'WHY',
      value: ({ why }) =>
        why
          .map((reason) => `${reason.label} ${String(reason[before])} → ${String(reason[after])}`)
          .join(', '),
      maximum: 80,
    },
  ]);
}

/** How well scores tell the leads that had an outcome from the others. */
interface Separation {
  auc?: number | null | undefined;
  auc_interval?: { low: number; high: number } | null | undefined;
}

/** `0.823 (0.796 to 0.850)`: the AUC and its 95 % interval. */
export function areaOf({ auc, auc_interval }: Separation): string {
  if (auc === null || auc === undefined) return 'none';
  const places = (rate: number) => rate.toFixed(3);
  return auc_interval
    ? `${places(auc)} (${places(auc_interval.low)} to ${places(auc_interval.high)})`
    : places(auc);
}

export function count(number: number): string {
  return number.toLocaleString('en');
}

/** `12.5 %`. */
export function percentage(share: number): string {
  return `${String(Math.round(share * 1_000) / 10)} %`;
}
