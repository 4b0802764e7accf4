/** A route made ready: document parsed and checked against the schema, variables, response converter and access rules compiled. */
import {
  getNamedType,
  isCompositeType,
  isInputObjectType,
  Kind,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { Slug } from '../events/slugs.js';
import { ruleOnNode, type AccessRule } from '../runtime/access/access.js';
import { answerConverter, type Convert } from './answer.js';
import { pointerTranslator, type Located } from './pointers.js';
import type { Route, RouteTable } from './route.js';
import { fieldOf, shapeOfField, type Shape } from './shape.js';
import { compileVariables, type VariablePlan } from './variables.js';


export interface Plan {
  slug: Slug;
  route: Route;
  /** `POST /clinical/v1/retest-cycles`: unique, so it keys caches of the executor. */
  key: string;
  document: DocumentNode;
  operationName: string | null;
  isMutation: boolean;
  /** Rules of the fields on the way to `result`, outermost first; null for a root field without one, which nobody may call. */
  rules: readonly (AccessRule | null)[];
  isPublic: boolean;
  /** Has a `me` segment, so a service token is refused. Source: identity A6. */
  isMe: boolean;
  variables: VariablePlan;
  /** Response keys from `data` to the answer, the last one is `result`. */
  resultPath: readonly string[];
  /** Names of the fields on that way: `['me', 'settings']`. */
  fieldPath: readonly string[];
  /** The field aliased `result`. */
  field: GraphQLField<unknown, unknown>;
  shape: Shape;
  answer: Convert;
  /** Pointer of a subgraph's violation -> pointer into what the caller wrote. */
  wirePointer: (pointer: string) => string;
}

interface Draft {
  schema: GraphQLSchema;
  slug: Slug;
  route: Route;
}

const label = ({ slug, route }: Draft): string => `${route.method} /${slug}${route.path}`;

function refuse(reason: string): never {
  throw new Error(reason);
}

function parseDocument(draft: Draft): DocumentNode {
  const document = parse(draft.route.document, { noLocation: true });
  const errors = validate(draft.schema, document);
  if (errors.length > 0) refuse(errors.map(error => error.message).join('; '));
  return document;
}

function operationOf(document: DocumentNode): OperationDefinitionNode {
  const operations = document.definitions.filter(definition => definition.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  if (!operation || operations.length > 1 || operation.operation === 'subscription') refuse('the document must have one query or mutation');
  return operation;
}

/** Fields from the root to the one aliased `result`: every level selects just one field. */
function wayToResult(draft: Draft, operation: OperationDefinitionNode): Located[] {
  const way: Located[] = [];
  let parent: GraphQLCompositeType = draft.schema.getRootType(operation.operation)!;
  for (let set = operation.selectionSet; ;) {
    const [node] = set.selections;
    if (!node || set.selections.length > 1 || node.kind !== Kind.FIELD)
      return refuse('exactly one field must be aliased "result", alone on its way');
    const field = fieldOf(parent, node.name.value);
    way.push({ node, field });
    if (node.alias?.value === 'result') return way;
    const type = getNamedType(field.type);
    if (!isCompositeType(type) || !node.selectionSet) return refuse('no field is aliased "result"');
    parent = type;
    set = node.selectionSet;
  }
}

/** The argument or input field in which each variable is used first. */
function usagesOf(schema: GraphQLSchema, document: DocumentNode): Map<string, GraphQLArgument | GraphQLInputField> {
  const usages = new Map<string, GraphQLArgument | GraphQLInputField>();
  const info = new TypeInfo(schema);
  const enter = (name: string, usage: GraphQLArgument | GraphQLInputField | null | undefined) =>
    usage && !usages.has(name) && usages.set(name, usage);
  visit(
    document,
    visitWithTypeInfo(info, {
      Argument: node => void (node.value.kind === Kind.VARIABLE && enter(node.value.name.value, info.getArgument())),
      ObjectField: node => {
        const parent = getNamedType(info.getParentInputType());
        if (node.value.kind === Kind.VARIABLE && isInputObjectType(parent))
          enter(node.value.name.value, parent.getFields()[node.name.value]);
      },
    }),
  );
  return usages;
}

const fragmentsOf = (document: DocumentNode): Map<string, FragmentDefinitionNode> =>
  new Map(document.definitions.filter(one => one.kind === Kind.FRAGMENT_DEFINITION).map(fragment => [fragment.name.value, fragment]));

const responseKey = (node: FieldNode): string => node.alias?.value ?? node.name.value;

/** The root's rule stands even where it is missing; below it a field without one has its parent's. */
const rulesOf = (way: readonly Located[]): (AccessRule | null)[] =>
  way.map(({ field }) => ruleOnNode(field.astNode)).filter((rule, depth) => depth === 0 || rule !== null);

const hasVariable = (operation: OperationDefinitionNode, name: string): boolean =>
  operation.variableDefinitions?.some(definition => definition.variable.name.value === name) ?? false;

const hasMember = (shape: Shape, name: string): boolean => shape.kind === 'object' && shape.members.some(member => member.wire === name);

/** `{id}` of `Location` must be a key of the answer or of the path. */
function checkLocation(draft: Draft, shape: Shape): void {
  for (const [, name] of draft.route.location?.matchAll(/\{([^}]+)\}/g) ?? []) {
    if (!hasMember(shape, name!) && !draft.route.path.includes(`{${name}}`)) refuse(`Location needs ${name}, which the answer lacks`);
  }
}

/** A redirect is the one success of its route, and its address is in the answer. */
function checkRedirect({ route: { redirect, status } }: Draft, shape: Shape): void {
  if ((redirect !== undefined) !== status.includes(302) || (redirect && status.length > 1)) refuse('a redirect has the status 302 alone');
  if (redirect && !hasMember(shape, redirect)) refuse(`the redirect needs ${redirect}, which the answer lacks`);
}

function parentOf(draft: Draft, operation: OperationDefinitionNode, way: readonly Located[]): GraphQLCompositeType {
  const above = way.at(-2);
  return above ? (getNamedType(above.field.type) as GraphQLCompositeType) : draft.schema.getRootType(operation.operation)!;
}

function compile(draft: Draft): Plan {
  const { schema, slug, route } = draft;
  const document = parseDocument(draft);
  const operation = operationOf(document);
  const way = wayToResult(draft, operation);
  const shape = shapeOfField({ schema, fragments: fragmentsOf(document) }, parentOf(draft, operation, way), way.at(-1)!.node);
  const list = route.list ?? (shape.kind === 'page' && hasVariable(operation, 'first'));
  const variables = compileVariables({ schema, operation, route, list, usages: usagesOf(schema, document) });
  const rules = rulesOf(way);
  checkLocation(draft, shape);
  checkRedirect(draft, shape);
  return {
    slug,
    route,
    document,
    shape,
    variables,
    rules,
    field: way.at(-1)!.field,
    key: label(draft),
    operationName: operation.name?.value ?? null,
    isMutation: operation.operation === 'mutation',
    isPublic: rules.every(rule => rule?.public === true),
    isMe: route.path.split('/').includes('me'),
    fieldPath: way.map(({ node }) => node.name.value),
    resultPath: way.map(({ node }) => responseKey(node)),
    answer: answerConverter(shape, route.omitNull),
    wirePointer: pointerTranslator(way, variables.sources),
  };
}

/** @throws Error naming the route and the reason, when it does not fit the schema. */
export function planRoute(schema: GraphQLSchema, slug: Slug, route: Route): Plan {
  const draft = { schema, slug, route };
  try {
    return compile(draft);
  } catch (error) {
    throw new Error(`${label(draft)}: ${(error as Error).message}`, { cause: error });
  }
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

/** Plans of all rows, in the order of the tables. @throws Error naming the first row that does not fit. */
export function planTables(schema: GraphQLSchema, tables: readonly RouteTable[]): Plan[] {
  const plans = tables.flatMap(table => table.routes.map(route => planRoute(schema, table.service, route)));
  checkPaths(plans);
  return plans;
}
