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

/** An argument that needs no coercion: a variable, which is coerced already, or a constant. */
type Ready = { readonly name: string } & ({ readonly variable: string; readonly nonNull: boolean } | { readonly constant: unknown });

/** Literals whose value may be shared by all calls, because it cannot be changed. */
const SCALARS: readonly string[] = [Kind.STRING, Kind.INT, Kind.FLOAT, Kind.BOOLEAN, Kind.ENUM, Kind.NULL];

const isShareable = (value: unknown): boolean => value === null || (value !== undefined && typeof value !== 'object');

/** Null where it has to be computed each time: a list, an object, what is wrong. An absent one without a default is empty. */
function readyOf({ name, type, defaultValue }: GraphQLArgument, node: ValueNode | undefined): Ready[] | null {
  const nonNull = isNonNullType(type);
  if (!node) return defaultValue !== undefined ? [{ name, constant: defaultValue }] : nonNull ? null : [];
  if (node.kind === Kind.VARIABLE) return [{ name, variable: node.name.value, nonNull }];
  const constant = SCALARS.includes(node.kind) ? valueFromAST(node, type) : undefined;
  return isShareable(constant) ? [{ name, constant }] : null;
}

/** A field's arguments by name, for the variables of one execution: a new object each time, because it is the resolver's. */
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
        return compute(variables); // a default, none, or an error
      else if ((values[one.name] = variables[one.variable]) === null && one.nonNull) return compute(variables);
    }
    return values;
  };
}
