/**
 * The shape of an answer: a selection set resolved against the schema, fragments merged. The response converter and the OpenAPI
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
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { toSnake } from './wire.js';

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

export interface Reading {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** A field under one response key, once per place where it is selected. */
interface Occurrence {
  node: FieldNode;
  parent: GraphQLCompositeType;
  optional: boolean;
}

const isConditional = (node: { directives?: readonly { name: { value: string } }[] | undefined }): boolean =>
  node.directives?.some(directive => directive.name.value === 'skip' || directive.name.value === 'include') ?? false;

const conditionOf = (reading: Reading, name: string | undefined, parent: GraphQLCompositeType): GraphQLCompositeType =>
  name === undefined ? parent : (reading.schema.getType(name) as GraphQLCompositeType);

/** Whether a fragment on `condition` applies to every value of `parent`. */
const covers = (schema: GraphQLSchema, condition: GraphQLCompositeType, parent: GraphQLCompositeType): boolean =>
  condition === parent ||
  (isAbstractType(condition) && (isObjectType(parent) || parent.name === condition.name) && schema.isSubType(condition, parent as never));

/** All fields of a selection set by response key, fragments flattened. */
function collect(
  reading: Reading,
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
    } else {
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : reading.fragments.get(selection.name.value)!;
      const condition = conditionOf(reading, fragment.typeCondition?.name.value, parent);
      collect(reading, condition, fragment.selectionSet, maybe || !covers(reading.schema, condition, parent), into);
    }
  }
  return into;
}

/** Definition of a selected field, `__typename` included. */
export function fieldOf(parent: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> {
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

function memberOf(reading: Reading, key: string, places: readonly Occurrence[]): Member {
  const { node, parent } = places[0]!;
  const field = fieldOf(parent, node.name.value);
  const shape: Shape =
    node.name.value === '__typename'
      ? { kind: 'typename', names: possibleNames(reading.schema, parent), nullable: false }
      : shapeOf(reading, field.type, places);
  return {
    key,
    wire: toSnake(key),
    shape,
    optional: places.every(place => place.optional),
    description: shape.kind === 'typename' ? null : (field.description ?? null),
    deprecated: field.deprecationReason != null,
  };
}

/** Members in the order of selection; an unaliased `__typename` is for the gateway, not for the wire. */
function membersOf(reading: Reading, places: readonly Occurrence[]): Member[] {
  const fields = new Map<string, Occurrence[]>();
  for (const { node, parent } of places) {
    const type = getNamedType(fieldOf(parent, node.name.value).type) as GraphQLCompositeType;
    collect(reading, type, node.selectionSet!, false, fields);
  }
  return [...fields].filter(([key]) => key !== '__typename').map(([key, found]) => memberOf(reading, key, found));
}

const isPage = (type: GraphQLCompositeType, members: readonly Member[]): boolean =>
  type.name.endsWith('Connection') && members.some(member => member.key === 'nodes') && members.some(member => member.key === 'pageInfo');

function compositeShape(type: GraphQLCompositeType, members: readonly Member[], nullable: boolean): Shape {
  if (!isPage(type, members)) return { kind: 'object', type, members, nullable };
  const nodes = members.find(member => member.key === 'nodes')!.shape;
  return { kind: 'page', type, nodes, others: members.filter(member => member.key !== 'nodes' && member.key !== 'pageInfo'), nullable };
}

/** Shape of a field's value, merged over all places where it is selected. */
function shapeOf(reading: Reading, type: GraphQLOutputType, places: readonly Occurrence[]): Shape {
  if (isNonNullType(type)) return { ...shapeOf(reading, type.ofType, places), nullable: false };
  if (isListType(type)) return { kind: 'list', of: shapeOf(reading, type.ofType, places), nullable: true };
  if (isEnumType(type)) return { kind: 'enum', type, nullable: true };
  if (isCompositeType(type)) return compositeShape(type, membersOf(reading, places), true);
  return { kind: 'scalar', type, nullable: true };
}

/** Shape of one selected field. */
export const shapeOfField = (reading: Reading, parent: GraphQLCompositeType, node: FieldNode): Shape =>
  shapeOf(reading, fieldOf(parent, node.name.value).type, [{ node, parent, optional: false }]);
