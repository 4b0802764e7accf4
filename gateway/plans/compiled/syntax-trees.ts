import type { ExtendableElement, Schema, SchemaElement } from '@apollo/federation-internals';

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

/** Drops the syntax trees of schemas with every token of the text that they were read from: only composition's errors show them. */
export function dropSyntaxTrees(schemas: readonly Schema[]): void {
  for (const schema of schemas) for (const one of readIn(schema)) one.sourceAST = undefined;
}
