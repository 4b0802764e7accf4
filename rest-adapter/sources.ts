/** Where the arguments of a row's operation come from: path, query string, body or constants. Source: architecture 3. */
import {
  getNullableType,
  GraphQLNonNull,
  isInputObjectType,
  isNonNullType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from 'graphql';
import { hasBody, isMe, misfit, parametersIn, type Names, type Route } from './route.js';
import { toCamel, toSnake } from '../runtime/schema/wire-names.js';

/** `name` is the name on the wire. */
export type Source = { from: 'path' | 'query' | 'body'; name: string } | { from: 'constant'; value: unknown } | InputSource;

/** An input object: the body, less what comes from elsewhere and what callers cannot give. */
export interface InputSource {
  from: 'input';
  body: boolean;
  path: Names;
  query: Names;
  constant: Readonly<Record<string, unknown>>;
  omit: readonly string[];
}

export type Usage = GraphQLArgument | GraphQLInputField;

export interface Variable {
  name: string;
  type: GraphQLInputType;
  /** The argument or input field that it is the value of. */
  usage: Usage;
  /** How pointers to it begin in a subgraph: `['input', 'patch', 'kind']`. */
  at: readonly string[];
  source: Source;
}

/** What a page is asked by. Source: conventions 4. */
export const PAGE_SOURCES: Readonly<Record<string, Source>> = {
  first: { from: 'query', name: 'limit' },
  after: { from: 'query', name: 'cursor' },
};

interface Draft {
  route: Route;
  isPage: boolean;
  /** Names of all arguments of the operation's fields. */
  names: ReadonlySet<string>;
  /** Argument or input field -> the parameter that gives it. */
  path: ReadonlyMap<string, string>;
  query: ReadonlyMap<string, string>;
}

/** A user's own paths never name a user. */
const isHidden = (route: Route, name: string): boolean => name === 'userId' && isMe(route);

/** What the row gives to fields of an input object from elsewhere than its body; an argument of the same name comes first. */
function partsOf({ route, names, path, query }: Draft, type: GraphQLInputObjectType): Omit<InputSource, 'from' | 'body'> {
  const isPart = (name: string): boolean => name in type.getFields() && !names.has(name);
  const partsIn = (from: ReadonlyMap<string, string>): Names =>
    Object.fromEntries([...from].filter(([name]) => isPart(name)).map(([name, wire]) => [wire, name]));
  return {
    path: partsIn(path),
    query: partsIn(query),
    constant: Object.fromEntries(Object.entries(route.constant ?? {}).filter(([name]) => isPart(name))),
    omit: (route.omit ?? []).filter(isPart),
  };
}

/** Without a body the query string gives what is left. */
function inputSource(draft: Draft, type: GraphQLInputObjectType): InputSource {
  const { route } = draft;
  const parts = partsOf(draft, type);
  const taken = [...Object.values(parts.path), ...Object.values(parts.query), ...Object.keys(parts.constant), ...parts.omit];
  const left = Object.keys(type.getFields()).filter(name => !taken.includes(name));
  if (hasBody(route)) return { from: 'input', ...parts, body: route.body ?? left.length > 0 };
  const asked = left.filter(name => !isHidden(route, name)).map(name => [toSnake(name), name]);
  return { from: 'input', ...parts, body: false, query: { ...parts.query, ...Object.fromEntries(asked) } };
}

/** What the row itself gives; null where callers cannot give it, undefined where it has to be derived. */
function namedSource({ route, path, query }: Draft, name: string): Source | null | undefined {
  if (Object.hasOwn(route.constant ?? {}, name)) return { from: 'constant', value: route.constant![name] };
  if (path.has(name)) return { from: 'path', name: path.get(name)! };
  if (query.has(name)) return { from: 'query', name: query.get(name)! };
  return route.omit?.includes(name) || isHidden(route, name) ? null : undefined;
}

function derivedSource(draft: Draft, { name, type }: Usage): Source | null {
  const { route, isPage } = draft;
  const bare = getNullableType(type);
  if (isPage && PAGE_SOURCES[name]) return PAGE_SOURCES[name];
  if (isInputObjectType(bare) && (name === 'input' || !hasBody(route))) return inputSource(draft, bare);
  if (!hasBody(route)) return { from: 'query', name: toSnake(name) };
  return route.body === false ? null : { from: 'body', name: toSnake(name) };
}

/** Optional where there is a default, and never where it is part of the path. */
function typeOf({ type, defaultValue }: Usage, source: Source): GraphQLInputType {
  if (source.from === 'path') return new GraphQLNonNull(getNullableType(type));
  return defaultValue === undefined ? type : getNullableType(type);
}

function variablesFor(draft: Draft, usage: Usage, above: readonly string[]): Variable[] {
  const at = [...above, usage.name];
  const named = namedSource(draft, usage.name);
  const source = named === undefined ? derivedSource(draft, usage) : named;
  if (source) return [{ name: usage.name, type: typeOf(usage, source), usage, at, source }];
  if (isNonNullType(usage.type) && usage.defaultValue === undefined) misfit(`nothing gives ${at.join('.')}`);
  return [];
}

function fieldsOf({ type, name }: Usage): GraphQLInputField[] {
  const bare = getNullableType(type);
  return isInputObjectType(bare) ? Object.values(bare.getFields()) : misfit(`${name} has no fields of its own`);
}

/** The fields of `input` as variables of their own, those of its field `spread` among them. */
function spreadInput(draft: Draft, argument: GraphQLArgument, spread: string): Variable[] {
  return fieldsOf(argument).flatMap(field =>
    field.name === spread
      ? fieldsOf(field).flatMap(inner => variablesFor(draft, inner, [argument.name, spread]))
      : variablesFor(draft, field, [argument.name]),
  );
}

function variablesOf(draft: Draft, argument: GraphQLArgument): Variable[] {
  const { spread } = draft.route;
  return spread !== undefined && argument.name === 'input' ? spreadInput(draft, argument, spread) : variablesFor(draft, argument, []);
}

/** What exceptions may name: the arguments, and the fields of those that are input objects. */
function knownNames({ names }: Draft, variables: readonly Variable[]): Set<string> {
  const inputs = variables.filter(({ source }) => source.from === 'input');
  return new Set([
    ...names,
    ...variables.map(({ name }) => name),
    ...inputs.flatMap(({ usage }) => fieldsOf(usage).map(({ name }) => name)),
  ]);
}

function checkNames(draft: Draft, variables: readonly Variable[]): void {
  const { path, query, route } = draft;
  const known = knownNames(draft, variables);
  const unknown = [...path.keys(), ...query.keys(), ...Object.keys(route.constant ?? {}), ...(route.omit ?? [])].find(
    name => !known.has(name),
  );
  if (unknown !== undefined) misfit(`no argument or input field is named ${unknown}`);
  const absent = Object.keys(route.pathNames).find(name => !parametersIn(route.path).includes(name));
  if (absent !== undefined) misfit(`the path has no {${absent}}`);
  if (route.spread !== undefined && !variables.some(({ at }) => at[1] === route.spread)) misfit(`input has no field ${route.spread}`);
  const twice = variables.find(({ name }, index) => variables.findIndex(one => one.name === name) !== index);
  if (twice) misfit(`two arguments are named ${twice.name}`);
}

function draftOf(route: Route, fields: readonly GraphQLField<unknown, unknown>[], isPage: boolean): Draft {
  const { path, pathNames, queryNames } = route;
  return {
    route,
    isPage,
    names: new Set(fields.flatMap(({ args }) => args.map(({ name }) => name))),
    path: new Map(parametersIn(path).map(wire => [pathNames[wire] ?? toCamel(wire), wire])),
    query: new Map(Object.entries(queryNames).map(([wire, name]) => [name, wire])),
  };
}

/** Parameters of the path in its order, those of a page last. */
function inOrder(variables: readonly Variable[], { path }: Route): Variable[] {
  const names = parametersIn(path);
  const rankOf = ({ source, name }: Variable): number =>
    source.from === 'path' ? names.indexOf(source.name) : names.length + Number(source === PAGE_SOURCES[name]);
  return [...variables].sort((a, b) => rankOf(a) - rankOf(b));
}

function variablesOfField(draft: Draft, { args }: GraphQLField<unknown, unknown>): Variable[] {
  const variables = args.flatMap(argument => variablesOf(draft, argument));
  return inOrder(variables, draft.route);
}

/** The variables of each of the fields. @throws Error with the reason, when the row does not fit their arguments. */
export function deriveVariables(route: Route, fields: readonly GraphQLField<unknown, unknown>[], isPage: boolean): Variable[][] {
  const draft = draftOf(route, fields, isPage);
  const perField = fields.map(field => variablesOfField(draft, field));
  checkNames(draft, perField.flat());
  return perField;
}
