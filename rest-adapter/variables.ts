/** The variables of an operation from a request: one step per variable, compiled from their sources at start. */
import {
  getNamedType,
  getNullableType,
  isLeafType,
  isNonNullType,
  isRequiredInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from 'graphql';
import type { Violation } from '../runtime/request/errors.js';
import { limitReader, parameterStep, type Parameter, type Step, type Values, type WireRequest } from './parameters.js';
import { misfit } from './route.js';
import { PAGE_SOURCES, type InputSource, type Usage, type Variable } from './sources.js';
import { checkOneOf, fieldReader, isObject, objectReader, readerOf, segment } from '../runtime/schema/wire-reader.js';

/** What the body may be: one type whole (less the fields that come from elsewhere), or named keys. */
export type BodyShape =
  { kind: 'whole'; type: GraphQLInputType; without: ReadonlySet<string>; required: boolean } | { kind: 'keys'; keys: readonly BodyKey[] };

interface BodyKey {
  name: string;
  type: GraphQLInputType;
  required: boolean;
  usage: Usage;
}

export interface VariablePlan {
  read: (request: WireRequest, found: Violation[]) => Values;
  parameters: readonly Parameter[];
  body: BodyShape | null;
}

/** What one variable needs of a request. */
interface Compiled {
  steps: readonly Step[];
  parameters?: readonly Parameter[];
  body?: BodyShape;
}

/** A URL holds text, so what it gives is a scalar, an enum value, or a list of them. */
function checkText({ name, type }: Parameter): void {
  if (!isLeafType(getNamedType(type))) misfit(`${name} is an object, which no parameter can be`);
}

function compileParameter({ name, type, usage, source }: Variable, from: 'path' | 'query', wire: string): Compiled {
  const parameter: Parameter = { in: from, name: wire, type, required: isNonNullType(type), usage };
  checkText(parameter);
  const read = source === PAGE_SOURCES.first ? limitReader : fieldReader(usage, readerOf(type));
  return { parameters: [parameter], steps: [parameterStep(parameter, name, read)] };
}

function compileKey({ name, type, usage }: Variable, wire: string): Compiled {
  const required = isNonNullType(type);
  const read = fieldReader(usage, readerOf(type));
  const step: Step = ({ body }, into, found) => {
    if (isObject(body) && Object.hasOwn(body, wire)) into[name] = read(body[wire], `/${wire}`, found);
    else if (required) found.push({ pointer: `/${wire}`, message: 'is required' });
  };
  return { body: { kind: 'keys', keys: [{ name: wire, type, required, usage }] }, steps: [step] };
}

/** A field of an input object that comes from the path or the query string. */
function compilePart(
  variable: string,
  type: GraphQLInputObjectType,
  from: 'path' | 'query',
  [wire, name]: readonly [string, string],
): Compiled {
  const field = type.getFields()[name]!;
  const parameter: Parameter = {
    in: from,
    name: wire,
    type: field.type,
    required: from === 'path' || isRequiredInputField(field),
    usage: field,
  };
  checkText(parameter);
  const step = parameterStep(parameter, name, fieldReader(field));
  return { parameters: [parameter], steps: [(request, into, found) => step(request, into[variable] as Values, found)] };
}

/** Fields of an input object that do not come from the body. */
const givenElsewhere = ({ path, query, constant }: InputSource): Set<string> =>
  new Set([...Object.values(path), ...Object.values(query), ...Object.keys(constant)]);

const requiredIn = (type: GraphQLInputObjectType): string[] =>
  Object.values(type.getFields())
    .filter(isRequiredInputField)
    .map(field => field.name);

/** A missing body counts as `{}`. Where nothing is taken out, the type's shared reader will do. */
function compileWholeBody({ name, type }: Variable, input: GraphQLInputObjectType, constant: object, without: Set<string>): Compiled {
  const isWhole = without.size === 0;
  const read = isWhole ? readerOf(type) : objectReader(input, without);
  const step: Step = ({ body }, into, found) => {
    const value = read(body === undefined ? {} : body, '', found) as object | undefined;
    into[name] = isWhole ? value : { ...value, ...constant };
  };
  return { body: { kind: 'whole', type, without, required: requiredIn(input).some(field => !without.has(field)) }, steps: [step] };
}

function compileInput(variable: Variable, source: InputSource): Compiled[] {
  const type = getNullableType(variable.type) as GraphQLInputObjectType;
  const given = givenElsewhere(source);
  const missing = requiredIn(type).find(field => !given.has(field) && (!source.body || source.omit.includes(field)));
  if (missing !== undefined) misfit(`nothing gives ${type.name}.${missing}`);
  const without = new Set([...given, ...source.omit]);
  const start: Step = (_, into) => (into[variable.name] = { ...source.constant });
  return [
    source.body ? compileWholeBody(variable, type, source.constant, without) : { steps: [start] },
    ...Object.entries(source.path).map(pair => compilePart(variable.name, type, 'path', pair)),
    ...Object.entries(source.query).map(pair => compilePart(variable.name, type, 'query', pair)),
    ...(type.isOneOf && without.size > 0 ? [{ steps: [oneOf(variable.name)] }] : []),
  ];
}

const oneOf =
  (variable: string): Step =>
  (_, into, found) =>
    checkOneOf(into[variable] as Values, '', found);

function compileVariable(variable: Variable): Compiled[] {
  const { name, source } = variable;
  switch (source.from) {
    case 'input':
      return compileInput(variable, source);
    case 'constant':
      return [{ steps: [(_, into) => (into[name] = source.value)] }];
    case 'body':
      return [compileKey(variable, source.name)];
    default:
      return [compileParameter(variable, source.from, source.name)];
  }
}

function bodyOf(shapes: readonly BodyShape[]): BodyShape | null {
  const keys = shapes.flatMap(shape => (shape.kind === 'keys' ? shape.keys : []));
  const [whole, other] = shapes.filter(shape => shape.kind === 'whole');
  if (other || (whole && keys.length > 0)) misfit('the body is read twice');
  return whole ?? (keys.length > 0 ? { kind: 'keys', keys } : null);
}

/** Unknown query keys. */
function queryCheck(parameters: readonly Parameter[]): Step {
  const known = new Set(parameters.filter(parameter => parameter.in === 'query').map(parameter => parameter.name));
  return ({ query }, _, found) => {
    for (const key of Object.keys(query))
      if (!known.has(key)) found.push({ pointer: `/${segment(key)}`, message: 'is not a known query parameter' });
  };
}

/** Unknown keys of a body that no input type judges. */
function keysCheck(keys: readonly BodyKey[]): Step {
  const known = new Set(keys.map(key => key.name));
  return ({ body }, _, found) => {
    if (body === undefined) return;
    if (!isObject(body)) return void found.push({ pointer: '', message: 'must be an object' });
    for (const key of Object.keys(body)) if (!known.has(key)) found.push({ pointer: `/${segment(key)}`, message: 'is not a known key' });
  };
}

const readAll =
  (steps: readonly Step[]): VariablePlan['read'] =>
  (request, found) => {
    const values: Values = {};
    for (const step of steps) step(request, values, found);
    return values;
  };

/** @throws Error with the reason, when the sources do not fit together. */
export function compileVariables(variables: readonly Variable[]): VariablePlan {
  const compiled = variables.flatMap(compileVariable);
  const parameters = compiled.flatMap(one => one.parameters ?? []);
  const body = bodyOf(compiled.flatMap(one => one.body ?? []));
  const checks = body?.kind === 'whole' ? [queryCheck(parameters)] : [queryCheck(parameters), keysCheck(body?.keys ?? [])];
  return { parameters, body, read: readAll([...compiled.flatMap(one => one.steps), ...checks]) };
}
