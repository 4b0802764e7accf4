import { GraphQLError, isScalarType, type GraphQLScalarType, type GraphQLSchema } from 'graphql';
import { scalarMessage, SCALARS } from '../../runtime/schema/scalar-formats.js';

/** Runs a validator; its error says what is expected and nothing of the value. */
function telling<Arguments extends unknown[]>(parse: (...given: Arguments) => unknown, message: string): (...given: Arguments) => unknown {
  return (...given) => {
    try {
      return parse(...given);
    } catch {
      throw new GraphQLError(message);
    }
  };
}

function validate(type: GraphQLScalarType, { parseValue, parseLiteral }: GraphQLScalarType): void {
  const message = scalarMessage(type.name);
  type.parseValue = telling(parseValue, message);
  type.parseLiteral = telling(parseLiteral, message);
}

/**
 * Gives the scalars of a schema that was made from SDL the suite's validators, so that the gateway refuses what the subgraphs would: the
 * literals of a document, and all variables in one answer. Values pass to the subgraphs as they came.
 */
export function validateScalars(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    const scalar = isScalarType(type) ? SCALARS.get(type.name) : undefined;
    if (scalar) validate(type as GraphQLScalarType, scalar);
  }
}
