import { Utils } from '@mikro-orm/postgresql';
import type { Context } from '../request/context.js';

type EntityManager = Context['em'];

/** Marks an entity in a kept answer: its class. */
const ENTITY = '$entity';

interface Kept {
  [ENTITY]: string;
  id: string;
  /** What it was; for a row that is gone when the answer is given again. */
  was: unknown;
}

const isKept = (value: unknown): value is Kept => typeof value === 'object' && value !== null && ENTITY in value;

/** An answer as text. Entities in it are kept by their ids, too, because JSON knows neither their bytes nor what their classes derive. */
export const textOf = (answer: unknown): string =>
  JSON.stringify(answer ?? null, function (this: Record<string, unknown>, key, value: unknown) {
    const given = this[key];
    const isPart = key !== '' && Utils.isEntity<{ id?: unknown }>(given) && typeof given.id === 'string';
    return isPart ? { [ENTITY]: given.constructor.name, id: given.id, was: value } : value;
  });

/** The rows of one class, by id. */
async function rowsOf(em: EntityManager, name: string, ids: readonly string[]): Promise<[string, object][]> {
  const meta = em.getMetadata().getByClassName(name, false);
  if (!meta) return [];
  const rows = (await em.find(meta.class, { id: { $in: ids } } as object)) as { id: string }[];
  return rows.map(row => [`${name} ${row.id}`, row]);
}

function restored(value: unknown, rows: ReadonlyMap<string, object>): unknown {
  if (isKept(value)) return rows.get(`${value[ENTITY]} ${value.id}`) ?? restored(value.was, rows);
  if (Array.isArray(value)) return value.map(one => restored(one, rows));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, restored(one, rows)]));
}

/** The answer of {@link textOf}, its entities read again: one statement for each class. */
export async function answerOf(em: EntityManager, text: string): Promise<unknown> {
  const parts = new Map<string, Set<string>>();
  const answer: unknown = JSON.parse(text, (_key, value: unknown) => {
    if (isKept(value)) parts.set(value[ENTITY], (parts.get(value[ENTITY]) ?? new Set()).add(value.id));
    return value;
  });
  const rows = await Promise.all([...parts].map(([name, ids]) => rowsOf(em, name, [...ids])));
  return restored(answer, new Map(rows.flat()));
}
