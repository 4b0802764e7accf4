import { defaultFieldResolver, type GraphQLField, type GraphQLFieldResolver } from 'graphql';

/** Throws when this context may not read. The result must not change while the context lives. */
export type ContextCheck = (context: any) => void;

const checks = new WeakMap<GraphQLFieldResolver<any, any>, ContextCheck>();

/** A resolver that reads its field's property after a check of the context. Compiled code runs the check once for all fields of an object. */
export function propertyBehind(check: ContextCheck): GraphQLFieldResolver<unknown, any> {
  const resolve: GraphQLFieldResolver<unknown, any> = (source, args, context, info) => {
    check(context);
    return defaultFieldResolver(source, args, context, info) as unknown;
  };
  checks.set(resolve, check);
  return resolve;
}

/** The check of a field that is read from a property; null: it has none; undefined: the field has another resolver. */
export function checkOf({ resolve }: GraphQLField<unknown, any>): ContextCheck | null | undefined {
  return resolve === undefined || resolve === defaultFieldResolver ? null : checks.get(resolve);
}
