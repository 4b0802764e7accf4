import { NULL, type Write, type Writing } from './writing.js';

/** A response key of an object: what writes it, or its constant text. `property` is the name under which the data has it. */
export type Member = { readonly key: string; readonly property: string; readonly nonNull: boolean } & (
  { readonly write: Write } | { readonly constant: string }
);

const IDENTIFIER = /^[A-Za-z_]\w*$/;
/** Source of the look-up of a property, which V8 makes one load. */
function lookUp(property: string): string {
  if (!IDENTIFIER.test(property)) throw new Error('a response name is a GraphQL name');
  return `v.${property}`;
}

/**
 * Source of the lines that write one member. Only keys, which are GraphQL names, and JSON literals get into it; everything else is
 * reached through `w`, the array of writers.
 */
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
 * Generates the function that writes an object of one type with one selection. It is generated because a loop over members makes
 * every property access megamorphic: three to five times the time on answers of many rows.
 */
export function compileObject(members: readonly Member[]): Write {
  const writers = members.map(member => ('write' in member ? member.write : null));
  const names = writers.map((_, at) => `w${at}`).join(', ');
  const source = `const [${names}] = w; return function (v, n) { let s = "{", t; ${members.map(linesOf).join('\n')} return s + "}"; };`;
  // oxlint-disable-next-line typescript/no-implied-eval -- the source holds names and literals only, see linesOf
  return new Function('w', 'fault', source)(writers, fault) as Write;
}
