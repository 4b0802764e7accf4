import { coerceInputValue, isInputObjectType, type GraphQLSchema } from 'graphql';
import { requireValid, type Violation } from '../request/errors.js';
import { objectReader } from '../schema/wire-reader.js';

/**
 * Reads rows as an operation's input: names as on the wire, and everything that the input refuses is refused. What is left out has the
 * input's defaults. The answer throws Problem invalid_request with every violation, its pointers into the row.
 */
export function inputReader<Input extends object>(schema: GraphQLSchema, name: string): (row: Record<string, unknown>) => Input {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`${name} is no input`);
  const read = objectReader(type);
  return row => {
    const found: Violation[] = [];
    const value = read(row, '', found);
    requireValid(found);
    return coerceInputValue(value, type) as Input;
  };
}
