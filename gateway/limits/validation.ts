import { GraphQLError, specifiedRules, validate, ValuesOfCorrectTypeRule, type DocumentNode, type GraphQLSchema } from 'graphql';
import { fail, Problem } from '../../runtime/request/errors.js';
import { asksIntrospection } from '../plans/introspection.js';
import { literalRule } from './literals.js';

/** Errors of one document that are reported, besides those of its values: a document of 4,000 tokens may have as many. */
const MAX_ERRORS = 5;

const RULES = specifiedRules.filter(rule => rule !== ValuesOfCorrectTypeRule);

/** A document that is valid but for values. */
export interface CheckedDocument {
  readonly document: DocumentNode;
  /** Literals that do not fit their types. They are the caller's input, so access is decided before they are reported. */
  readonly invalidValues: readonly GraphQLError[];
}

/** A request refused with several errors. */
export class Refusal extends Problem {
  constructor(readonly errors: readonly GraphQLError[]) {
    super('invalid_request', errors[0]!.message);
  }
}

/**
 * Validates a document within the limits. Where introspection is off, no message names a part of the schema that the document does not name.
 * @throws Problem invalid_request
 */
export function checkDocument(schema: GraphQLSchema, document: DocumentNode, introspection: boolean): CheckedDocument {
  if (!introspection && asksIntrospection(document)) fail('invalid_request', 'Introspection is off', { reason: 'introspection_off' });
  const invalidValues: GraphQLError[] = [];
  const rules = [...RULES, literalRule(invalidValues)];
  const errors = validate(schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: !introspection });
  if (errors.length) throw new Refusal(errors.map(error => invalid(error, introspection)));
  return { document, invalidValues };
}

/** One rule suggests whatever it is told. */
function invalid({ message, nodes }: GraphQLError, introspection: boolean): GraphQLError {
  const shown = introspection ? message : message.replace(/ Did you mean [^]*$/, '');
  return new GraphQLError(shown, { nodes, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
}
