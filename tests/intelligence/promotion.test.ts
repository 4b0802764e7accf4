/**
 * Whether looking again and again promotes what is better and nothing else. `PROMOTION_RUNS=200 npm test -- tests/intelligence/promotion` runs as many as
 * the contract says, in some minutes.
 */
import { describe, expect, test } from 'vitest';
import { pairedLift, type LoggedRow } from '../../subgraphs/intelligence/rules/off-policy.js';
import { epsilonGreedy, pointMass } from '../../subgraphs/intelligence/rules/exploration.js';
import { crossFit } from '../../subgraphs/intelligence/rules/reward-model.js';
import { drawIndex, uniformsOf, type Uniform } from '../../subgraphs/intelligence/rules/sampling.js';
import { lookAt, nextBound, type Look } from '../../subgraphs/intelligence/rules/sequential.js';

const RUNS = Number(process.env.PROMOTION_RUNS ?? 20);
const EPSILON = 0.05;
const IDS = ['a', 'b', 'c'];
const [A, B] = [0, 1];
const ALL = 20_000;
const LOOKS_A_YEAR = 13;

/** Two contexts, three candidates; the champion serves `a`, the challenger `b` in the second context, which is worth `lift` more there. */
const rate = (lift: number, context: number, action: number): number => 0.3 + (context === 1 && action === B ? lift : 0);
const served = (action: number): readonly number[] => epsilonGreedy(pointMass(IDS.length, action), EPSILON);
const champion = [served(A), served(A)];
const challenger = [served(A), served(B)];

interface Decision {
  context: number;
  action: number;
  reward: number;
}

function decisionOf(next: Uniform, lift: number): Decision {
  const context = Math.floor(next() * 2);
  const action = drawIndex(champion[context]!, next());
  return { context, action, reward: Number(next() < rate(lift, context, action)) };
}

const rowsOf = (
  log: readonly Decision[],
  policy: readonly (readonly number[])[],
  q: readonly (readonly (readonly number[])[])[],
): LoggedRow[] =>
  log.map(({ context, action, reward }, index) => ({
    reward,
    propensity: champion[context]![action]!,
    target: policy[context]![action]!,
    q: q[index % 2]![context]![action]!,
    expected: policy[context]!.reduce((sum, probability, other) => sum + probability * q[index % 2]![context]![other]!, 0),
  }));

/** The lift of the challenger over the champion by DR. */
function liftOf(log: readonly Decision[]): NonNullable<ReturnType<typeof pairedLift>> {
  const data = log.map(({ context, action, reward }) => ({ action: IDS[action]!, x: [context], reward }));
  const modelOf = crossFit(data, index => (index % 2) as 0 | 1);
  const q = [0, 1].map(fold => [0, 1].map(context => IDS.map(id => modelOf(fold)([context], id))));
  return pairedLift(rowsOf(log, challenger, q), rowsOf(log, champion, q))!;
}

/** Whether one of the looks after so many decisions proposes. */
function isProposed(seed: number, lift: number, sizes: readonly number[]): boolean {
  const next = uniformsOf(seed * 7919 + 31);
  const log: Decision[] = [];
  const looks: Look[] = [];
  for (const size of sizes) {
    while (log.length < size) log.push(decisionOf(next, lift));
    const seen = lookAt(liftOf(log), looks);
    if (seen && seen.low > 0) return true;
    if (seen) looks.push(seen.look);
  }
  return false;
}

const share = (lift: number, sizes: readonly number[]): number =>
  Array.from({ length: RUNS }, (_, seed) => Number(isProposed(seed + 1, lift, sizes))).reduce((sum, one) => sum + one, 0) / RUNS;

/** 28 days apart, from nothing to 20,000, and from 20,000 on at the same rate. */
const growing = Array.from({ length: LOOKS_A_YEAR }, (_, look) => Math.round((ALL * (look + 1)) / LOOKS_A_YEAR));
const goingOn = growing.map(size => ALL + size - growing[0]!);

