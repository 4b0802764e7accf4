import type { FetchNode } from '@apollo/query-planner';
import { isObjectType, Kind, parse, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import type { EntityDocument } from './call.js';
import { asGraphqlError, subgraphError } from './errors.js';
import { merge, share } from './merge.js';
import { compilePath, responsePaths, type PlanPath } from './paths.js';
import type { PlanChecks } from './plan-checks.js';
import { compileRepresentation, type Represent, type Requirement } from './representations.js';
import { compileRewrites } from './rewrites.js';
import type { Run, Step } from './run.js';
import { isRow, type Row, type Variables } from './rows.js';
import type { FetchDocuments } from './fetch-documents.js';
import type { SubgraphAnswer, SubgraphError } from './subgraph.js';

export interface FetchSetting {
  /** The whole supergraph, because plans also name types that clients may not see. */
  schema: GraphQLSchema;
  checks: PlanChecks;
  documents: FetchDocuments;
  /** Services of which the plan may ask for entities in several branches at once. */
  gathering: ReadonlySet<string>;
  /** Whether the fetch is the whole plan. */
  isWhole: boolean;
}

/** A plan's fetch. `requires` may name the key under which the data holds a required field. */
export type Fetch = Omit<FetchNode, 'requires'> & { readonly requires?: readonly Requirement[] };

/** The planner names an operation after its position in the plan; without the name, equal fetches have equal texts. */
const withoutName = (operation: string): string => operation.replace(/^(query|mutation)\s+[_A-Za-z]\w*/, '$1');

/** Compiles a fetch at a path: of entities, or of a root type's fields, which are fetched once for all objects at the path. */
export function compileFetch(fetch: Fetch, path: PlanPath, setting: FetchSetting): Step {
  setting.checks.checkFetch(fetch);
  const document = setting.documents.of(fetch.serviceName, withoutName(fetch.operation));
  const step = stepOf(fetch, path, document, setting);
  return async run => {
    try {
      run.request.signal?.throwIfAborted();
      await step(run);
    } catch (error) {
      for (const at of failedPaths(fetch, path, run)) run.errors.push(asGraphqlError(error, at));
    }
  };
}

function stepOf(fetch: Fetch, path: PlanPath, document: EntityDocument, setting: FetchSetting): Step {
  if (fetch.requires) return entityFetch(fetch, fetch.requires, path, document, setting);
  return setting.isWhole ? wholeFetch(fetch, document, setting) : rootFetch(fetch, path, document, setting);
}

/** Paths at which the client lacks the data of a failed call: its root fields for a call at the top, else the first of its objects. */
function failedPaths({ requires, operation }: Fetch, path: PlanPath, run: Run): ((string | number)[] | undefined)[] {
  if (path.length > 0) return [[...responsePaths(run.data, path).values()][0]?.[0]];
  if (requires) return [undefined];
  const [query] = parse(operation, { noLocation: true }).definitions as [OperationDefinitionNode];
  return query.selectionSet.selections.map(one => (one.kind === Kind.FIELD ? [(one.alias ?? one.name).value] : undefined));
}

/** Those of the client's variables that a fetch uses. */
function variablesOf(names: readonly string[], given: Variables): Variables {
  const used: Row = {};
  for (const name of names) if (Object.hasOwn(given, name) && given[name] !== undefined) used[name] = given[name];
  return used;
}

/** The only fetch of a plan: its answer is the data, so nothing is merged, and its text is not read where it may be handed on. */
function wholeFetch(fetch: Fetch, document: EntityDocument, { schema }: FetchSetting): Step {
  const [rewrite, names] = [compileRewrites(schema, fetch.outputRewrites), fetch.variableUsages ?? []];
  const sendUnread = document.subgraph.prepareUnread?.(document.text);
  return async run => {
    const variables = variablesOf(names, run.variables);
    const answer = await (run.handsOn && sendUnread ? sendUnread(variables, run.request) : run.calls.sendAlone(document, variables, null));
    if ('text' in answer) run.text = answer.text;
    else takeWhole(answer, run);
  };

  function takeWhole({ data, errors }: SubgraphAnswer, run: Run): void {
    for (const error of errors ?? []) run.errors.push(subgraphError(error, fetch.serviceName, error.path));
    if (!isRow(data)) return;
    rewrite?.(data);
    run.data = data;
  }
}

function rootFetch(fetch: Fetch, path: PlanPath, document: EntityDocument, { schema }: FetchSetting): Step {
  const [collect, rewrite, names] = [compilePath(path), compileRewrites(schema, fetch.outputRewrites), fetch.variableUsages ?? []];
  return async run => {
    const targets = collect(run.data);
    if (targets.length === 0) return;
    const { data, errors } = await run.calls.sendAlone(document, variablesOf(names, run.variables), null);
    for (const error of errors ?? [])
      run.errors.push(subgraphError(error, fetch.serviceName, error.path && [...(path as string[]), ...error.path]));
    if (!data) return;
    rewrite?.(data);
    if (targets.length > 1) share(data, run);
    for (const target of targets) merge(target, data, run);
  };
}

/** The entities at a path by representation: objects with equal ones are fetched once. */
interface Batch {
  /** For each representation, the objects of the data that it stands for. */
  readonly targets: Row[][];
  /** JSON texts of the representations. */
  readonly texts: readonly string[];
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
  return { targets, texts: [...index.keys()] };
}

/** Asks for entities by the texts of their representations. */
type Ask = (variables: Variables, texts: readonly string[], run: Run) => Promise<SubgraphAnswer>;

const askFor = (document: EntityDocument, gathers: boolean): Ask =>
  gathers
    ? (variables, texts, run) => run.calls.send(document, variables, texts)
    : (variables, texts, run) => run.calls.sendAlone(document, variables, texts.join(','));

function entityFetch(
  fetch: Fetch,
  requires: readonly Requirement[],
  path: PlanPath,
  document: EntityDocument,
  setting: FetchSetting,
): Step {
  const { schema, gathering } = setting;
  const ask = askFor(document, gathering.has(fetch.serviceName));
  const [collect, represent, names] = [
    compilePath(path),
    rewritten(fetch, compileRepresentation(schema, requires), schema),
    fetch.variableUsages ?? [],
  ];
  const rewrite = compileRewrites(schema, fetch.outputRewrites);
  return async run => {
    const { targets, texts } = batchOf(collect(run.data), represent);
    if (targets.length === 0) return;
    const answer = await ask(variablesOf(names, run.variables), texts, run);
    if (answer.errors) addErrors(answer.errors, { fetch, path, targets }, run);
    entitiesOf(answer, targets.length)?.forEach((entity, at) => {
      if (entity) mergeEntity(entity, targets[at]!, run);
    });
  };

  /** A subgraph with an `@interfaceObject` answers the interface's name as `__typename`; it must not replace the name of the object's type. */
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

/** Applies the planner's rewrites to representations: they name the interface for a subgraph that knows only the interface. */
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

/** @throws Error when the answer has another number of entities than the fetch asked for. */
function entitiesOf({ data }: SubgraphAnswer, count: number): readonly (Row | null)[] | null {
  if (!data) return null;
  const entities = data._entities as unknown;
  if (!Array.isArray(entities)) throw new Error('Expected "data._entities" in response to be an array');
  if (entities.length !== count) throw new Error(`Expected "data._entities" to contain ${count} elements`);
  return entities;
}

interface EntityCall {
  fetch: Fetch;
  path: PlanPath;
  targets: readonly Row[][];
}

/** Adds an error of one entity at every path of that entity, and one of the whole call at the plan's path. */
function addErrors(errors: readonly SubgraphError[], { fetch, path, targets }: EntityCall, run: Run): void {
  let paths: ReturnType<typeof responsePaths> | undefined;
  for (const error of errors) {
    const at = error.path?.[1];
    if (typeof at !== 'number') {
      run.errors.push(subgraphError(error, fetch.serviceName, error.path && [...path, ...error.path]));
      continue;
    }
    paths ??= responsePaths(run.data, path);
    for (const found of (targets[at] ?? []).flatMap(target => paths!.get(target) ?? []))
      run.errors.push(subgraphError(error, fetch.serviceName, [...found, ...error.path!.slice(2)]));
  }
}
