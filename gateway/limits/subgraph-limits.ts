import { Kind, visit, type DocumentNode } from 'graphql';
import { fail } from '../../runtime/request/errors.js';
import { MAX_ENTITIES, MAX_PARTS } from '../plans/subgraph-source.js';
import { limitVariables } from './limits.js';

/** Levels and values of a call's variables: what a REST body can hold (64 levels, 1 MiB of `[0,0,…`), and the representations beside it. */
const VARIABLES = { levels: 80, values: 1_000_000 };

/** Names of the variables with the representations of a document. */
const representationVariables = new WeakMap<DocumentNode, readonly string[]>();

/** The variable of each `_entities`; null for representations in the document's text. */
function variablesOfEntities(document: DocumentNode): (string | null)[] {
  const found: (string | null)[] = [];
  visit(document, {
    Field({ name, arguments: given }) {
      if (name.value !== '_entities') return;
      const value = given?.find(one => one.name.value === 'representations')?.value;
      found.push(value?.kind === Kind.VARIABLE ? value.name.value : null);
    },
  });
  return found;
}

/** @throws Problem invalid_request for several `_entities` that do not each have a variable of its own: aliases would multiply the batch. */
function representationsOf(document: DocumentNode): readonly string[] {
  const known = representationVariables.get(document);
  if (known) return known;
  const all = variablesOfEntities(document);
  const names = all.filter(name => name !== null);
  if (all.length > MAX_PARTS || (all.length > 1 && new Set(names).size < all.length))
    fail('invalid_request', `A call asks for at most ${MAX_PARTS} lists of entities, each in a variable of its own`, {
      reason: 'document_too_complex',
    });
  representationVariables.set(document, names);
  return names;
}

/** @throws Problem invalid_request for variables or entities, over all lists, beyond what a gateway sends. */
export function limitSubgraphCall(document: DocumentNode, variables: Readonly<Record<string, unknown>>): void {
  limitVariables(variables, VARIABLES);
  let count = 0;
  for (const name of representationsOf(document)) {
    const representations = variables[name];
    count += Array.isArray(representations) ? representations.length : 1;
  }
  if (count > MAX_ENTITIES) fail('invalid_request', `A call asks for at most ${MAX_ENTITIES} entities`, { reason: 'document_too_complex' });
}