describe('with three candidates under the default ε of 0.05, base 0.30 and a lift of 0.12 in half of the contexts', () => {
  test.each([
    { when: 'at the first look at 20,000 matured decisions', sizes: [ALL] },
    { when: 'by one of the looks of a year until there are 20,000', sizes: growing },
  ])('the better challenger is proposed in at least 80 % of runs $when', { timeout: 600_000 }, ({ sizes }) =>
    expect(share(0.12, sizes)).toBeGreaterThanOrEqual(0.8),
  );

  test.each([
    { what: 'an equal', lift: 0, when: 'until there are 20,000', sizes: growing },
    { what: 'an equal', lift: 0, when: 'from 20,000 on', sizes: goingOn },
    { what: 'a worse', lift: -0.06, when: 'until there are 20,000', sizes: growing },
  ])('$what challenger is proposed in at most 5 % of runs over the looks of a year $when', { timeout: 600_000 }, ({ lift, sizes }) =>
    expect(share(lift, sizes)).toBeLessThanOrEqual(0.05),
  );
});

describe('the bounds of looks', () => {
  const planned = (2.8 / 0.05) ** 2;

  test('follow the information that there is: 0.0275 of error is spent on the first look at what is planned', () => {
    expect(nextBound([], planned)).toBeCloseTo(1.9189, 3);
    expect(nextBound([], planned / 4)).toBeCloseTo(2.7028, 3); // (1/4)^1.5 of it
    expect(nextBound([], 1e9)).toBeCloseTo(1.8119, 3); // 0.035 in all
  });

  test('a look that adds nothing is none', () => {
    const lift = (se: number) => ({ value: 1, se, degrees: Infinity });
    const { look } = lookAt(lift(0.02), [])!;
    expect(look.information).toBeCloseTo(2500, 9);
    expect(lookAt(lift(0.02), [look])).toBeNull();
    expect(lookAt(lift(0.0196), [look])).toBeNull(); // 1.04 of the information
    expect(lookAt(lift(0.0195), [look])).not.toBeNull();
    expect(lookAt(lift(0), [])).toBeNull();
  });

  test('an interval is wider by few degrees of freedom', () => {
    const { low, high, look } = lookAt({ value: 0.1, se: 0.02, degrees: 8 }, [])!;
    const plain = lookAt({ value: 0.1, se: 0.02, degrees: Infinity }, [])!;
    expect(plain.high - 0.1).toBeCloseTo(look.bound * 0.02, 12);
    expect(0.1 - plain.low).toBeCloseTo(look.bound * 0.02, 12);
    expect((high - low) / (plain.high - plain.low)).toBeGreaterThan(1.15);
  });

  /** Standard normal numbers. Source: Box and Muller 1958. */
  const normalOf = (next: Uniform) => (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

  test.each([
    { when: 'a month apart for a year', shares: Array.from({ length: 13 }, (_, look) => (look + 1) / 13) },
    { when: 'once late, then often', shares: [1, 1.1, 1.3, 1.5, 2, 3, 8] },
    { when: 'early, then late', shares: [0.02, 0.05, 0.9] },
  ])('are exceeded by chance in so many paths as the error that is spent, at most 3.5 %: $when', ({ shares }) => {
    const informations = shares.map(one => one * planned);
    const looks: Look[] = [];
    for (const information of informations) looks.push({ information, bound: nextBound(looks, information) });
    const normal = normalOf(uniformsOf(4711));
    const PATHS = 40_000;
    let crossed = 0;
    for (let path = 0; path < PATHS; path++) {
      let [sum, before] = [0, 0];
      crossed += Number(
        looks.some(({ information, bound }) => {
          sum += Math.sqrt(information - before) * normal();
          before = information;
          return sum / Math.sqrt(information) > bound;
        }),
      );
    }
    const last = informations.at(-1)! / planned;
    const spent = 0.0275 * Math.min(1, last) ** 1.5 + 0.0075 * (1 - 1 / Math.max(1, last));
    expect(spent).toBeLessThanOrEqual(0.035);
    expect(Math.abs(crossed / PATHS - spent)).toBeLessThanOrEqual(3 * Math.sqrt((spent * (1 - spent)) / PATHS));
  });
});
