import type { Call, Share } from './call.js';
import { entitiesName } from './merged-documents.js';
import type { Row } from './rows.js';
import type { SubgraphAnswer, SubgraphError } from './subgraph.js';

/** A copy whose objects are nobody else's. */
export function copyOf<T>(value: T): T {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  const copy: Row = {};
  for (const key in value) {
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: copyOf(value[key]), enumerable: true, configurable: true, writable: true });
    else copy[key] = copyOf(value[key]);
  }
  return copy as T;
}

/** The answer to a call whose number of entities is wrong: no share's number is 0, so each reports it. */
const NO_ENTITIES: SubgraphAnswer = { data: { _entities: [] } };

/** The answers of the shares of one call. An entity's objects belong to the first share that has it, the others get copies. */
export function answersOfShares(answer: SubgraphAnswer, { shares, count }: Call): SubgraphAnswer[] {
  const entities = answer.data?._entities as unknown;
  if (shares.length === 1) return [answer];
  if (!Array.isArray(entities)) return shares.map(share => ({ data: answer.data, errors: errorsOfShare(answer.errors, share) }));
  if (entities.length !== count) return shares.map(() => NO_ENTITIES);
  const taken = new Set<number>();
  const take = (place: number): unknown => {
    if (taken.has(place)) return copyOf(entities[place] as unknown);
    taken.add(place);
    return entities[place];
  };
  const copies = shares.map(({ places }) => places.map(take));
  return shares.map((share, at) => ({
    data: { _entities: copies[at] },
    errors: errorsOfShare(answer.errors, share),
  }));
}

/** The errors of a share's entities at their places in the share, and those of the whole call. */
function errorsOfShare(errors: readonly SubgraphError[] | undefined, { places }: Share): SubgraphError[] | undefined {
  return errors?.flatMap(error => {
    const [field, place, ...rest] = error.path ?? [];
    if (typeof place !== 'number') return [error];
    const at = places.indexOf(place);
    return at < 0 ? [] : [{ ...error, path: [field!, at, ...rest] }];
  });
}

/** The answers of the calls that were sent as one; null when there is no data for all of them. */
export function answersOfCalls({ data, errors }: SubgraphAnswer, count: number): SubgraphAnswer[] | null {
  const names = Array.from({ length: count }, (_, at) => entitiesName(at));
  if (!data || !names.every(name => Array.isArray(data[name]))) return null;
  return names.map(name => ({ data: { _entities: data[name] }, errors: errors && errorsOfCall(errors, name) }));
}

function errorsOfCall(errors: readonly SubgraphError[], name: string): SubgraphError[] {
  return errors.flatMap(error => {
    const [field, ...rest] = error.path ?? [];
    if (field === undefined) return [error];
    return field === name ? [{ ...error, path: ['_entities', ...rest] }] : [];
  });
}
