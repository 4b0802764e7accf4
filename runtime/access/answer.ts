import {
  getNamedType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';
import { Selections } from '../execution/selections.js';
import { ruleOnNode, type AccessRule } from './rules.js';

/** Whether null in a place of this type is null for what is around it, too: `X!` and `[X!]!` are, `X` and `[X]!` are not. */
const passesNullOn = (type: GraphQLOutputType): boolean =>
  isNonNullType(type) && (!isListType(type.ofType) || passesNullOn(type.ofType.ofType as GraphQLOutputType));

/**
 * Rules of the fields of an answer whose refusal would leave nothing of it. A mutation asks them before its work, because an error in
 * place of its whole answer says that nothing has happened. Fields that may be null are left out: the rest of the answer stands.
 */
export function rulesOfWhole({ schema, fragments, operation, returnType, fieldNodes, variableValues }: GraphQLResolveInfo): AccessRule[] {
  const selections = new Selections({ schema, fragments, operation }, variableValues);
  const within = (type: GraphQLOutputType, nodes: readonly FieldNode[]): AccessRule[] => {
    const object = getNamedType(type);
    if (!isObjectType(object)) return [];
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return [...selections.fieldsOf(object, sets).values()].flatMap(found => {
      const field = object.getFields()[found[0]!.name.value];
      if (!field || !passesNullOn(field.type)) return [];
      return [ruleOnNode(field.astNode) ?? [], within(field.type, found)].flat();
    });
  };
  return within(returnType, fieldNodes);
}
