/** GraphQL types -> JSON Schema 2020-12 in wire form, collected as components. */
import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
} from 'graphql';
import { constraintOf, type Constraint } from '../../runtime/schema/violations.js';
import { scalarFormat } from '../../runtime/schema/wire-scalars.js';
import type { Member, Shape } from '../shape.js';
import { isObject } from '../../runtime/schema/wire-reader.js';
import { toSnake, toWireEnum, toWireType } from '../../runtime/schema/wire-names.js';

export type Json = Record<string, unknown>;

const NULL = { type: 'null' };

/** Adds null to a schema. One that allows everything already does. */
function orNull(schema: Json): Json {
  if (Array.isArray(schema.type) || !['type', 'enum', '$ref', 'anyOf'].some(key => key in schema)) return schema;
  return typeof schema.type === 'string' && !('enum' in schema) ? { ...schema, type: [schema.type, 'null'] } : { anyOf: [schema, NULL] };
}

const described = (schema: Json, description: string | null | undefined): Json => (description ? { ...schema, description } : schema);

/** Bounds of a string, number or item. */
function valueBounds({ min, max, minLength, maxLength, pattern, object }: Constraint, nullable: boolean): Json {
  const type = object ? (nullable ? ['object', 'null'] : 'object') : undefined;
  const bounds = { type, minimum: min, maximum: max, minLength, maxLength, pattern };
  return Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));
}

const itemBounds = ({ minItems, maxItems }: Constraint): Json =>
  Object.fromEntries(Object.entries({ minItems, maxItems }).filter(([, value]) => value !== undefined));

/** A constraint on a list binds its items too, as the reader does. */
function constrained(schema: Json, constraint: Constraint | null, type: GraphQLInputType): Json {
  if (!constraint) return schema;
  const present = getNullableType(type);
  if (!isListType(present)) return { ...schema, ...valueBounds(constraint, !isNonNullType(type)) };
  const bounds = valueBounds(constraint, !isNonNullType(present.ofType));
  return { ...schema, ...itemBounds(constraint), items: { ...(schema.items as Json), ...bounds } };
}

/** A default value as it would be written on the wire. */
function toWireValue(type: GraphQLInputType, value: unknown): unknown {
  if (isNonNullType(type)) return toWireValue(type.ofType, value);
  if (isListType(type) && Array.isArray(value)) return value.map(item => toWireValue(type.ofType, item));
  if (isEnumType(type) && typeof value === 'string') return toWireEnum(value);
  if (!isInputObjectType(type) || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [toSnake(name), toWireValue(type.getFields()[name]!.type, item)]));
}

/** The components of one document. Equal schemas share a name; a second form of a type bears the operation's name too. */
export class Schemas {
  readonly components = new Map<string, Json>();

  /** Names by type and schema, so that equal forms of a type share one. */
  readonly #names = new Map<string, string>();

