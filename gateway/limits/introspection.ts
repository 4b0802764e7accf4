import { Kind, visit, type DocumentNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';
import { fail } from '../../runtime/request/errors.js';
import { asksIntrospection, isIntrospectionField } from '../plans/introspection.js';

/** Lists of the introspection types that lead back to types. One within another multiplies the answer, and the nesting has no end. */
const CIRCULAR = new Set(['fields', 'inputFields', 'interfaces', 'possibleTypes']);

/** @throws Problem invalid_request, reason document_too_complex. */
function failIntrospection(why: string): never {
  fail('invalid_request', `Introspection ${why}`, { reason: 'document_too_complex' });
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** @param inList whether the selection is below a list of {@link CIRCULAR}. */
function checkSelections(set: SelectionSetNode | undefined, fragments: Fragments, inList: boolean): void {
  for (const selection of set?.selections ?? []) {
    if (selection.kind !== Kind.FIELD) {
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      checkSelections(fragment?.selectionSet, fragments, inList);
      continue;
    }
    if (selection.alias && selection.selectionSet) failIntrospection('takes no aliases');
    const isList = CIRCULAR.has(selection.name.value);
    if (isList && inList) failIntrospection('must not ask for the fields of the types of fields');
    checkSelections(selection.selectionSet, fragments, inList || isList);
  }
}

/**
 * Bounds the answer to introspection: the schema once, no list of types within another, no alias that repeats one. The introspection
 * queries of the usual tools pass. Cyclic fragments must have been refused before. @throws Problem invalid_request
 */
export function limitIntrospection(document: DocumentNode): void {
  if (!asksIntrospection(document)) return;
  const fragments = new Map(document.definitions.filter(one => one.kind === Kind.FRAGMENT_DEFINITION).map(one => [one.name.value, one]));
  let schemas = 0;
  visit(document, {
    Field({ name, selectionSet }) {
      if (!isIntrospectionField(name.value)) return undefined;
      if (name.value === '__schema' && ++schemas > 1) failIntrospection('asks for the schema more than once');
      checkSelections(selectionSet, fragments, false);
      return false;
    },
  });
}
