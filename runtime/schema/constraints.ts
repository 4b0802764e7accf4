import { Directive } from 'type-graphql';
import type { Constraint } from './violations.js';

/** Pattern of an identifier. Source: conventions 3. */
export const UUID = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';
/** Pattern of a text that is more than white space. */
export const NOT_BLANK = '\\S';

/** States a constraint once; it becomes `@constraint` in the SDL, so that REST, GraphQL and OpenAPI all know it. Source: conventions 8. */
export function Rule(constraint: Constraint): PropertyDecorator & ParameterDecorator {
  const args = Object.entries(constraint).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return Directive(`@constraint(${args.join(', ')})`) as PropertyDecorator & ParameterDecorator;
}
