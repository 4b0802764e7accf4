import { isEnumType, type GraphQLEnumType, type GraphQLLeafType } from 'graphql';
import { jsonOf, quoted } from './json.js';
import { NULL, type Writing, type Write } from './writing.js';

/** Counts a value that does not fit its type, and writes null for it. */
function invalid(writing: Writing): string {
  writing.faults++;
  return NULL;
}

const isMissing = (value: unknown): boolean => value === null || value === undefined;

/** Writers of the built-in scalars. Subgraphs may send a number for an ID and an integer for a Float. */
const BUILT_IN: Readonly<Record<string, Write>> = {
  String: (value, writing) => (typeof value === 'string' ? quoted(value) : isMissing(value) ? NULL : invalid(writing)),
  ID: (value, writing) =>
    typeof value === 'string' ? quoted(value) : isMissing(value) ? NULL : Number.isInteger(value) ? String(value) : invalid(writing),
  Int: (value, writing) => (Number.isInteger(value) ? String(value) : isMissing(value) ? NULL : invalid(writing)),
  Float: (value, writing) =>
    typeof value === 'number' && Number.isFinite(value) ? String(value) : isMissing(value) ? NULL : invalid(writing),
  Boolean: (value, writing) => (value === true ? 'true' : value === false ? 'false' : isMissing(value) ? NULL : invalid(writing)),
};

/** A value that the API does not have, because it is `@inaccessible`, becomes null. */
function enumWriter(type: GraphQLEnumType): Write {
  const texts = new Map(type.getValues().map(({ name }) => [name, JSON.stringify(name)]));
  return (value, writing) => (isMissing(value) ? NULL : (texts.get(value) ?? invalid(writing)));
}

/** Custom scalars are written as they come: the subgraph has serialised them. */
const custom: Write = value => (isMissing(value) ? NULL : jsonOf(value));

/** The writer of a leaf. */
export const leafWriter = (type: GraphQLLeafType): Write => (isEnumType(type) ? enumWriter(type) : (BUILT_IN[type.name] ?? custom));
