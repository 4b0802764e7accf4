import {
  Kind,
  parse,
  print,
  visit,
  type DocumentNode,
  type FieldNode,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { Lru } from '../lru.js';
import type { Call, EntityDocument } from './call.js';
import type { SendLists } from './subgraph.js';

/** Combinations of documents that are kept of one operation; which come together depends on the order of answers. */
const MAX_COMBINATIONS = 32;

const REPRESENTATIONS = 'representations';
const listName = (at: number): string => `${REPRESENTATIONS}_${at}`;
/** Response name of the entities of one part. */
export const entitiesName = (at: number): string => `_e${at}`;

const operationOf = ({ definitions }: DocumentNode): OperationDefinitionNode =>
  definitions.find(one => one.kind === Kind.OPERATION_DEFINITION)!;

/** Whether no variable of the client has the name of a list of representations. */
const hasFreeNames = (document: DocumentNode): boolean =>
  (operationOf(document).variableDefinitions ?? []).every(
    ({ variable }) => variable.name.value === REPRESENTATIONS || !variable.name.value.startsWith(REPRESENTATIONS),
  );

const renamed = <T extends { readonly name: { readonly value: string } }>(node: T, name: string): T => ({
  ...node,
  name: { ...node.name, value: name },
});

/** A part whose fragments and list of representations have names of their own; other variables mean the same in all parts. */
function partOf(text: string, at: number): DocumentNode {
  return visit(parse(text, { noLocation: true }), {
    FragmentSpread: node => renamed(node, `${node.name.value}_p${at}`),
    FragmentDefinition: { leave: node => renamed(node, `${node.name.value}_p${at}`) },
    Variable: node => (node.name.value === REPRESENTATIONS ? renamed(node, listName(at)) : undefined),
  });
}

const aliased = (field: FieldNode, at: number): FieldNode => ({ ...field, alias: { kind: Kind.NAME, value: entitiesName(at) } });

/** One query with the `_entities` of each text. */
export function mergedText(texts: readonly string[]): string {
  const parts = texts.map(partOf);
  const operations = parts.map(operationOf);
  const variables = new Map<string, VariableDefinitionNode>();
  for (const one of operations.flatMap(({ variableDefinitions }) => variableDefinitions ?? [])) variables.set(one.variable.name.value, one);
  const selections = operations.flatMap(({ selectionSet }, at) => selectionSet.selections.map(one => aliased(one as FieldNode, at)));
  const fragments = parts.flatMap(({ definitions }) => definitions.filter(one => one.kind === Kind.FRAGMENT_DEFINITION));
  const query = { ...operations[0]!, variableDefinitions: [...variables.values()], selectionSet: { kind: Kind.SELECTION_SET, selections } };
  return print({ kind: Kind.DOCUMENT, definitions: [query as OperationDefinitionNode, ...fragments] });
}

/** Documents of an operation that are sent as one, each combination made once, so that subgraphs know them again. */
export class MergedDocuments {
  readonly #combinations = new Lru<SendLists>(MAX_COMBINATIONS, MAX_COMBINATIONS);

  /** Null where the subgraph or a document does not allow it. */
  of(calls: readonly Call[]): SendLists | null {
    const documents = calls.map(call => call.document);
    const { subgraph } = documents[0]!;
    if (!subgraph.prepareLists || !documents.every(isMergeable)) return null;
    const key = documents.map(({ id }) => id).join(' ');
    let send = this.#combinations.get(key);
    if (!send) {
      const names = documents.map((_, at) => listName(at));
      send = subgraph.prepareLists(mergedText(documents.map(({ text }) => text)), names);
      this.#combinations.set(key, send, 1);
    }
    return send;
  }
}

const mergeable = new WeakMap<EntityDocument, boolean>();

function isMergeable(document: EntityDocument): boolean {
  let known = mergeable.get(document);
  if (known === undefined) mergeable.set(document, (known = hasFreeNames(parse(document.text, { noLocation: true }))));
  return known;
}
