import type { SubgraphAnswer, SubgraphError } from '../plans/compiled/subgraph.js';
import { MAX_ENTITIES, MAX_TEXT } from '../plans/subgraph-source.js';

/** JSON text of the shortest representation, characters: `{"__typename":"A"}`. */
const SHORTEST = 18;

/** Part of the representations of a fetch. */
interface Batch {
  /** JSON texts of the elements, separated by commas. */
  readonly text: string;
  readonly count: number;
}

/** Splits representations into batches that a subgraph accepts; null for those that are one batch anyway. */
export function batchesOf(representations: string): Batch[] | null {
  if (representations.length <= Math.min(MAX_TEXT, MAX_ENTITIES * SHORTEST)) return null;
  const batches: Batch[] = [];
  let [texts, length]: [string[], number] = [[], 0];
  const end = (): void => {
    if (texts.length > 0) batches.push({ text: texts.join(','), count: texts.length });
    [texts, length] = [[], 0];
  };
  for (const one of JSON.parse(`[${representations}]`) as unknown[]) {
    const text = JSON.stringify(one);
    if (texts.length === MAX_ENTITIES || length + text.length > MAX_TEXT) end();
    texts.push(text);
    length += text.length;
  }
  end();
  return batches.length > 1 ? batches : null;
}

/** The error at its place in the whole list. */
const shifted = (error: SubgraphError, by: number): SubgraphError => {
  const [field, at, ...rest] = error.path ?? [];
  return typeof at === 'number' ? { ...error, path: [field!, at + by, ...rest] } : error;
};

/** Asks for the batches one after the other, so that other calls have their turn between them, and puts their answers together. */
export async function inBatches(batches: readonly Batch[], ask: (text: string) => Promise<SubgraphAnswer>): Promise<SubgraphAnswer> {
  const entities: unknown[] = [];
  const errors: SubgraphError[] = [];
  for (const { text, count } of batches) {
    const answer = await ask(text);
    for (const error of answer.errors ?? []) errors.push(shifted(error, entities.length));
    const found = answer.data?._entities as unknown[] | null | undefined;
    entities.push(...(found ?? Array.from({ length: count }, () => null)));
  }
  return { data: { _entities: entities }, ...(errors.length > 0 && { errors }) };
}
