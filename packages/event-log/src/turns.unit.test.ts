// Turns: never more at once than are given out, in the order in which they are wanted, and who waits hears that others
// finish.
import { describe, expect, jest, test } from '@jest/globals';
import { createTurns } from './turns.js';

const nothing = () => undefined;

describe('turns', () => {
  test('so many are taken at once, and the next one begins when one ends', async () => {
    const turns = createTurns(2);
    const [first, second] = await Promise.all([turns.take(nothing), turns.take(nothing)]);
    expect([first.waited, second.waited]).toEqual([false, false]);
    const begun: string[] = [];
    const third = turns.take(nothing).then((turn) => (begun.push('third'), turn));
    const fourth = turns.take(nothing).then((turn) => (begun.push('fourth'), turn));
    await Promise.resolve();
    expect(begun).toEqual([]);
    second.end();
    const { waited, end } = await third;
    expect(waited).toBe(true);
    expect(begun).toEqual(['third']);
    end();
    await fourth;
    expect(begun).toEqual(['third', 'fourth']);
  });

  test('a turn that is ended twice frees one place', async () => {
    const turns = createTurns(1);
    const first = await turns.take(nothing);
    first.end();
    first.end();
    await turns.take(nothing);
    let begun = false;
    void turns.take(nothing).then(() => (begun = true));
    await Promise.resolve();
    expect(begun).toBe(false);
  });

  test('who waits hears of every turn that ends', async () => {
    const turns = createTurns(1);
    const first = await turns.take(nothing);
    const heard = jest.fn();
    const second = turns.take(nothing);
    void turns.take(heard);
    first.end();
    expect(heard).toHaveBeenCalledTimes(1);
    (await second).end();
  });

  test('who is urgent goes before others who wait, once, and not before who is urgent too', async () => {
    const turns = createTurns(1);
    const first = await turns.take(nothing);
    const begun: string[] = [];
    const wanted = ['a', 'b', 'C', 'D', 'e', 'F'].map(async (name) => {
      const { end } = await turns.take(nothing, name === name.toUpperCase());
      begun.push(name);
      end();
    });
    first.end();
    await Promise.all(wanted);
    expect(begun.join('')).toBe('CabDFe');
  });
});
