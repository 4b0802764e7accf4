import type { ExtendableElement, Schema, SchemaElement } from '@apollo/federation-internals';
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  type ConstDirectiveNode,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';

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

/** Part of an executable schema. */
interface Described {
  astNode?: { directives?: readonly ConstDirectiveNode[] } | null | undefined;
}

function* membersOf(type: GraphQLNamedType): Generator<Described> {
  if (isEnumType(type)) yield* type.getValues();
  else if (isInputObjectType(type)) yield* Object.values(type.getFields());
  else if (isObjectType(type) || isInterfaceType(type))
    for (const field of Object.values(type.getFields())) {
      yield field;
      yield* field.args;
    }
}

/** Every part that has a syntax tree of its own. */
export function* describedIn(schema: GraphQLSchema): Generator<Described> {
  yield schema;
  for (const directive of schema.getDirectives()) {
    yield directive;
    yield* directive.args;
  }
  for (const type of Object.values(schema.getTypeMap())) {
    yield type;
    yield* membersOf(type);
  }
}

/** Directives that are read where an operation runs. */
const RULES: ReadonlySet<string> = new Set(['access', 'constraint']);

/** Drops the syntax trees of an executable schema but for `@access` and `@constraint`: texts, names, and what each subgraph has of a type. */
export function keepRules(schema: GraphQLSchema): void {
  for (const one of describedIn(schema)) {
    const rules = one.astNode?.directives?.filter(({ name }) => RULES.has(name.value)) ?? [];
    one.astNode = rules.length > 0 ? { directives: rules } : undefined;
  }
}
