import { Kind, parse, type DocumentNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';
import { fail } from '../../runtime/request/errors.js';
import { limitIntrospection } from '../endpoints/introspection.js';
import { Lru } from '../plans/lru.js';

/** Bounds of a document from outside, fragments expanded. Source: must-not-happen 30. */
export const LIMITS = {
  tokens: 4_000,
  characters: 65_536,
  depth: 15,
  fields: 1_000,
  aliases: 100,
  directives: 50,
  rootFields: 25,
  /** Validation compares each fragment with each other one. */
  fragments: 50,
  /** The same response name, with a selection of its own, in one selection set: each is compared with each other one, at every level. */
  repeats: 5,
  /** Objects and lists within one another in variables. */
  variableDepth: 32,
  /** Values of variables, list elements included. */
  variableValues: 20_000,
} as const;

/** Largest body of a GraphQL request, bytes: the largest document, and what the largest input needs (a report of a thousand scope uses). */
export const GRAPHQL_BODY_LIMIT = 256 * 1024;

interface Size {
  depth: number;
  fields: number;
  aliases: number;
  directives: number;
}

const EMPTY: Size = { depth: 0, fields: 0, aliases: 0, directives: 0 };

const plus = (a: Size, b: Size, deeper = 0): Size => ({
  depth: Math.max(a.depth, b.depth + deeper),
  fields: a.fields + b.fields,
  aliases: a.aliases + b.aliases,
  directives: a.directives + b.directives,
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
    if (set) limitRepeats(set);
    for (const selection of set?.selections ?? []) {
      const own = { ...EMPTY, directives: selection.directives?.length ?? 0 };
      if (selection.kind === Kind.FIELD) {
        const inner = this.selections(selection.selectionSet);
        size = plus(size, {
          depth: inner.depth + 1,
          fields: inner.fields + 1,
          aliases: inner.aliases + (selection.alias ? 1 : 0),
          directives: inner.directives + own.directives,
        });
      } else {
        const inner =
          selection.kind === Kind.FRAGMENT_SPREAD ? this.fragment(selection.name.value) : this.selections(selection.selectionSet);
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

function limitRepeats({ selections }: SelectionSetNode): void {
  if (selections.length <= LIMITS.repeats) return;
  const seen = new Map<string, number>();
  for (const selection of selections) {
    if (selection.kind !== Kind.FIELD || !selection.selectionSet) continue;
    const name = selection.alias?.value ?? selection.name.value;
    const count = (seen.get(name) ?? 0) + 1;
    if (count > LIMITS.repeats) refuse('selections of one field in one place', LIMITS.repeats);
    seen.set(name, count);
  }
}

function refuse(what: string, limit: number): never {
  fail('invalid_request', `The document has more than ${limit} ${what}`, { reason: 'document_too_complex' });
}

/** Parses a document from outside within its limits. @throws Problem invalid_request for a syntax error or a document beyond them. */
export function parseLimited(source: string): DocumentNode {
  if (source.length > LIMITS.characters) refuse('characters', LIMITS.characters);
  const document = parseOrFail(source);
  if (document.definitions.filter(one => one.kind === Kind.FRAGMENT_DEFINITION).length > LIMITS.fragments)
    refuse('fragments', LIMITS.fragments);
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
  limitIntrospection(document);
  return document;
}

function parseOrFail(source: string): DocumentNode {
  try {
    return parse(source, { maxTokens: LIMITS.tokens });
  } catch (error) {
    return fail('invalid_request', (error as Error).message);
  }
}

/** @throws Problem invalid_request for variables nested beyond what recursion over them should bear, or with too many values. */
export function limitVariables(variables: unknown): void {
  if (measured(variables, LIMITS.variableDepth, 0) > LIMITS.variableValues)
    fail('invalid_request', `The variables hold more than ${LIMITS.variableValues} values, or more than ${LIMITS.variableDepth} levels`, {
      reason: 'document_too_complex',
    });
}

/** Values in a value, added to a count; stops at the limit, and counts infinity where it is nested too deep. */
function measured(value: unknown, levels: number, count: number): number {
  if (value === null || typeof value !== 'object') return count + 1;
  if (levels === 0) return Infinity;
  for (const one of Array.isArray(value) ? value : Object.values(value)) {
    count = measured(one, levels - 1, count);
    if (count > LIMITS.variableValues) return count;
  }
  return count;
}

/** Kept by bytes too, of which a parsed document takes some thirty per character. */
const MAX_BYTES = 32 * 1024 * 1024;
const BYTES_PER_CHARACTER = 30;

/** Documents that passed the limits before: the check costs a hash look-up for every further request. */
export class CheckedDocuments {
  readonly #known: Lru<DocumentNode>;

  /** @param check what a document must pass beside the limits. @throws Problem invalid_request */
  constructor(
    max = 2_000,
    private readonly check: (document: DocumentNode) => void = () => undefined,
  ) {
    this.#known = new Lru(max, MAX_BYTES);
  }

  get size(): number {
    return this.#known.size;
  }

  get(source: string): DocumentNode {
    const known = this.#known.get(source);
    if (known) return known;
    const document = parseLimited(source);
    this.check(document);
    this.#known.set(source, document, source.length * BYTES_PER_CHARACTER);
    return document;
  }
}
