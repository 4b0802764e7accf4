import { Kind, visit, type DocumentNode } from 'graphql';
import { fail } from '../../runtime/request/errors.js';
import { MAX_ENTITIES } from '../plans/subgraph-source.js';
import { limitVariables } from './limits.js';

/** Levels and values of a call's variables: what a REST body can hold (64 levels, 1 MiB of `[0,0,…`), and the representations beside it. */
const VARIABLES = { levels: 80, values: 1_000_000 };

/** Name of the variable with the representations; null for a document whose representations, if any, are in its text. */
const representationVariables = new WeakMap<DocumentNode, string | null>();

/** @throws Problem invalid_request for more than one `_entities`: aliases would multiply the batch. */
function representationsOf(document: DocumentNode): string | null {
  const known = representationVariables.get(document);
  if (known !== undefined) return known;
  const found: (string | null)[] = [];
  visit(document, {
    Field({ name, arguments: given }) {
      if (name.value !== '_entities') return;
      const value = given?.find(one => one.name.value === 'representations')?.value;
      found.push(value?.kind === Kind.VARIABLE ? value.name.value : null);
    },
  });
  if (found.length > 1) fail('invalid_request', 'A call asks for _entities once', { reason: 'document_too_complex' });
  representationVariables.set(document, found[0] ?? null);
  return found[0] ?? null;
}

/** @throws Problem invalid_request for variables or a batch of entities beyond what a gateway sends. */
export function limitSubgraphCall(document: DocumentNode, variables: Readonly<Record<string, unknown>>): void {
  limitVariables(variables, VARIABLES);
  const name = representationsOf(document);
  const representations = name === null ? null : variables[name];
  if (Array.isArray(representations) && representations.length > MAX_ENTITIES)
    fail('invalid_request', `A call asks for at most ${MAX_ENTITIES} entities`, { reason: 'document_too_complex' });
}
