import type { ApolloGateway } from '@apollo/gateway';
import type { ExtendableElement, Schema, SchemaElement } from '@apollo/federation-internals';
import type { GraphQLSchema } from 'graphql';

/** Whatever remembers the text that it was read from. */
interface Read {
  sourceAST?: unknown;
}

const isExtendable = (element: SchemaElement<any, any>): element is SchemaElement<any, any> & ExtendableElement => 'extensions' in element;

function* readIn(schema: Schema): Generator<Read> {
  for (const element of schema.allSchemaElement()) {
    yield element;
    if (isExtendable(element)) yield* element.extensions();
  }
  for (const directive of schema.allDirectives()) yield* directive.applications();
}

/**
 * Drops what a loaded gateway keeps beside its plans: the syntax trees with every token of the supergraph's text, which only composition's
 * errors show, and its own executable schema, in whose place the one comes that we have.
 */
export function dropSyntaxTrees(gateway: ApolloGateway, supergraph: GraphQLSchema): void {
  const planner = gateway['queryPlanner']!;
  const schemas = [gateway['apiSchema']!, planner.supergraph.schema, ...planner['federatedQueryGraph'].sources.values()];
  for (const schema of schemas) for (const one of readIn(schema)) one.sourceAST = undefined;
  gateway['supergraphSchema'] = supergraph;
}
