import { defaultFieldResolver, type GraphQLField, type GraphQLFieldResolver } from 'graphql';

/** Throws where this context may not read. Answers the same for as long as the context lives. */
export type ContextCheck = (context: any) => void;

const checks = new WeakMap<GraphQLFieldResolver<any, any>, ContextCheck>();

/** A resolver that reads its field's property where a check of the context passes; compiled code makes one check for all fields of an object. */
export function propertyBehind(check: ContextCheck): GraphQLFieldResolver<unknown, any> {
  const resolve: GraphQLFieldResolver<unknown, any> = (source, args, context, info) => {
    check(context);
    return defaultFieldResolver(source, args, context, info) as unknown;
  };
  checks.set(resolve, check);
  return resolve;
}

/** The check before a field that is a property; null: there is none; undefined: another resolver answers it. */
export function checkOf({ resolve }: GraphQLField<unknown, any>): ContextCheck | null | undefined {
  return resolve === undefined || resolve === defaultFieldResolver ? null : checks.get(resolve);
}
