import {
  getArgumentValues,
  isNonNullType,
  Kind,
  valueFromAST,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type ValueNode,
} from 'graphql';
import type { Variables } from './run.js';

type Values = Record<string, unknown>;

/** An argument that needs no coercion: a variable, which is already coerced, or a constant. */
type Ready = { readonly name: string } & ({ readonly variable: string; readonly nonNull: boolean } | { readonly constant: unknown });

/** Literals whose values are immutable, so that all calls may share them. */
const SCALARS: readonly string[] = [Kind.STRING, Kind.INT, Kind.FLOAT, Kind.BOOLEAN, Kind.ENUM, Kind.NULL];

const isShareable = (value: unknown): boolean => value === null || (value !== undefined && typeof value !== 'object');

/** The argument's value, known before the call; empty for an absent argument without a default. Null when it must be computed at each call: a list, an object, an invalid literal. */
function readyOf({ name, type, defaultValue }: GraphQLArgument, node: ValueNode | undefined): Ready[] | null {
  const nonNull = isNonNullType(type);
  if (!node) return defaultValue !== undefined ? [{ name, constant: defaultValue }] : nonNull ? null : [];
  if (node.kind === Kind.VARIABLE) return [{ name, variable: node.name.value, nonNull }];
  const constant = SCALARS.includes(node.kind) ? valueFromAST(node, type) : undefined;
  return isShareable(constant) ? [{ name, constant }] : null;
}

/** Compiles a field's arguments. Each call makes a new object, because a resolver may change it. */
export function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): (variables: Variables) => Values {
  const given = new Map(node.arguments?.map(one => [one.name.value, one.value]));
  const compute = (variables: Variables): Values => getArgumentValues(field, node, variables);
  const found = field.args.map(arg => readyOf(arg, given.get(arg.name)));
  if (found.includes(null)) return compute;
  const ready = found.flatMap(one => one ?? []);
  return variables => {
    const values: Values = {};
    for (const one of ready) {
      if ('constant' in one) values[one.name] = one.constant;
      else if (!Object.hasOwn(variables, one.variable))
        return compute(variables); // a default, no value, or an error
      else if ((values[one.name] = variables[one.variable]) === null && one.nonNull) return compute(variables);
    }
    return values;
  };
}
