import type { FetchNode } from '@apollo/query-planner';
import { isObjectType, Kind, parse, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { asGraphqlError, subgraphError } from './errors.js';
import { merge, share } from './merge.js';
import { compilePath, responsePaths, type PlanPath } from './paths.js';
import { compileRepresentation, type Represent, type Requirement } from './representations.js';
import { compileRewrites } from './rewrites.js';
import type { Row, Run, Step, Variables } from './run.js';
import type { Send, Subgraph, SubgraphAnswer, SubgraphError } from './subgraph.js';

export interface FetchSetting {
  /** The supergraph, with what clients may not see: the planner speaks of all of it. */
  schema: GraphQLSchema;
  subgraph(service: string): Subgraph;
}

/** A plan's fetch: `requires` may say under which key our data has a required field. */
export type Fetch = Omit<FetchNode, 'requires'> & { readonly requires?: readonly Requirement[] };

/** The operation's name tells the place in the plan; without it the same call at another place is the same text. */
const withoutName = (operation: string): string => operation.replace(/^(query|mutation)\s+[_A-Za-z]\w*/, '$1');

/** Compiles a fetch: below a path of the plan it asks entities, or a root type's fields once for all objects there. */
export function compileFetch(fetch: Fetch, path: PlanPath, setting: FetchSetting): Step {
  const send = setting.subgraph(fetch.serviceName).prepare(withoutName(fetch.operation));
  const step = fetch.requires ? entityFetch(fetch, fetch.requires, path, send, setting) : rootFetch(fetch, path, send, setting);
  return async run => {
    try {
      run.request.signal?.throwIfAborted();
      await step(run);
    } catch (error) {
      for (const place of placesOf(fetch, path, run)) run.errors.push(asGraphqlError(error, place));
    }
  };
}

/** Where a client misses what a failed call would have given: the root fields of a call at the top, else the first object that it is about. */
function placesOf({ requires, operation }: Fetch, path: PlanPath, run: Run): ((string | number)[] | undefined)[] {
  if (path.length > 0) return [[...responsePaths(run.data, path).values()][0]?.[0]];
  if (requires) return [undefined];
  const [query] = parse(operation, { noLocation: true }).definitions as [OperationDefinitionNode];
  return query.selectionSet.selections.map(one => (one.kind === Kind.FIELD ? [(one.alias ?? one.name).value] : undefined));
}

/** The client's variables that a fetch uses. */
function variablesOf(names: readonly string[], given: Variables): Variables {
  const used: Row = {};
  for (const name of names) if (Object.hasOwn(given, name) && given[name] !== undefined) used[name] = given[name];
  return used;
}

function rootFetch(fetch: Fetch, path: PlanPath, send: Send, { schema }: FetchSetting): Step {
  const [collect, rewrite, names] = [compilePath(path), compileRewrites(schema, fetch.outputRewrites), fetch.variableUsages ?? []];
  return async run => {
    const targets = collect(run.data);
    if (targets.length === 0) return;
    const { data, errors } = await send(variablesOf(names, run.variables), null, run.request);
    for (const error of errors ?? [])
      run.errors.push(subgraphError(error, fetch.serviceName, error.path && [...(path as string[]), ...error.path]));
    if (!data) return;
    rewrite?.(data);
    if (targets.length > 1) share(data, run);
    for (const target of targets) merge(target, data, run);
  };
}

/** The entities at a path by representation: objects with the same one are asked for once. */
interface Batch {
  /** Objects of the data, for each representation. */
  readonly targets: Row[][];
  /** JSON text of all representations. */
  readonly text: string;
}

function batchOf(objects: readonly Row[], represent: Represent): Batch {
  const index = new Map<string, number>();
  const targets: Row[][] = [];
  for (const object of objects) {
    const text = represent(object);
    if (text === null) continue;
    const at = index.get(text);
    if (at !== undefined) targets[at]!.push(object);
    else index.set(text, targets.push([object]) - 1);
  }
  return { targets, text: [...index.keys()].join(',') };
}

function entityFetch(fetch: Fetch, requires: readonly Requirement[], path: PlanPath, send: Send, { schema }: FetchSetting): Step {
  const [collect, represent, names] = [
    compilePath(path),
    rewritten(fetch, compileRepresentation(schema, requires), schema),
    fetch.variableUsages ?? [],
  ];
  const rewrite = compileRewrites(schema, fetch.outputRewrites);
  return async run => {
    const { targets, text } = batchOf(collect(run.data), represent);
    if (targets.length === 0) return;
    const answer = await send(variablesOf(names, run.variables), text, run.request);
    if (answer.errors) tellErrors(answer.errors, { fetch, path, targets }, run);
    entitiesOf(answer, targets.length)?.forEach((entity, at) => {
      if (entity) mergeEntity(entity, targets[at]!, run);
    });
  };

  /** A subgraph that has the interface as an object knows no types below it: its name of the type must not replace a better one. */
  function mergeEntity(entity: Row, targets: readonly Row[], run: Run): void {
    entity.__typename ??= targets[0]!.__typename;
    rewrite?.(entity);
    if (targets.length > 1) share(entity, run);
    for (const target of targets) {
      if (isObjectType(schema.getType(target.__typename as string))) entity.__typename = target.__typename;
      merge(target, entity, run);
    }
  }
}

/** A representation after the planner's rewrites of it, which name an interface where the subgraph knows only that. */
function rewritten(fetch: Fetch, represent: Represent, schema: GraphQLSchema): Represent {
  const rewrite = compileRewrites(schema, fetch.inputRewrites);
  if (!rewrite) return represent;
  return object => {
    const text = represent(object);
    if (text === null) return null;
    const representation = JSON.parse(text) as Row;
    rewrite(representation);
    return JSON.stringify(representation);
  };
}

/** @throws Error when the answer has not as many entities as were asked for. */
function entitiesOf({ data }: SubgraphAnswer, count: number): readonly (Row | null)[] | null {
  if (!data) return null;
  const entities = data._entities as unknown;
  if (!Array.isArray(entities)) throw new Error('Expected "data._entities" in response to be an array');
  if (entities.length !== count) throw new Error(`Expected "data._entities" to contain ${count} elements`);
  return entities;
}

interface Asked {
  fetch: Fetch;
  path: PlanPath;
  targets: readonly Row[][];
}

/** An error of one entity is told at every place where that entity stands; one of the whole call at the plan's path. */
function tellErrors(errors: readonly SubgraphError[], { fetch, path, targets }: Asked, run: Run): void {
  let places: ReturnType<typeof responsePaths> | undefined;
  for (const error of errors) {
    const at = error.path?.[1];
    if (typeof at !== 'number') {
      run.errors.push(subgraphError(error, fetch.serviceName, error.path && [...path, ...error.path]));
      continue;
    }
    places ??= responsePaths(run.data, path);
    for (const place of (targets[at] ?? []).flatMap(target => places!.get(target) ?? []))
      run.errors.push(subgraphError(error, fetch.serviceName, [...place, ...error.path!.slice(2)]));
  }
}
