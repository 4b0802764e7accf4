import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLOutputType,
} from 'graphql';
import { constraintOf, violationOf, type Constraint } from '../../runtime/schema/violations.js';
import type { Plan } from '../../rest-adapter/plan.js';
import type { InputSource } from '../../rest-adapter/sources.js';
import { toSnake, toWireEnum } from '../../runtime/schema/wire-names.js';

/** Who fills in a request: the id that is given where a user is named, and a text that every free text holds. */
export interface Author {
  userId: string;
  mark: string;
  /** Id that stands for any other object; default: nobody's. */
  objectId?: string;
}

const NOBODY = '0190b3a0-0000-7000-8000-00000000dead';
const SUBJECTS = ['userId', 'patientId', 'customerId'];

const SCALARS: Readonly<Record<string, (mark: string) => unknown>> = {
  EmailAddress: mark => `${mark}@example.test`,
  URL: mark => `https://${mark}.example.test/`,
  PhoneNumber: () => '+493090182000',
  Locale: () => 'de',
  TimeZone: () => 'Europe/Berlin',
  CountryCode: () => 'DE',
  CurrencyCode: () => 'EUR',
  DateTime: () => '2031-01-01T00:00:00.000Z',
  Date: () => '2026-01-01',
  JSON: () => ({}),
  Boolean: () => true,
};

/** Texts by falling freedom; the first that a constraint allows is taken. */
const texts = (mark: string): string[] => [
  `${mark} Words`,
  mark,
  `${mark}${mark}`,
  NOBODY,
  'reader',
  'read:profile',
  '123456',
  '2026-01-01',
  'ldl_c',
];

function textFor(constraint: Constraint, mark: string): string {
  const { minLength = 0, maxLength = Infinity } = constraint;
  const fitted = texts(mark).map(text => text.padEnd(minLength, 'x').slice(0, Math.max(minLength, Math.min(text.length, maxLength))));
  return fitted.find(text => violationOf(constraint, text) === null) ?? mark;
}

const isFree = (field: GraphQLInputField): boolean =>
  getNamedType(field.type).name === 'String' && !isListType(getNullableType(field.type));

/** Names and enum values as an API writes them. */
interface Spelling {
  name: (name: string) => string;
  member: (name: string) => string;
}

const WIRE: Spelling = { name: toSnake, member: toWireEnum };
const GRAPHQL: Spelling = { name: name => name, member: name => name };

class Filler {
  constructor(
    private readonly author: Author,
    private readonly spelling: Spelling = WIRE,
  ) {}

  value(type: GraphQLInputType, name: string, constraint: Constraint): unknown {
    const plain = getNullableType(type);
    if (isListType(plain)) return Array.from({ length: constraint.minItems ?? 1 }, () => this.value(plain.ofType, name, {}));
    if (isInputObjectType(plain)) return this.object(Object.values(plain.getFields()));
    if (isEnumType(plain)) return this.spelling.member(plain.getValues()[0]!.name);
    if (plain.name === 'ID') return SUBJECTS.includes(name) ? this.author.userId : (this.author.objectId ?? NOBODY);
    if (plain.name === 'String') return textFor(constraint, this.author.mark);
    return SCALARS[plain.name]?.(this.author.mark) ?? constraint.min ?? 1;
  }

  /** What is required, who it is about, and every free text. */
  object(fields: readonly GraphQLInputField[]): Record<string, unknown> {
    const filled = fields.filter(field => isNonNullType(field.type) || SUBJECTS.includes(field.name) || isFree(field));
    return Object.fromEntries(
      filled.map(field => [this.spelling.name(field.name), this.value(field.type, field.name, constraintOf(field) ?? {})]),
    );
  }
}

const taken = ({ path, query, constant, omit }: InputSource): string[] => [
  ...Object.keys(path),
  ...Object.keys(query),
  ...[...Object.keys(constant), ...omit].map(toSnake),
];

/** Query and body of a request as an author would fill them in. */
export function requestFor({ variables }: Plan, author: Author): { query: string; body: Record<string, unknown> | undefined } {
  const filler = new Filler(author);
  const query = new URLSearchParams();
  let body: Record<string, unknown> | undefined;
  for (const { name, type, source } of variables) {
    const isAsked = isNonNullType(type) || SUBJECTS.includes(name);
    if (source.from === 'query' && isAsked) query.set(source.name, String(filler.value(type, name, {})));
    if (source.from === 'body') body = { ...body, ...(isAsked && { [source.name]: filler.value(type, name, {}) }) };
    if (source.from === 'input' && source.body) body = without(filler.value(type, name, {}) as object, taken(source));
    if (source.from === 'input' && !source.body && isNonNullType(type)) askByInput(filler, type, source, query);
  }
  return { query: query.size ? `?${query}` : '', body };
}

const without = (made: object, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(made).filter(([key]) => !keys.includes(key)));

function askByInput(filler: Filler, type: GraphQLInputType, source: InputSource, query: URLSearchParams): void {
  const made = filler.value(type, '', {}) as Record<string, unknown>;
  for (const name of Object.keys(source.query)) if (made[name] !== undefined) query.set(name, String(made[name]));
}

const isWanted = ({ name, type, defaultValue }: GraphQLArgument): boolean =>
  (isNonNullType(type) && defaultValue === undefined) || SUBJECTS.includes(name);

/** Fields that need no argument, to a depth: enough to see what an answer would tell. */
function selectionOf(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return isLeafType(named) ? '' : ' { __typename }';
  const plain = Object.values(named.getFields()).filter(field => !field.args.some(isWanted) && !field.name.startsWith('_'));
  const shown = plain.filter(field => isLeafType(getNamedType(field.type)) || depth > 0);
  return ` { __typename ${shown.map(field => `${field.name}${selectionOf(field.type, depth - 1)}`).join(' ')} }`;
}

/** An operation as an author would ask it. */
export function operationFor(
  { name, args, type }: GraphQLField<unknown, unknown>,
  kind: 'query' | 'mutation',
  author: Author,
): { query: string; variables: Record<string, unknown> } {
  const filler = new Filler(author, GRAPHQL);
  const wanted = args.filter(isWanted);
  const declared = wanted.length ? `(${wanted.map(arg => `$${arg.name}: ${arg.type}`).join(', ')})` : '';
  const given = wanted.length ? `(${wanted.map(arg => `${arg.name}: $${arg.name}`).join(', ')})` : '';
  const variables = Object.fromEntries(wanted.map(arg => [arg.name, filler.value(arg.type, arg.name, constraintOf(arg) ?? {})]));
  return { query: `${kind} Ask${declared} { result: ${name}${given}${selectionOf(type, 2)} }`, variables };
}
