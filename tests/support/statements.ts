import { createRequire } from 'node:module';
import type pg from 'pg';
import { vi } from 'vitest';
import type { TestPlatform } from './platform.js';

/** The ORM has a PostgreSQL client of its own. */
export const { Client } = createRequire(createRequire(import.meta.url).resolve('@mikro-orm/postgresql'))('pg') as typeof pg;

export interface Asked {
  text: string;
  values: unknown[];
  /** Of one that the server has planned. */
  name?: string;
  /** The connection. */
  on: unknown;
}

/** What a client's `query` was called with: a statement, after those that were gathered before it. */
function askedOf([one, values]: readonly unknown[], on: unknown): Asked[] {
  const given = one as Partial<Asked> & { beside?: { before: readonly string[] } };
  const before = given.beside?.before.map(text => ({ text, values: [], on })) ?? [];
  return [
    ...before,
    { text: String(given.text ?? one), values: given.values ?? (values as unknown[] | undefined) ?? [], name: given.name, on },
  ];
}

/** Statements on a platform's database from here on. The process may hold another platform, whose timers go on. */
export function listen({ env }: Pick<TestPlatform, 'env'>): { asked(): Asked[]; stop(): void } {
  const database = new URL(env.DATABASE_URL!).pathname.slice(1);
  const query = vi.spyOn(Client.prototype, 'query');
  const asked = (): Asked[] => {
    const { calls, contexts } = query.mock;
    const isOwn = (at: number): boolean => (contexts[at] as unknown as { database: string }).database === database;
    return calls.flatMap((call, at) => (isOwn(at) ? askedOf(call, contexts[at]) : []));
  };
  return { asked, stop: () => query.mockRestore() };
}

/** Statements that a platform asks while something is done. */
export async function askedDuring(p: Pick<TestPlatform, 'env'>, work: () => Promise<unknown>): Promise<Asked[]> {
  const { asked, stop } = listen(p);
  try {
    await work();
    return asked();
  } finally {
    stop();
  }
}
