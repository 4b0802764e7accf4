/** A route made ready: its operation derived and checked against the schema, variables, response converter and access rules compiled. */
import {
  Kind,
  parse,
  validate,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { Slug } from '../events/slugs.js';
import { ruleOnNode, type AccessRule } from '../runtime/access/rules.js';
import { answerConverter, type Convert } from './answer.js';
import { deriveOperation, type DerivedOperation, type Step } from './derive.js';
import { pointerTranslator } from './pointers.js';
import { isMe, misfit, parametersIn, type Route, type RouteTable } from './route.js';
import { shapeOfField, type Shape } from './shape.js';
import type { Variable } from './sources.js';
import { compileVariables, type VariablePlan } from './variables.js';
import { toCamel, toSnake } from '../runtime/schema/wire-names.js';

type Statuses = readonly [number, ...number[]];

export interface Plan {
  slug: Slug;
  route: Route;
  /** `POST /clinical/v1/retest-cycles`: unique, so it keys caches of the executor. */
  key: string;
  /** Documented success statuses, the default one first. */
  status: Statuses;
  /** `Location` of a 201 or 202, relative to the service; null for none. */
  location: string | null;
  document: DocumentNode;
  /** Text of the document. */
  source: string;
  operationName: string;
  isMutation: boolean;
  /** Rules of the fields on the way to `result`, outermost first; null for a root field without one, which nobody may call. On a "me" path without what they say of staff. */
  rules: readonly (AccessRule | null)[];
  isPublic: boolean;
  /** Has a `me` segment, so a service token is refused. Source: identity A6. */
  isMe: boolean;
  variables: readonly Variable[];
  input: VariablePlan;
  /** Response keys from `data` to the answer, the last one is `result`. */
  resultPath: readonly string[];
  /** Names of the fields on that way: `['me', 'settings']`. */
  fieldPath: readonly string[];
  /** The field whose value is the answer. */
  field: GraphQLField<unknown, unknown>;
  shape: Shape;
  answer: Convert;
  /** Pointer of a subgraph's violation -> pointer into what the caller wrote. */
  wirePointer: (pointer: string) => string;
}

/** A row with its operation, which is not checked yet. */
interface Derived {
  route: Route;
  operation: DerivedOperation;
  document: DocumentNode;
}

function derive(schema: GraphQLSchema, route: Route): Derived {
  const operation = deriveOperation(schema, route);
  return { route, operation, document: parse(operation.source, { noLocation: true }) };
}

/** @throws Error for a document that the schema refuses. */
function check(schema: GraphQLSchema, document: DocumentNode): void {
  const errors = validate(schema, document);
  if (errors.length > 0) misfit(errors.map(error => error.message).join('; '));
}

/** All documents of a table as one, because each validation begins with a look at every type of the supergraph. */
const areValid = (schema: GraphQLSchema, all: readonly Derived[]): boolean =>
  validate(schema, { kind: Kind.DOCUMENT, definitions: all.flatMap(({ document }) => document.definitions) }).length === 0;

/** The node of the answer: each level above it selects one field. */
function answerNode(document: DocumentNode, depth: number): FieldNode {
  let node = document.definitions[0] as OperationDefinitionNode | FieldNode;
  for (let level = 0; level < depth; level++) node = node.selectionSet!.selections[0] as FieldNode;
  return node as FieldNode;
}

/** The root's rule counts even where it is missing (null); below it a field without one has its parent's. */
const rulesOf = (way: readonly Step[]): (AccessRule | null)[] =>
  way.map(({ field }) => ruleOnNode(field.astNode)).filter((rule, depth) => depth === 0 || rule !== null);

/** Staff are on a "me" path as the user they are, by the scopes of their app. Source: identity A6. */
const asOwner = (rule: AccessRule | null): AccessRule | null => rule && { ...rule, staff: undefined };

const hasMember = (shape: Shape, name: string): boolean => shape.kind === 'object' && shape.members.some(member => member.wire === name);

function statusOf({ status, redirect, method }: Route): Statuses {
  if (status !== undefined) return typeof status === 'number' ? [status] : status;
  return [redirect !== undefined ? 302 : method === 'DELETE' ? 204 : 200];
}

/** A redirect is the one success of its route, and its address is in the answer. */
function checkRedirect({ redirect }: Route, status: Statuses, shape: Shape): void {
  if ((redirect !== undefined) !== status.includes(302) || (redirect && status.length > 1)) misfit('a redirect has the status 302 alone');
  if (redirect && !hasMember(shape, redirect)) misfit(`the redirect needs ${redirect}, which the answer lacks`);
}

/** Whether the answer or the path has every `{name}` of a `Location`. */
const missingIn = (location: string, { path }: Route, shape: Shape): string | undefined =>
  parametersIn(location).find(name => !hasMember(shape, name) && !path.includes(`{${name}}`));

/** The address of one of what the row makes: the path of the GET row with one `{parameter}` below the row's own path, `me` left out. */
function itemOf(route: Route, routes: readonly Route[]): string | null {
  const collection = route.path.replace(/\/me$/, '');
  for (const { method, path, pathNames } of routes) {
    const name = path.startsWith(collection) ? /^\/\{([^}]+)\}$/.exec(path.slice(collection.length))?.[1] : undefined;
    if (method === 'GET' && name !== undefined) return `${collection}/{${toSnake(pathNames[name] ?? toCamel(name))}}`;
  }
  return null;
}

