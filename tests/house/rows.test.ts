import { buildASTSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { rowList } from '../../rest-adapter/documents/rows.js';
import { planTables } from '../../rest-adapter/plan.js';
import type { Route, RouteTable } from '../../rest-adapter/route.js';
import { tables } from './composition.js';

const schema = buildASTSchema(parse(await readSupergraph()), { assumeValid: true });

/** Exceptions to what is derived, and what a row without them has. */
const WITHOUT = {
  as: undefined,
  constant: undefined,
  omit: undefined,
  body: undefined,
  spread: undefined,
  status: undefined,
  location: undefined,
  pathNames: {},
  queryNames: {},
} as const satisfies Partial<Record<keyof Route, unknown>>;

/** What is derived for a row beside those that its Location may be of; null where it does not fit. */
function derived({ service, routes }: RouteTable, row: Route): string | null {
  const items = routes.filter(
    ({ method, path }) => method === 'GET' && path !== row.path && path.startsWith(row.path.replace(/\/me$/, '')),
  );
  try {
    const [plan] = planTables(schema, [{ service, routes: [row, ...items] }]);
    return `${rowList([plan!])} ${plan!.input.body?.kind}`;
  } catch {
    return null;
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && JSON.stringify(value) !== '{}';

test.each(tables.map(table => [table.service, table] as const))('a row of %s gives only what cannot be derived', (_, table) => {
  const needless = table.routes.flatMap(row =>
    (Object.keys(WITHOUT) as (keyof typeof WITHOUT)[])
      .filter(name => isGiven(row[name]) && derived(table, { ...row, [name]: WITHOUT[name] }) === derived(table, row))
      .map(name => `${row.method} ${row.path}: ${name}`),
  );
  expect(needless).toEqual([]);
});
