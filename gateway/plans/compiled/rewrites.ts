import type { FetchDataRewrite } from '@apollo/query-planner';
import type { GraphQLSchema } from 'graphql';
import type { Row } from './rows.js';
import { satisfies } from './types.js';

const FRAGMENT = '... on ';

/** Applies a change to the last key of a path in every object there. A fragment step matches objects of its type, and those without a type name. */
function visitAt(schema: GraphQLSchema, path: readonly string[], value: unknown, change: (object: Row, key: string) => void): void {
  if (Array.isArray(value)) for (const element of value) visitAt(schema, path, element, change);
  else if (value !== null && typeof value === 'object') step(schema, path, value as Row, change);
}

function step(schema: GraphQLSchema, path: readonly string[], object: Row, change: (object: Row, key: string) => void): void {
  const [first, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) change(object, first);
  else if (!first.startsWith(FRAGMENT)) visitAt(schema, rest, object[first], change);
  else if (!object.__typename || satisfies(schema, object.__typename as string, first.slice(FRAGMENT.length)))
    step(schema, rest, object, change);
}

function changeOf(rewrite: FetchDataRewrite): (object: Row, key: string) => void {
  if (rewrite.kind === 'ValueSetter') return (object, key) => (object[key] = rewrite.setValueTo);
  return (object, key) => {
    if (!object[key]) return;
    object[rewrite.renameKeyTo] = object[key];
    object[key] = undefined;
  };
}

type Rewrite = (value: unknown) => void;

/** Compiles the planner's rewrites: of fields that it aliased because the types of a selection differ, and of type names of `@interfaceObject`. Null for none. */
export function compileRewrites(schema: GraphQLSchema, rewrites: readonly FetchDataRewrite[] | undefined): Rewrite | null {
  if (!rewrites?.length) return null;
  const changes = rewrites.filter(({ path }) => path.length > 0).map(rewrite => ({ path: rewrite.path, change: changeOf(rewrite) }));
  return value => {
    for (const { path, change } of changes) visitAt(schema, path, value, change);
  };
}
