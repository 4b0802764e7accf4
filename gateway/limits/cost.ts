import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { fail } from '../../runtime/request/errors.js';
import type { Variables } from '../plans/compiled/rows.js';

/** Most objects that one operation may ask for, counting every page as full: a page of 100 whose rows have a page of 100 each passes, a third level does not. */
export const MAX_OBJECTS = 25_000;
/** Assumed length of a list without `first`: a brand's domains, a person's roles. */
const SHORT_LIST = 10;
/** Page size where neither the document nor the schema gives `first`. Source: conventions 4. */
const PAGE = 20;

/** Number of objects that a selection asks for below one object. */
type Count = (variables: Variables) => number;

/** Size of a page: `first` in the document, a variable's value, or the schema's default. */
function pageSize(node: FieldNode, field: GraphQLField<unknown, unknown>): Count {
  const given = node.arguments?.find(one => one.name.value === 'first')?.value;
  const standard = Number(field.args.find(one => one.name === 'first')?.defaultValue ?? PAGE);
  if (given?.kind === Kind.INT) return () => Number(given.value);
  if (given?.kind !== Kind.VARIABLE) return () => standard;
  return variables => {
    const value = variables[given.name.value];
    return typeof value === 'number' && value >= 0 ? value : standard;
  };
}

class CostCompiler {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;

  constructor(
    private readonly schema: GraphQLSchema,
    { definitions }: DocumentNode,
  ) {
    const fragments = definitions.filter(one => one.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(fragments.map(one => [one.name.value, one]));
  }

  /** @param page size of the page when the selection is of a connection: the length of the connection's lists. */
  selections(set: SelectionSetNode, parent: GraphQLNamedType, page: Count | null = null): Count {
    const counts = set.selections.flatMap(selection => {
      if (selection.kind === Kind.FIELD) return this.#field(selection, parent, page) ?? [];
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value)!;
      const condition = fragment.typeCondition && this.schema.getType(fragment.typeCondition.name.value);
      return this.selections(fragment.selectionSet, condition ?? parent, page);
    });
    return variables => counts.reduce((sum, count) => sum + count(variables), 0);
  }

  #field(node: FieldNode, parent: GraphQLNamedType, page: Count | null): Count | null {
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    const type = field && getNamedType(field.type);
    if (!field || !type || !isCompositeType(type) || !node.selectionSet) return null;
    const own = field.args.some(one => one.name === 'first') ? pageSize(node, field) : null;
    const below = this.selections(node.selectionSet, type, own);
    if (!isListType(getNullableType(field.type))) return variables => 1 + below(variables);
    const length = own ?? page ?? (() => SHORT_LIST);
    return variables => length(variables) * (1 + below(variables));
  }
}

const compiled = new WeakMap<OperationDefinitionNode, Count>();

/** Number of objects that a valid operation asks for, counting every page as full; compiled once per operation. */
export function objectsOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Variables): number {
  let count = compiled.get(operation);
  if (!count) {
    const root = schema.getRootType(operation.operation)!;
    compiled.set(operation, (count = new CostCompiler(schema, document).selections(operation.selectionSet, root)));
  }
  return count(variables);
}

/** @throws Problem invalid_request, reason document_too_complex. */
export function limitObjects(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): void {
  const objects = objectsOf(schema, document, operation, variables);
  if (objects <= MAX_OBJECTS) return;
  fail('invalid_request', `The document asks for up to ${objects} objects, more than ${MAX_OBJECTS}; ask for smaller pages`, {
    reason: 'document_too_complex',
  });
}
