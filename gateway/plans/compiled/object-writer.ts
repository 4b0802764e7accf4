import { NULL, type Write, type Writing } from './writing.js';

/** A response key of an object, with its writer or its constant text. `property` is its name in the data. */
export type Member = { readonly key: string; readonly property: string; readonly nonNull: boolean } & (
  { readonly write: Write } | { readonly constant: string }
);

const IDENTIFIER = /^[A-Za-z_]\w*$/;

/** Source of a property's look-up, which V8 compiles to one load. */
function lookUp(property: string): string {
  if (!IDENTIFIER.test(property)) throw new Error('a response name is a GraphQL name');
  return `v.${property}`;
}

/** Source of the lines that write one member. It holds only keys, which are GraphQL names, and JSON literals; writers are reached through the array `w`. */
function linesOf(member: Member, at: number): string {
  const label = JSON.stringify(`${at ? ',' : ''}"${member.key}":`);
  if ('constant' in member) return member.constant === NULL ? 'return "null";' : `s += ${label} + ${JSON.stringify(member.constant)};`;
  const value = `w${at}(${lookUp(member.property)}, n)`;
  return member.nonNull ? `t = ${value}; if (t === "null") return fault(n); s += ${label} + t;` : `s += ${label} + ${value};`;
}

function fault(writing: Writing): string {
  writing.faults++;
  return NULL;
}

/**
 * Generates the function that writes an object of one type with one selection. A loop over members would make every property access
 * megamorphic, which takes 3-5 × as long on answers of many rows.
 */
export function compileObject(members: readonly Member[]): Write {
  const writers = members.map(member => ('write' in member ? member.write : null));
  const names = writers.map((_, at) => `w${at}`).join(', ');
  const source = `const [${names}] = w; return function (v, n) { let s = "{", t; ${members.map(linesOf).join('\n')} return s + "}"; };`;
  // oxlint-disable-next-line typescript/no-implied-eval -- the source holds names and literals only, see linesOf
  return new Function('w', 'fault', source)(writers, fault) as Write;
}
