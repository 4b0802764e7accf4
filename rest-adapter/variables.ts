/** The variables of an operation from a request: one step per variable, compiled from the route's sources at start. */
import {
  getNullableType,
  isInputObjectType,
  isNonNullType,
  isRequiredInputField,
  typeFromAST,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { Violation } from '../runtime/request/errors.js';
import { limitReader, parameterStep, type Parameter, type Step, type Values, type WireRequest } from './parameters.js';
import type { Names, Route, Source } from './route.js';
import { checkOneOf, fieldReader, isObject, objectReader, readerOf, segment } from './validate.js';
import { toCamel, toSnake } from './wire.js';

type InputSource = Extract<Source, { from: 'input' }>;

/** What the body may be: one type whole (less the fields that come from elsewhere), or named keys. */
export type BodyShape =
  | { kind: 'whole'; type: GraphQLInputType; without: ReadonlySet<string>; required: boolean }
  | { kind: 'keys'; keys: readonly { name: string; type: GraphQLInputType; required: boolean; usage: Parameter['usage'] }[] };

export interface VariablePlan {
  read: (request: WireRequest, found: Violation[]) => Values;
  parameters: readonly Parameter[];
  body: BodyShape | null;
  /** Source of each variable, the implied ones of a list included. */
  sources: ReadonlyMap<string, Source>;
}

export interface VariableInputs {
  schema: GraphQLSchema;
  operation: OperationDefinitionNode;
  route: Route;
  /** Whether `first` and `after` are implied. */
  list: boolean;
  /** Where each variable is used first. */
  usages: ReadonlyMap<string, GraphQLArgument | GraphQLInputField>;
}

const LIST_SOURCES: Readonly<Record<string, Source>> = {
  first: { from: 'query', name: 'limit' },
  after: { from: 'query', name: 'cursor' },
};

/** `[wire name, input field]` pairs of a `Names`. */
export const namePairs = (names: Names | undefined): [string, string][] =>
  names === undefined
    ? []
    : Array.isArray(names)
      ? names.map((name: string) => [name, toCamel(name)])
      : Object.entries(names as Record<string, string>);

/** Whether a missing body, which counts as `{}`, lacks something. */
function needsBody(declared: GraphQLInputType, without: ReadonlySet<string> = new Set()): boolean {
  const type = getNullableType(declared);
  return !isInputObjectType(type) || Object.values(type.getFields()).some(field => isRequiredInputField(field) && !without.has(field.name));
}

/** Compiles a route's sources. Methods add to the plan; any misfit throws, which stops the start. */
class Compiler {
  readonly steps: Step[] = [];
  readonly parameters: Parameter[] = [];
  readonly sources = new Map<string, Source>();
  body: BodyShape | null = null;

  constructor(private readonly inputs: VariableInputs) {}

  private refuse(reason: string): never {
    throw new Error(reason);
  }

  private addParameter(parameter: Parameter, target: string, step?: Step): void {
    this.parameters.push(parameter);
    this.steps.push(
      step ??
        parameterStep(
          parameter,
          target,
          parameter.usage ? fieldReader(parameter.usage, readerOf(parameter.type)) : readerOf(parameter.type),
        ),
    );
  }

  private addBody(body: BodyShape): void {
    if (this.body?.kind === 'keys' && body.kind === 'keys') this.body = { kind: 'keys', keys: [...this.body.keys, ...body.keys] };
    else if (this.body) this.refuse('the body is read twice');
    else this.body = body;
  }

  private addWholeBody(name: string, type: GraphQLInputType): void {
    const required = isNonNullType(type);
    this.addBody({ kind: 'whole', type, without: new Set(), required: required && needsBody(type) });
    const read = readerOf(type);
    this.steps.push((request, into, found) => {
      if (request.body !== undefined || required) into[name] = read(request.body === undefined ? {} : request.body, '', found);
    });
  }

  private addBodyKey(variable: string, name: string, type: GraphQLInputType, required: boolean): void {
    const usage = this.inputs.usages.get(variable) ?? null;
    this.addBody({ kind: 'keys', keys: [{ name, type, required, usage }] });
    const read = usage ? fieldReader(usage, readerOf(type)) : readerOf(type);
    this.steps.push((request, into, found) => {
      if (isObject(request.body) && Object.hasOwn(request.body, name)) into[variable] = read(request.body[name], `/${name}`, found);
      else if (required) found.push({ pointer: `/${name}`, message: 'is required' });
    });
  }

  /** Parts of an input object that come from path and query. */
  private addInputParts(variable: string, type: GraphQLInputObjectType, source: InputSource): void {
    const parts = [
      ...namePairs(source.path).map(pair => ['path', ...pair] as const),
      ...namePairs(source.query).map(pair => ['query', ...pair] as const),
    ];
    for (const [place, name, fieldName] of parts) {
      const field = type.getFields()[fieldName] ?? this.refuse(`${type.name} has no field ${fieldName}`);
      const parameter: Parameter = {
        in: place,
        name,
        type: field.type,
        required: place === 'path' || isRequiredInputField(field),
        usage: field,
      };
      const step = parameterStep(parameter, fieldName, fieldReader(field));
      this.addParameter(parameter, fieldName, (request, into, found) => step(request, into[variable] as Values, found));
    }
  }

  private addInput(variable: string, declared: GraphQLInputType, source: InputSource): void {
    const type = getNullableType(declared);
    if (!isInputObjectType(type)) return this.refuse(`$${variable} is not an input object`);
    const pairs = [...namePairs(source.path), ...namePairs(source.query)];
    const without = new Set([...pairs.map(([, field]) => field), ...Object.keys(source.constant ?? {})]);
    const missing = Object.values(type.getFields()).find(field => isRequiredInputField(field) && !without.has(field.name));
    if (source.body === false && missing) this.refuse(`nothing gives ${type.name}.${missing.name}`);
    this.addInputBody(variable, type, source, without);
    this.addInputParts(variable, type, source);
    if (type.isOneOf) this.steps.push((_, into, found) => checkOneOf(into[variable] as Values, '', found));
  }

  private addInputBody(variable: string, type: GraphQLInputObjectType, source: InputSource, without: ReadonlySet<string>): void {
    const constant = source.constant ?? {};
    if (source.body === false) {
      this.steps.push((_, into) => (into[variable] = { ...constant }));
      return;
    }
    this.addBody({ kind: 'whole', type, without, required: needsBody(type, without) });
    const read = objectReader(type, without);
    this.steps.push(
      (request, into, found) =>
        (into[variable] = { ...(read(request.body === undefined ? {} : request.body, '', found) as object | undefined), ...constant }),
    );
  }

  private addVariable(name: string, type: GraphQLInputType, required: boolean, source: Source): void {
    if (source.from === 'input') return this.addInput(name, type, source);
    if (source.from === 'constant') return void this.steps.push((_, into) => (into[name] = source.value));
    if (source.from === 'body')
      return 'name' in source ? this.addBodyKey(name, source.name, type, required) : this.addWholeBody(name, type);
    const usage = this.inputs.usages.get(name) ?? null;
    const parameter: Parameter = { in: source.from, name: source.name, type, required: required || source.from === 'path', usage };
    this.addParameter(
      parameter,
      name,
      source === LIST_SOURCES.first ? parameterStep({ ...parameter, required: false }, name, limitReader) : undefined,
    );
  }

  /** Unknown query keys, and body keys where no input type judges them. */
  private addUnknownKeys(): void {
    const known = new Set(this.parameters.filter(parameter => parameter.in === 'query').map(parameter => parameter.name));
    this.steps.push((request, _, found) => {
      for (const key of Object.keys(request.query))
        if (!known.has(key)) found.push({ pointer: `/${segment(key)}`, message: 'is not a known query parameter' });
    });
    if (this.body?.kind === 'whole') return;
    const keys = new Set(this.body?.keys.map(key => key.name));
    this.steps.push(({ body }, _, found) => {
      if (body === undefined) return;
      if (!isObject(body)) return void found.push({ pointer: '', message: 'must be an object' });
      for (const key of Object.keys(body)) if (!keys.has(key)) found.push({ pointer: `/${segment(key)}`, message: 'is not a known key' });
    });
  }

  private checkPathNames(): void {
    const inPath = [...this.inputs.route.path.matchAll(/\{([^}]+)\}/g)].map(match => match[1]!);
    const used = new Set(this.parameters.filter(parameter => parameter.in === 'path').map(parameter => parameter.name));
    for (const name of inPath) if (!used.has(name)) this.refuse(`{${name}} of the path is not used`);
    for (const name of used) if (!inPath.includes(name)) this.refuse(`the path has no {${name}}`);
  }

  compile(): VariablePlan {
    const { schema, operation, route, list } = this.inputs;
    const implied = list ? LIST_SOURCES : {};
    const definitions = operation.variableDefinitions ?? [];
    for (const name of Object.keys(route.variables ?? {}))
      if (!definitions.some(definition => definition.variable.name.value === name)) this.refuse(`the document has no $${name}`);
    for (const definition of definitions) {
      const name = definition.variable.name.value;
      const source = route.variables?.[name] ?? implied[name] ?? this.refuse(`nothing gives $${name}`);
      this.sources.set(name, source);
      const type = typeFromAST(schema, definition.type) as GraphQLInputType;
      this.addVariable(name, type, isNonNullType(type) && definition.defaultValue === undefined, source);
    }
    this.checkPathNames();
    this.addUnknownKeys();
    const { steps, parameters, body, sources } = this;
    return { parameters, body, sources, read: readAll(steps) };
  }
}

const readAll =
  (steps: readonly Step[]): VariablePlan['read'] =>
  (request, found) => {
    const values: Values = {};
    for (const step of steps) step(request, values, found);
    return values;
  };

/** @throws Error when the route does not fit the document or the schema. */
export const compileVariables = (inputs: VariableInputs): VariablePlan => new Compiler(inputs).compile();

/** Wire name of an input's field: the parameter that gives it, else its snake_case. */
export const wireNameOf = (source: InputSource, field: string): string =>
  [...namePairs(source.path), ...namePairs(source.query)].find(([, target]) => target === field)?.[0] ?? toSnake(field);