function locationOf(route: Route, routes: readonly Route[], status: Statuses, shape: Shape): string | null {
  if (route.location !== undefined) {
    const missing = missingIn(route.location, route, shape);
    return missing === undefined ? route.location : misfit(`Location needs ${missing}, which the answer lacks`);
  }
  const item = status.includes(201) || status.includes(202) ? itemOf(route, routes) : null;
  return item !== null && missingIn(item, route, shape) === undefined ? item : null;
}

function compile(schema: GraphQLSchema, { service, routes }: RouteTable, { route, operation, document }: Derived): Plan {
  const { way, variables, source, name, isMutation } = operation;
  const { parent, field } = way.at(-1)!;
  const shape = shapeOfField(schema, parent, answerNode(document, way.length));
  const rules = isMe(route) ? rulesOf(way).map(asOwner) : rulesOf(way);
  const status = statusOf(route);
  const fieldPath = way.map(step => step.field.name);
  const isPublic = rules.every(rule => rule?.public === true);
  checkRedirect(route, status, shape);
  if (route.maxAge !== undefined && !(isPublic && route.etag)) misfit('only a public answer with an ETag may be kept by anybody');
  return {
    slug: service,
    route,
    key: labelOf(service, route),
    status,
    location: locationOf(route, routes, status, shape),
    document,
    source,
    operationName: name,
    isMutation,
    rules,
    isPublic,
    isMe: isMe(route),
    variables,
    input: compileVariables(variables),
    resultPath: [...fieldPath.slice(0, -1), 'result'],
    fieldPath,
    field,
    shape,
    answer: answerConverter(shape, route.omitNull),
    wirePointer: pointerTranslator(variables),
  };
}

const labelOf = (slug: Slug, { method, path }: Route): string => `${method} /${slug}${path}`;

/** @throws Error naming the route and the reason, when it does not fit the schema. */
function atRow<T>(table: RouteTable, route: Route, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Error(`${labelOf(table.service, route)}: ${(error as Error).message}`, { cause: error });
  }
}

function planTable(schema: GraphQLSchema, table: RouteTable, isChecked: boolean): Plan[] {
  const all = table.routes.map(route => atRow(table, route, () => derive(schema, route)));
  if (!isChecked && !areValid(schema, all)) for (const { route, document } of all) atRow(table, route, () => check(schema, document));
  return all.map(derived => atRow(table, derived.route, () => compile(schema, table, derived)));
}

/** @throws Error for a path that stands twice, or whose parameters have two names: neither the router nor OpenAPI could tell them apart. */
function checkPaths(plans: readonly Plan[]): void {
  const keys = new Set<string>();
  const paths = new Map<string, string>();
  for (const { key, slug, route } of plans) {
    const bare = route.path.replace(/\{[^}]+\}/g, '{}');
    const pattern = `/${slug}${bare}`;
    if (keys.has(`${route.method} ${pattern}`)) throw new Error(`${key} stands twice`);
    if ((paths.get(pattern) ?? route.path) !== route.path) throw new Error(`${key}: the same path is also written ${paths.get(pattern)}`);
    keys.add(`${route.method} ${pattern}`);
    paths.set(pattern, route.path);
  }
}

/** Plans follow from the schema and the table alone, so a process makes them once. */
const planned = new WeakMap<GraphQLSchema, WeakMap<RouteTable, Plan[]>>();

function plansOf(schema: GraphQLSchema, table: RouteTable, isChecked: boolean): Plan[] {
  const known = planned.get(schema) ?? new WeakMap<RouteTable, Plan[]>();
  planned.set(schema, known);
  const plans = known.get(table) ?? planTable(schema, table, isChecked);
  known.set(table, plans);
  return plans;
}

/**
 * Plans of all rows, in the order of the tables. @throws Error naming the first row that does not fit.
 * @param isChecked the documents are known to be valid, as those of a release are: checking them takes 13 ms a service.
 */
export function planTables(schema: GraphQLSchema, tables: readonly RouteTable[], isChecked = false): Plan[] {
  const plans = tables.flatMap(table => plansOf(schema, table, isChecked));
  checkPaths(plans);
  return plans;
}
