// Logistic regression with a penalty on large coefficients (ridge), by Newton's method. Pure.
//
// It maximises the logarithm of the likelihood less half the sum of the squared coefficients: each coefficient is expected to be normal
// around 0 with a variance of 1, so that few leads move it little. The intercept is free.

/** Leads that have the same traits. */
export interface TraitRow {
  /** The numbers of the traits that they have, each once. */
  readonly has: readonly number[];
  readonly leads: number;
  /** Of these, the leads with the outcome. */
  readonly won: number;
}

export interface LogisticFit {
  readonly intercept: number;
  /** By trait: by how much having it adds to the logarithm of the odds. */
  readonly coefficients: readonly number[];
}

const maximumSteps = 50;
/** The length of a step from which on the fit is done. */
const enough = 1e-10;

/**
 * @param traits how many traits there are
 * @param penalty of the squared coefficients; above 0, so that there is one best fit
 */
export function fitLogistic(rows: readonly TraitRow[], traits: number, penalty = 1): LogisticFit {
  // The last of the unknowns is the intercept.
  let at = new Array<number>(traits + 1).fill(0);
  let height = objectiveAt(rows, at, penalty);
  for (let step = 0; step < maximumSteps; step += 1) {
    const { gradient, curvature } = slopesAt(rows, at, penalty);
    const full = solve(curvature, gradient);
    let share = 1;
    let next = moved(at, full, share);
    let nextHeight = objectiveAt(rows, next, penalty);
    // A full step may go too far while the fit is still far from the best one.
    while (nextHeight < height && share > enough) {
      share /= 2;
      next = moved(at, full, share);
      nextHeight = objectiveAt(rows, next, penalty);
    }
    if (nextHeight < height) break;
    at = next;
    height = nextHeight;
    if (Math.hypot(...full) * share < enough) break;
  }
  return { intercept: at[traits] ?? 0, coefficients: at.slice(0, traits) };
}

function moved(at: readonly number[], step: readonly number[], share: number): number[] {
  return at.map((value, index) => value + share * (step[index] ?? 0));
}

/** The logarithm of the odds of leads with these traits. */
export function logOddsOf({ has }: Pick<TraitRow, 'has'>, at: readonly number[]): number {
  let sum = at.at(-1) ?? 0;
  for (const trait of has) sum += at[trait] ?? 0;
  return sum;
}

function objectiveAt(rows: readonly TraitRow[], at: readonly number[], penalty: number): number {
  let sum = 0;
  for (const row of rows) {
    const odds = logOddsOf(row, at);
    sum += row.won * odds - row.leads * (Math.max(odds, 0) + Math.log1p(Math.exp(-Math.abs(odds))));
  }
  return sum - (penalty / 2) * at.slice(0, -1).reduce((squares, value) => squares + value * value, 0);
}

interface Slopes {
  readonly gradient: number[];
  /** The lower half of the matrix of second derivatives, with the sign changed: positive definite. */
  readonly curvature: number[][];
}

function slopesAt(rows: readonly TraitRow[], at: readonly number[], penalty: number): Slopes {
  const last = at.length - 1;
  const gradient = at.map((value, index) => (index === last ? 0 : -penalty * value));
  const curvature = at.map((_, index) => {
    const line = new Array<number>(index + 1).fill(0);
    // The intercept has no penalty; the trifle keeps the matrix regular where all leads are of one kind.
    line[index] = index === last ? 1e-9 : penalty;
    return line;
  });
  for (const row of rows) {
    const chance = 1 / (1 + Math.exp(-logOddsOf(row, at)));
    const [miss, weight] = [row.won - row.leads * chance, row.leads * chance * (1 - chance)];
    const indexes = [...row.has, last];
    for (const one of indexes) {
      gradient[one] = (gradient[one] ?? 0) + miss;
      const line = curvature[one] ?? [];
      for (const other of indexes) if (other <= one) line[other] = (line[other] ?? 0) + weight;
    }
  }
  return { gradient, curvature };
}

/** Solves a system of linear equations by the method of Cholesky. @param lower of a positive definite matrix the lower half */
function solve(lower: readonly (readonly number[])[], right: readonly number[]): number[] {
  const factor: number[][] = [];
  for (const [row, line] of lower.entries()) {
    const found: number[] = [];
    for (const [column, value] of line.entries()) {
      const above = column === row ? found : (factor[column] ?? []);
      let rest = value;
      for (let index = 0; index < column; index += 1) rest -= (found[index] ?? 0) * (above[index] ?? 0);
      found.push(column === row ? Math.sqrt(rest) : rest / (above[column] ?? 1));
    }
    factor.push(found);
  }
  const middle: number[] = [];
  for (const [row, line] of factor.entries()) {
    const known = middle.reduce((sum, value, index) => sum + value * (line[index] ?? 0), 0);
    middle.push(((right[row] ?? 0) - known) / (line[row] ?? 1));
  }
  const solution = new Array<number>(middle.length).fill(0);
  for (let row = middle.length - 1; row >= 0; row -= 1) {
    let rest = middle[row] ?? 0;
    for (let below = row + 1; below < middle.length; below += 1)
      rest -= (factor[below]?.[row] ?? 0) * (solution[below] ?? 0);
    solution[row] = rest / (factor[row]?.[row] ?? 1);
  }
  return solution;
}
