import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  Kind,
  OperationTypeNode,
  TypeInfo,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
  type ConstDirectiveNode,
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';
import { isPublic, ruleOnNode } from '../../runtime/access/access.js';

/** `@cacheControl` of a field or type. */
interface Hint {
  /** Seconds. */
  maxAge?: number;
  scope?: 'PUBLIC' | 'PRIVATE';
  /** The parent decides, also for a field that returns objects. */
  inheritMaxAge?: boolean;
}

function hintOn(node: { directives?: readonly ConstDirectiveNode[] } | null | undefined): Hint {
  const directive = node?.directives?.find(one => one.name.value === 'cacheControl');
  return Object.fromEntries((directive?.arguments ?? []).map(({ name, value }) => [name.value, valueFromASTUntyped(value)]));
}

/** The least that the types behind an abstract one allow; infinite where none of them says anything. */
function possibleMaxAge(schema: GraphQLSchema, type: GraphQLNamedType): number {
  const hints = isAbstractType(type) ? schema.getPossibleTypes(type).map(({ astNode }) => hintOn(astNode)) : [];
  return Math.min(...hints.map(({ scope, maxAge }) => (scope === 'PRIVATE' ? 0 : (maxAge ?? Infinity))));
}

/** What one selected field allows. A flag may change at any time, so a rule that has one is not public here. */
function fieldMaxAge(schema: GraphQLSchema, info: TypeInfo): number {
  const [field, parent] = [info.getFieldDef(), info.getParentType()];
  if (field?.name === '__typename') return Infinity;
  if (!field || field.name.startsWith('__')) return 0;
  const isRoot = parent === schema.getQueryType();
  const [type, rule] = [getNamedType(field.type), ruleOnNode(field.astNode)];
  const hint = { ...hintOn(type.astNode), ...hintOn(field.astNode) };
  const isForAll = rule ? isPublic(rule) && rule.flag === undefined : !isRoot; // below the root a field without a rule has its parent's
  if (hint.scope === 'PRIVATE' || !isForAll) return 0;
  const own = hint.maxAge ?? (isRoot || (isCompositeType(type) && !hint.inheritMaxAge) ? 0 : Infinity);
  return Math.min(own, possibleMaxAge(schema, type));
}

const isQuery = ({ definitions }: DocumentNode): boolean =>
  definitions.every(one => one.kind !== Kind.OPERATION_DEFINITION || one.operation === OperationTypeNode.QUERY);

function maxAgeOf(schema: GraphQLSchema, document: DocumentNode): number {
  if (!isQuery(document)) return 0;
  const info = new TypeInfo(schema);
  let least = Infinity;
  visit(document, visitWithTypeInfo(info, { Field: () => void (least = Math.min(least, fieldMaxAge(schema, info))) }));
  return Number.isFinite(least) ? Math.max(0, least) : 0;
}

/**
 * How long answers to a document may be kept, seconds: the lowest `@cacheControl(maxAge:)` of its fields, 0 for never. As in Apollo
 * Server a root field and one that returns objects count as 0 without a hint of their own or of their type, other fields follow
 * their parent, and a field's hint goes before its type's. 0 also for what is PRIVATE, for whatever has an `@access` rule that is not
 * public, and for mutations. Conditions are not looked at: a field that is skipped counts. Found once per document.
 */
export function cachePolicy(supergraph: GraphQLSchema): (document: DocumentNode) => number {
  const known = new WeakMap<DocumentNode, number>();
  return document => {
    const found = known.get(document) ?? maxAgeOf(supergraph, document);
    known.set(document, found);
    return found;
  };
}
