import type { TestPlatform } from './platform.js';

interface Plan {
  'Actual Rows': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

const mostRows = ({ 'Actual Rows': rows, 'Rows Removed by Filter': removed = 0, Plans = [] }: Plan): number =>
  Math.max(rows + removed, ...Plans.map(mostRows));

/** The most rows that a step of a statement reads. */
export async function rowsRead(p: TestPlatform, statement: string, params: readonly unknown[] = []): Promise<number> {
  const [row] = await p.sql<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, format json) ${statement}`, [...params]);
  return mostRows(row!['QUERY PLAN'][0]!.Plan);
}
