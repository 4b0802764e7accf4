/** A row and the schema -> its operation: the way to the answer, the name, the variables, and the document. Source: architecture 3. */
import { getNamedType, isObjectType, type GraphQLField, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import { misfit, type Route } from './route.js';
import { isConnection } from './shape.js';
import { deriveVariables, type Variable } from './sources.js';

/** A field on the way from the root to the answer. */
export interface Step {
  parent: GraphQLObjectType;
  field: GraphQLField<unknown, unknown>;
}

export interface DerivedOperation {
  isMutation: boolean;
  name: string;
  way: readonly Step[];
  variables: readonly Variable[];
  /** Text of the document. */
  source: string;
}

const PAGE_INFO = 'pageInfo { endCursor hasNextPage }';

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** A GET is a query; what has a body may be one, too, where its question is too long for a URL. */
function rootOf(schema: GraphQLSchema, { method, field }: Route): GraphQLObjectType {
  const mutation = method === 'GET' ? null : schema.getMutationType();
  return mutation?.getFields()[field.split('.')[0]!] ? mutation : schema.getQueryType()!;
}

function wayOf(schema: GraphQLSchema, route: Route): Step[] {
  const way: Step[] = [];
  let parent = rootOf(schema, route);
  for (const name of route.field.split('.')) {
    if (!isObjectType(parent)) misfit(`${way.at(-1)!.field.name} has no fields of its own`);
    const field = parent.getFields()[name] ?? misfit(`${parent.name} has no field ${name}`);
    way.push({ parent, field });
    parent = getNamedType(field.type) as GraphQLObjectType;
  }
  return way;
}

function nameOf({ as, method, field }: Route): string {
  if (as !== undefined) return capital(as);
  const names = field.split('.');
  if (method !== 'GET') return capital(names[0]!);
  return names.map(name => (name === 'me' && names.length > 1 ? 'My' : capital(name))).join('');
}

/** `key: $key, patch: { kind: $kind }` of variables that share the first `depth` names. */
function argumentsText(variables: readonly Variable[], depth = 0): string {
  const names = [...new Set(variables.map(({ at }) => at[depth]!))];
  return names
    .map(name => {
      const inside = variables.filter(({ at }) => at[depth] === name);
      const isValue = inside[0]!.at.length === depth + 1;
      return `${name}: ${isValue ? `$${inside[0]!.name}` : `{ ${argumentsText(inside, depth + 1)} }`}`;
    })
    .join(', ');
}

const inBrackets = (text: string): string => (text === '' ? '' : `(${text})`);

/** `me { result: settings { … } }` */
function selectionText(way: readonly Step[], perField: readonly Variable[][], selection: string | null): string {
  const calls = way.map(({ field }, depth) => `${field.name}${inBrackets(argumentsText(perField[depth]!))}`);
  const answer = `result: ${calls.pop()}`;
  const whole = selection === null ? answer : `${answer} { ${selection} }`;
  return calls.reduceRight((inner, call) => `${call} { ${inner} }`, whole);
}

/** @throws Error with the reason, when the row does not fit the schema. */
export function deriveOperation(schema: GraphQLSchema, route: Route): DerivedOperation {
  const way = wayOf(schema, route);
  const fields = way.map(({ field }) => field);
  const isPage = isConnection(getNamedType(fields.at(-1)!.type));
  const perField = deriveVariables(route, fields, isPage);
  const variables = perField.flat();
  const isMutation = way[0]!.parent === schema.getMutationType();
  const name = nameOf(route);
  const declared = inBrackets(variables.map(({ name: variable, type }) => `$${variable}: ${type}`).join(', '));
  const selection = selectionText(way, perField, isPage ? `nodes { ${route.selection} } ${PAGE_INFO}` : route.selection);
  return { isMutation, name, way, variables, source: `${isMutation ? 'mutation' : 'query'} ${name}${declared} { ${selection} }` };
}
