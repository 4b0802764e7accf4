import { Kind, parse, type DocumentNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';
import { fail } from '../runtime/errors.js';

/** Bounds of a document from outside, fragments expanded. Source: must-not-happen 30. */
export const LIMITS = { tokens: 4_000, characters: 65_536, depth: 15, fields: 1_000, aliases: 100, directives: 50, rootFields: 25 } as const;

interface Size {
  depth: number;
  fields: number;
  aliases: number;
  directives: number;
}

const EMPTY: Size = { depth: 0, fields: 0, aliases: 0, directives: 0 };

const plus = (a: Size, b: Size, deeper = 0): Size => ({
  depth: Math.max(a.depth, b.depth + deeper), fields: a.fields + b.fields, aliases: a.aliases + b.aliases, directives: a.directives + b.directives,
});

/** Sizes of a document's selections; each fragment is measured once, so a hostile one costs no more than its text. */
class Measure {
  readonly #fragments: Map<string, FragmentDefinitionNode>;
  readonly #known = new Map<string, Size | 'measuring'>();

  constructor(document: DocumentNode) {
    const fragments = document.definitions.filter(one => one.kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(fragments.map(fragment => [fragment.name.value, fragment]));
  }

  selections(set: SelectionSetNode | undefined): Size {
    let size = EMPTY;
    for (const selection of set?.selections ?? []) {
      const own = { ...EMPTY, directives: selection.directives?.length ?? 0 };
      if (selection.kind === Kind.FIELD) {
        const inner = this.selections(selection.selectionSet);
        size = plus(size, { depth: inner.depth + 1, fields: inner.fields + 1, aliases: inner.aliases + (selection.alias ? 1 : 0), directives: inner.directives + own.directives });
      } else {
        const inner = selection.kind === Kind.FRAGMENT_SPREAD ? this.fragment(selection.name.value) : this.selections(selection.selectionSet);
        size = plus(size, plus(own, inner));
      }
    }
    return size;
  }

  fragment(name: string): Size {
    const known = this.#known.get(name);
    if (known === 'measuring') return fail('invalid_request', `Fragment ${name} contains itself`);
    if (known) return known;
    this.#known.set(name, 'measuring');
    const size = this.selections(this.#fragments.get(name)?.selectionSet);
    this.#known.set(name, size);
    return size;
  }
}

function refuse(what: string, limit: number): never {
  fail('invalid_request', `The document has more than ${limit} ${what}`, { reason: 'document_too_complex' });
}

/** Parses a document from outside within its limits. @throws Problem invalid_request for a syntax error or a document beyond them. */
export function parseLimited(source: string): DocumentNode {
  if (source.length > LIMITS.characters) refuse('characters', LIMITS.characters);
  const document = parseOrFail(source);
  const measure = new Measure(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const size = measure.selections(definition.selectionSet);
    if (definition.selectionSet.selections.length > LIMITS.rootFields) refuse('root selections', LIMITS.rootFields);
    if (size.depth > LIMITS.depth) refuse('levels', LIMITS.depth);
    if (size.fields > LIMITS.fields) refuse('fields', LIMITS.fields);
    if (size.aliases > LIMITS.aliases) refuse('aliases', LIMITS.aliases);
    if (size.directives + (definition.directives?.length ?? 0) > LIMITS.directives) refuse('directives', LIMITS.directives);
  }
  return document;
}

function parseOrFail(source: string): DocumentNode {
  try {
    return parse(source, { maxTokens: LIMITS.tokens });
  } catch (error) {
    return fail('invalid_request', (error as Error).message);
  }
}

/** Documents that passed the limits before: the check costs a hash look-up for every further request. */
export class CheckedDocuments {
  readonly #known = new Map<string, DocumentNode>();

  constructor(private readonly max = 2_000) {}

  get(source: string): DocumentNode {
    const known = this.#known.get(source);
    if (known) return known;
    const document = parseLimited(source);
    if (this.#known.size >= this.max) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(source, document);
    return document;
  }
}
