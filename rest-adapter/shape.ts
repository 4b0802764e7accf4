/**
 * The shape of an answer: a selection set resolved against the schema, inline fragments merged. The response converter and the OpenAPI
 * schema are both made from it, so they cannot disagree.
 */
import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  TypeNameMetaFieldDef,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { toSnake } from '../runtime/schema/wire-names.js';

export type Shape = { nullable: boolean } & (
  | { kind: 'scalar'; type: GraphQLScalarType }
  | { kind: 'enum'; type: GraphQLEnumType }
  /** An aliased `__typename`; the names that it can be. */
  | { kind: 'typename'; names: readonly string[] }
  | { kind: 'list'; of: Shape }
  | { kind: 'object'; type: GraphQLCompositeType; members: readonly Member[] }
  /** A `...Connection` with `nodes` and `pageInfo`; `others` are further fields such as `totalCount`. */
  | { kind: 'page'; type: GraphQLCompositeType; nodes: Shape; others: readonly Member[] }
);

export interface Member {
  /** Response key in the GraphQL answer. */
  key: string;
  /** Key on the wire. */
  wire: string;
  shape: Shape;
  /** May be absent: `@include`, `@skip`, or selected on some of the possible types only. */
  optional: boolean;
  description: string | null;
  deprecated: boolean;
}

/** A field under one response key, once for each time that it is selected. */
interface Occurrence {
  node: FieldNode;
  parent: GraphQLCompositeType;
  optional: boolean;
}

const isConditional = (node: { directives?: readonly { name: { value: string } }[] | undefined }): boolean =>
  node.directives?.some(directive => directive.name.value === 'skip' || directive.name.value === 'include') ?? false;

/** The type that an inline fragment is on. */
const conditionOf = (schema: GraphQLSchema, name: string | undefined, parent: GraphQLCompositeType): GraphQLCompositeType =>
  name === undefined ? parent : (schema.getType(name) as GraphQLCompositeType);

/** Whether a fragment on `condition` applies to every value of `parent`. */
const covers = (schema: GraphQLSchema, condition: GraphQLCompositeType, parent: GraphQLCompositeType): boolean =>
  condition === parent ||
  (isAbstractType(condition) && (isObjectType(parent) || parent.name === condition.name) && schema.isSubType(condition, parent as never));

/** All fields of a selection set by response key, fragments flattened. */
function collect(
  schema: GraphQLSchema,
  parent: GraphQLCompositeType,
  set: SelectionSetNode,
  optional: boolean,
  into = new Map<string, Occurrence[]>(),
): Map<string, Occurrence[]> {
  for (const selection of set.selections) {
    const maybe = optional || isConditional(selection);
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      into.set(key, [...(into.get(key) ?? []), { node: selection, parent, optional: maybe }]);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      const condition = conditionOf(schema, selection.typeCondition?.name.value, parent);
      collect(schema, condition, selection.selectionSet, maybe || !covers(schema, condition, parent), into);
    }
  }
  return into;
}

/** Definition of a selected field, `__typename` included. */
function fieldOf(parent: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> {
  if (name === '__typename') return TypeNameMetaFieldDef;
  return 'getFields' in parent ? parent.getFields()[name]! : (undefined as never);
}

const possibleNames = (schema: GraphQLSchema, parent: GraphQLCompositeType): string[] =>
  isAbstractType(parent)
    ? schema
        .getPossibleTypes(parent)
        .map(type => type.name)
        .sort()
    : [parent.name];

function memberOf(schema: GraphQLSchema, key: string, occurrences: readonly Occurrence[]): Member {
  const { node, parent } = occurrences[0]!;
  const field = fieldOf(parent, node.name.value);
  const shape: Shape =
    node.name.value === '__typename'
      ? { kind: 'typename', names: possibleNames(schema, parent), nullable: false }
      : shapeOf(schema, field.type, occurrences);
  return {
    key,
    wire: toSnake(key),
    shape,
    optional: occurrences.every(occurrence => occurrence.optional),
    description: shape.kind === 'typename' ? null : (field.description ?? null),
    deprecated: field.deprecationReason != null,
  };
}

/** Members in the order of selection; an unaliased `__typename` is for the gateway, not for the wire. */
function membersOf(schema: GraphQLSchema, occurrences: readonly Occurrence[]): Member[] {
  const fields = new Map<string, Occurrence[]>();
  for (const { node, parent } of occurrences) {
    const type = getNamedType(fieldOf(parent, node.name.value).type) as GraphQLCompositeType;
    collect(schema, type, node.selectionSet!, false, fields);
  }
  return [...fields].filter(([key]) => key !== '__typename').map(([key, found]) => memberOf(schema, key, found));
}

/** Whether a field of this type answers with a page. */
export const isConnection = (type: GraphQLNamedType): type is GraphQLObjectType =>
  isObjectType(type) && type.name.endsWith('Connection') && 'nodes' in type.getFields() && 'pageInfo' in type.getFields();

const isPage = (type: GraphQLCompositeType, members: readonly Member[]): boolean =>
  isConnection(type) && members.some(member => member.key === 'nodes') && members.some(member => member.key === 'pageInfo');

function compositeShape(type: GraphQLCompositeType, members: readonly Member[], nullable: boolean): Shape {
  if (!isPage(type, members)) return { kind: 'object', type, members, nullable };
  const nodes = members.find(member => member.key === 'nodes')!.shape;
  return { kind: 'page', type, nodes, others: members.filter(member => member.key !== 'nodes' && member.key !== 'pageInfo'), nullable };
}

/** Shape of a field's value, merged over all its occurrences. */
function shapeOf(schema: GraphQLSchema, type: GraphQLOutputType, occurrences: readonly Occurrence[]): Shape {
  if (isNonNullType(type)) return { ...shapeOf(schema, type.ofType, occurrences), nullable: false };
  if (isListType(type)) return { kind: 'list', of: shapeOf(schema, type.ofType, occurrences), nullable: true };
  if (isEnumType(type)) return { kind: 'enum', type, nullable: true };
  if (isCompositeType(type)) return compositeShape(type, membersOf(schema, occurrences), true);
  return { kind: 'scalar', type, nullable: true };
}

/** Shape of one selected field. */
export const shapeOfField = (schema: GraphQLSchema, parent: GraphQLCompositeType, node: FieldNode): Shape =>
  shapeOf(schema, fieldOf(parent, node.name.value).type, [{ node, parent, optional: false }]);