  #refer(type: string, schema: Json, operation: string): Json {
    const form = `${type} ${JSON.stringify(schema)}`;
    const name = this.#names.get(form) ?? [type, `${type}In${operation}`].find(candidate => !this.components.has(candidate));
    if (name === undefined) return schema; // a third form within one operation is written out
    this.#names.set(form, name);
    this.components.set(name, schema);
    return { $ref: `#/components/schemas/${name}` };
  }

  #enum(type: GraphQLEnumType): Json {
    const schema = described({ type: 'string', enum: type.getValues().map(({ name }) => toWireEnum(name)) }, type.description);
    return this.#refer(type.name, schema, '');
  }

  #scalar(type: GraphQLScalarType): Json {
    const { schema } = scalarFormat(type);
    return type.name === 'JSON' ? { description: 'Any JSON value; keys inside are never renamed.' } : { ...schema };
  }

  /** What is asked of an input is not repeated for outputs. */
  #outputScalar(type: GraphQLScalarType): Json {
    const { minLength: _, ...schema } = this.#scalar(type);
    return schema;
  }

  /** Schema of an input type. */
  input(type: GraphQLInputType): Json {
    if (isNonNullType(type)) return this.presentInput(type.ofType);
    return orNull(this.presentInput(type));
  }

  /** The same without null. */
  presentInput(type: GraphQLInputType): Json {
    if (isListType(type)) return { type: 'array', items: this.input(type.ofType) };
    if (isEnumType(type)) return this.#enum(type);
    if (isInputObjectType(type)) return this.#inputObject(type);
    return this.#scalar(type as GraphQLScalarType);
  }

  #inputObject(type: GraphQLInputObjectType): Json {
    const reference = { $ref: `#/components/schemas/${type.name}` };
    if (this.components.has(type.name)) return reference;
    this.components.set(type.name, {}); // entered first, because input types may be recursive
    this.components.set(type.name, this.inputFields(type));
    return reference;
  }

  /** An input object written out, without the fields that come from path or query. */
  inputFields(type: GraphQLInputObjectType, without: ReadonlySet<string> = new Set()): Json {
    const fields = Object.values(type.getFields()).filter(field => !without.has(field.name));
    const required = fields.filter(isRequiredInputField).map(field => toSnake(field.name));
    const properties = Object.fromEntries(fields.map(field => [toSnake(field.name), this.inputField(field, field.type)]));
    return described(
      { type: 'object', ...(required.length > 0 && { required }), properties, additionalProperties: false },
      type.description,
    );
  }

  /** A field or parameter with its constraint, default and description. */
  inputField(usage: GraphQLInputField | GraphQLArgument | null, type: GraphQLInputType): Json {
    const schema = constrained(this.input(type), usage && constraintOf(usage), type);
    const standard = usage?.defaultValue === undefined ? {} : { default: toWireValue(type, usage.defaultValue) };
    return described({ ...schema, ...standard }, usage?.description);
  }

  /** Schema of a value of this shape. */
  output(shape: Shape, operation: string): Json {
    const schema = this.#presentOutput(shape, operation);
    return shape.nullable ? orNull(schema) : schema;
  }

  #presentOutput(shape: Shape, operation: string): Json {
    switch (shape.kind) {
      case 'scalar':
        return this.#outputScalar(shape.type);
      case 'enum':
        return this.#enum(shape.type);
      case 'typename':
        return { type: 'string', enum: shape.names.map(toWireType) };
      case 'list':
        return { type: 'array', items: this.output(shape.of, operation) };
      case 'page':
        return this.#page(shape, operation);
      case 'object':
        return this.#refer(shape.type.name, described(this.members(shape.members, operation), shape.type.description), operation);
    }
  }

  #page(shape: Extract<Shape, { kind: 'page' }>, operation: string): Json {
    const page = {
      data: this.output(shape.nodes, operation),
      next_cursor: { type: ['string', 'null'], description: 'Cursor of the next page; null on the last one.' },
    };
    const others = this.members(shape.others, operation);
    const required = [...Object.keys(page), ...((others.required as string[] | undefined) ?? [])];
    const schema = { type: 'object', required, properties: { ...page, ...(others.properties as Json) } };
    return this.#refer(shape.type.name.replace(/Connection$/, 'Page'), schema, operation);
  }

  /** An object of members; keys in `omitNull` may be absent, and are never null. */
  members(members: readonly Member[], operation: string, omitNull: readonly string[] = []): Json {
    const required = members.filter(member => !member.optional && !omitNull.includes(member.wire)).map(member => member.wire);
    const shapeOf = (member: Member): Shape => (omitNull.includes(member.wire) ? { ...member.shape, nullable: false } : member.shape);
    const schemaOf = (member: Member): Json => ({
      ...described(this.output(shapeOf(member), operation), member.description),
      ...(member.deprecated && { deprecated: true }),
    });
    return {
      type: 'object',
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(members.map(member => [member.wire, schemaOf(member)])),
    };
  }
}
