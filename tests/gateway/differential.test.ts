/**
 * The compiled executor against the stock one: the same generated operations on the same subgraphs, with nulls and errors in them.
 * `DIFFERENTIAL_OPERATIONS=20000` runs more, `DIFFERENTIAL_FROM=20001` others, `DIFFERENTIAL_SEED=7` one of them.
 */
import { parse, print } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { ResponseNames } from '../../gateway/plans/compiled/response-names.js';
import type { Executor, FederatedResult } from '../../gateway/plans/executor.js';
import { internalRequest } from '../../runtime/request/request.js';
import { ANONYMOUS } from '../../runtime/request/caller.js';
import { startPair, type Pair } from './federation/gateways.js';
import { operationOf, type Generated } from './federation/operations.js';
import { SUBGRAPHS } from './federation/subgraphs.js';
import { answerOfWhole } from './federation/whole.js';

const OPERATIONS = Number(process.env.DIFFERENTIAL_OPERATIONS ?? 2_000);
const FROM = Number(process.env.DIFFERENTIAL_FROM ?? 1);
const ONLY = process.env.DIFFERENTIAL_SEED;
const PER_TEST = 250;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair(SUBGRAPHS);
});

/** On some operations the planner throws; then both executors throw the same. */
async function run(executor: Executor, { source, variables }: Generated): Promise<FederatedResult> {
  try {
    return await executor.execute(
      { document: parse(source), source, key: source, operationName: null, variables },
      internalRequest(ANONYMOUS),
    );
  } catch (error) {
    return { data: { thrown: (error as Error).message }, errors: [] };
  }
}

const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value ?? null)) as T;

interface ErrorAt {
  message: string;
  path?: readonly (string | number)[];
}

const failed = ({ data }: FederatedResult): boolean => data !== null && 'thrown' in data;

/** The answer without the order of keys and of errors. */
function comparable({ data, errors, extensions }: FederatedResult): object {
  const lines = (list: readonly ErrorAt[]) => list.map(({ message, path }) => `${message} at ${path?.join('.') ?? '-'}`).sort();
  return { data: plain(data), errors: lines(errors), completion: lines(plain((extensions?.valueCompletion ?? []) as ErrorAt[])) };
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  return value !== null && typeof value === 'object'
    ? Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, one]) => [key, sorted(one)]),
      )
    : value;
};
const same = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(plain(a))) === JSON.stringify(sorted(plain(b)));

/**
 * Whether the stock executor answers as the compiled one when no response name can equal the name of a field that a plan fetches: then the
 * names were the cause, one of the stock executor's defects.
 */
async function areNamesTheCause(generated: Generated, got: FederatedResult): Promise<boolean> {
  const { document, names } = new ResponseNames(pair.supergraph, pair.apiSchema).rename(parse(generated.source));
  if (names.size === 0) return false;
  const respelled = await run(pair.stock, { ...generated, source: print(document) });
  const text = JSON.stringify(respelled.data).replace(/"(client_\w+)":/g, (all, name: string) =>
    names.has(name) ? `"${names.get(name)}":` : all,
  );
  return same(JSON.parse(text), got.data);
}

/** Which executor is right, without troubles: a single service with the same data decides. */
async function verdictOf(generated: Generated): Promise<'stock is wrong' | 'the plan is wrong' | null> {
  pair.trouble({ seed: 0, nulls: 0, errors: 0 });
  const whole = await answerOfWhole(pair.apiSchema, [...pair.sources.values()], generated);
  const [stock, compiled] = [await run(pair.stock, generated), await run(pair.compiled, generated)];
  if (same(stock.data, whole)) return null;
  if (same(compiled.data, whole)) return 'stock is wrong';
  return /@(skip|include)/.test(generated.source) ? 'the plan is wrong' : null;
}

/** Whether the answers differ only in paths of errors, and each path of the compiled one ends at a null: the stock executor counts wrong in mixed lists. */
function arePathsBetter(got: FederatedResult, wanted: FederatedResult): boolean {
  const messages = ({ errors }: FederatedResult) => errors.map(error => error.message).sort();
  const endsAtNull = (path: readonly (string | number)[] = []) => {
    let value: any = got.data;
    for (const step of path) value = value?.[step];
    return (value ?? null) === null;
  };
  return same(got.data, wanted.data) && same(messages(got), messages(wanted)) && got.errors.every(error => endsAtNull(error.path));
}

/** Over the network the bytes are the same, and so are the errors but for their order. */
async function expectSameRemotely(generated: Generated, got: FederatedResult): Promise<void> {
  const remote = await run(pair.remote, generated);
  expect(remote.text, generated.source).toBe(got.text);
  expect(comparable(remote), generated.source).toEqual(comparable(got));
}

/** Seeds of operations on which the stock executor is wrong; executor.test.ts has a test for each of its defects. */
const defects: number[] = [];
/** Seeds of operations whose plan leaves out, under a condition, a field that it needs: then neither executor can answer. */
const wrongPlans: number[] = [];

test.each(Array.from({ length: ONLY ? 1 : OPERATIONS / PER_TEST }, (_, at) => at))(
  'generated operations, part %i: both executors answer the same',
  { timeout: 120_000 },
  async part => {
    const seeds = ONLY ? [Number(ONLY)] : Array.from({ length: PER_TEST }, (_, at) => FROM + part * PER_TEST + at);
    for (const seed of seeds) {
      const generated = operationOf(pair.apiSchema, seed);
      pair.trouble({ seed, nulls: [0, 30, 100][seed % 3]!, errors: [0, 20, 60, 0][seed % 4]! });
      const [wanted, got] = [await run(pair.stock, generated), await run(pair.compiled, generated)];
      await expectSameRemotely(generated, got);
      if (same(comparable(got), comparable(wanted))) continue;
      const isOurs = (failed(wanted) && !failed(got)) || arePathsBetter(got, wanted) || (await areNamesTheCause(generated, got));
      const verdict = isOurs ? 'stock is wrong' : await verdictOf(generated);
      if (verdict === 'stock is wrong') defects.push(seed);
      else if (verdict === 'the plan is wrong') wrongPlans.push(seed);
      else expect(comparable(got), `seed ${seed}: ${generated.source}\n${JSON.stringify(generated.variables)}`).toEqual(comparable(wanted));
    }
  },
);

test('few operations meet a defect of the stock executor or of the planner', () => {
  expect(defects.length).toBeLessThanOrEqual(OPERATIONS * 0.02);
  expect(wrongPlans.length).toBeLessThanOrEqual(OPERATIONS * 0.002);
});
