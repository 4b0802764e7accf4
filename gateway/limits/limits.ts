import {
  Kind,
  parse,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { fail } from '../../runtime/request/errors.js';
import { limitIntrospection } from './introspection.js';

/** Limits of a client's document, with fragments expanded. Source: must-not-happen 30. */
export const LIMITS = {
  tokens: 4_000,
  characters: 65_536,
  depth: 15,
  fields: 1_000,
  aliases: 100,
  directives: 50,
  rootFields: 25,
  /** Validation compares each pair of fragments. */
  fragments: 50,
  /** Fields with selections of their own and the same response name in one selection set: validation compares each pair, at every level. */
  repeats: 5,
  /** Levels of objects and lists in variables. */
  variableDepth: 32,
  /** Values in variables, list elements included. */
  variableValues: 20_000,
} as const;

/** Largest body of a GraphQL request, bytes: the largest document and the largest input, a report of 1,000 scope uses. */
export const GRAPHQL_BODY_LIMIT = 256 * 1024;

interface Size {
  depth: number;
  fields: number;
  aliases: number;
  directives: number;
}

const EMPTY: Size = { depth: 0, fields: 0, aliases: 0, directives: 0 };

const plus = (a: Size, b: Size): Size => ({
  depth: Math.max(a.depth, b.depth),
  fields: a.fields + b.fields,
  aliases: a.aliases + b.aliases,
  directives: a.directives + b.directives,
});

/** Sizes of a document's selections. Each fragment is measured once, so the time grows with the document's text only. */
class Measure {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #known = new Map<string, Size | 'measuring'>();

  constructor(fragments: readonly FragmentDefinitionNode[]) {
    this.#fragments = new Map(fragments.map(fragment => [fragment.name.value, fragment]));
  }

  selections(set: SelectionSetNode | undefined): Size {
    if (set) limitRepeats(set);
    return (set?.selections ?? []).reduce((size, selection) => plus(size, this.#selection(selection)), EMPTY);
  }

  #selection(selection: SelectionNode): Size {
    const directives = selection.directives?.length ?? 0;
    if (selection.kind === Kind.FRAGMENT_SPREAD) return plus({ ...EMPTY, directives }, this.#fragment(selection.name.value));
    const inner = this.selections(selection.selectionSet);
    if (selection.kind === Kind.INLINE_FRAGMENT) return plus({ ...EMPTY, directives }, inner);
    const field = { depth: inner.depth + 1, fields: 1, aliases: selection.alias ? 1 : 0, directives };
    return plus(field, inner);
  }

  /** @throws Problem invalid_request for a fragment that contains itself. */
  #fragment(name: string): Size {
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
    if (count > LIMITS.repeats) failAbove(LIMITS.repeats, 'selections of one field in one selection set');
    seen.set(name, count);
  }
}

/** @throws Problem invalid_request, reason document_too_complex. */
function failAbove(limit: number, what: string): never {
  fail('invalid_request', `The document has more than ${limit} ${what}`, { reason: 'document_too_complex' });
}

/** Names of the sizes in the message of a document beyond the limits. */
const SIZES = { depth: 'levels', fields: 'fields', aliases: 'aliases', directives: 'directives' } as const satisfies Record<
  keyof Size,
  string
>;

function limitOperation({ selectionSet, directives }: OperationDefinitionNode, measure: Measure): void {
  const own = { ...EMPTY, directives: directives?.length ?? 0 };
  const size = plus(own, measure.selections(selectionSet));
  if (selectionSet.selections.length > LIMITS.rootFields) failAbove(LIMITS.rootFields, 'root selections');
  for (const name of Object.keys(SIZES) as (keyof Size)[]) if (size[name] > LIMITS[name]) failAbove(LIMITS[name], SIZES[name]);
}

/** Parses a client's document. @throws Problem invalid_request for a syntax error or a document beyond the limits. */
export function parseLimited(source: string): DocumentNode {
  if (source.length > LIMITS.characters) failAbove(LIMITS.characters, 'characters');
  const document = parseOrFail(source);
  const fragments = document.definitions.filter(one => one.kind === Kind.FRAGMENT_DEFINITION);
  if (fragments.length > LIMITS.fragments) failAbove(LIMITS.fragments, 'fragments');
  const measure = new Measure(fragments);
  for (const one of document.definitions) if (one.kind === Kind.OPERATION_DEFINITION) limitOperation(one, measure);
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

/** Levels of objects and lists, and values with list elements, that variables may have. */
interface VariableLimits {
  readonly levels: number;
  readonly values: number;
}

const CLIENT_VARIABLES: VariableLimits = { levels: LIMITS.variableDepth, values: LIMITS.variableValues };

/** @throws Problem invalid_request for variables with too many levels or values. */
export function limitVariables(variables: unknown, limits: VariableLimits = CLIENT_VARIABLES): void {
  const { levels, values } = limits;
  if (countValues(variables, limits, levels, 0) > values)
    fail('invalid_request', `The variables hold more than ${values} values, or more than ${levels} levels`, {
      reason: 'document_too_complex',
    });
}

/** Adds the number of values in a value to a count. Stops above the limit; infinite for a value with too many levels. */
function countValues(value: unknown, limits: VariableLimits, levels: number, count: number): number {
  if (value === null || typeof value !== 'object') return count + 1;
  if (levels === 0) return Infinity;
  for (const one of Array.isArray(value) ? value : Object.values(value)) {
    count = countValues(one, limits, levels - 1, count);
    if (count > limits.values) return count;
  }
  return count;
}
