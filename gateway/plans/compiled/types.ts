import { isAbstractType, isInterfaceType, isObjectType, type GraphQLSchema } from 'graphql';

/** Whether a value of type `name` satisfies a fragment's type condition; false for a type that the schema does not know. */
export function satisfies(schema: GraphQLSchema, name: string | undefined, condition: string): boolean {
  if (name === undefined) return false;
  const type = schema.getType(name);
  if (name === condition) return type !== undefined;
  const wanted = schema.getType(condition);
  return isAbstractType(wanted) && (isObjectType(type) || isInterfaceType(type)) && schema.isSubType(wanted, type);
}
