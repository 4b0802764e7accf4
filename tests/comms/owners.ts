import { Kind, type DocumentNode, type OperationDefinitionNode, type SelectionSetNode } from 'graphql';
import type { StoredDocument } from '../../runtime/federation/federation.js';
import type { FileTemplate } from '../../subgraphs/comms/ports/template-files.js';
import { absentOwner } from './absent-owners.js';

/** An answer, or a part of one. */
export type Tree = Record<string, unknown>;

/** What owners answer where a test says it. */
export interface Answers {
  /** Text of a field, by the template's key and the field's path. */
  textOf(path: string): unknown;
  /** Of whatever has to be at a given time. */
  instant: string;
  /** Ids and codes that owners know, so that what is told of still holds. */
  known: { flags: readonly string[]; doses: readonly string[]; codes: readonly string[] };
  /** Documents for which the contract of an absent owner has no answer are put here. */
  refused: string[];
}

const ABSENT: readonly (string | null)[] = ['booking', 'community'];
const LISTS = ['nodes', 'items'];

const put = (tree: Tree, path: string, value: unknown): void => {
  const [last, ...outer] = path.split('.').reverse();
  outer.reverse().reduce((inner, key) => (inner[key] ??= {}) as Tree, tree)[last!] = value;
};

export const fieldsOf = ({ definitions: [query] }: DocumentNode): SelectionSetNode => (query as OperationDefinitionNode).selectionSet;

/** A text in each field of a selection; of a list one. */
export const answered = (set: SelectionSetNode, of: string, textOf: Answers['textOf']): Tree =>
  Object.fromEntries(
    set.selections.flatMap(field => {
      if (field.kind !== Kind.FIELD) return [];
      const name = field.name.value;
      const value = field.selectionSet ? answered(field.selectionSet, `${of}.${name}`, textOf) : textOf(`${of}.${name}`);
      return [[field.alias?.value ?? name, LISTS.includes(name) ? [value] : value]];
    }),
  );

/** As the contract of an owner that is not built lets it answer. */
export const absent = (document: StoredDocument, variables: Tree, of: string, { textOf, refused }: Answers, known: Tree = {}) =>
  absentOwner(document, variables, path => textOf(`${of}.${path}`), known).catch((error: Error) => {
    refused.push(`${of}: ${error.message}`);
    throw error;
  });

/** What holds by a rule of its own. */
const RULED: Readonly<Record<string, (known: Answers['known'], variables: Tree) => [path: string, rows: Tree[]]>> = {
  red_flag: ({ flags }) => ['redFlags.nodes', flags.map(id => ({ id, status: 'OPEN', visibleToMember: true }))],
  dose: ({ doses }, { from }) => ['doses.nodes', doses.map(id => ({ id, status: 'SCHEDULED', scheduledFor: from }))],
  retest: ({ codes }) => ['retestCycles.nodes', codes.map(code => ({ code }))],
};

/** What an owner answers to the document of a template: a text in all fields, but where the message would not hold any more. */
export async function displayOf({ key, owner, document, fresh }: FileTemplate, variables: Tree, answers: Answers): Promise<Tree> {
  const answer = ABSENT.includes(owner)
    ? await absent(document!, variables, key, answers)
    : answered(fieldsOf(document!.document), key, answers.textOf);
  for (const [path, values] of Object.entries(fresh?.in ?? {})) put(answer, path, values[0]);
  for (const path of Object.values(fresh?.same ?? {})) put(answer, path, answers.instant);
  const ruled = fresh?.rule === undefined ? null : RULED[fresh.rule]?.(answers.known, variables);
  if (ruled) put(answer, ...ruled);
  return answer;
}
