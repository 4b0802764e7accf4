import type { ContextCheck } from './properties.js';
import type { Path, Run } from './run.js';

type Row = Record<string, unknown>;

/** Executes a field: its value in the answer, or a promise of it. @throws GraphQLError for a failed non-null field */
export type ExecuteField = (run: Run, source: unknown, above: Path | undefined) => unknown;

/** A field that is read from a property of its object. */
export interface PropertyField {
  readonly property: string;
  /** Runs before the property is read; null: no check. */
  readonly check: ContextCheck | null;
  /** Whether a value is written to the answer unchanged; null: none is. */
  readonly isDone: ((value: unknown) => boolean) | null;
  /** Completes the value; an error is one that the check or the read threw. */
  complete(run: Run, value: unknown, source: unknown, above: Path | undefined): unknown;
}

/** A response name, with the source of its value. */
export type NamedField = { readonly name: string } & (
  { readonly constant: string } | { readonly execute: ExecuteField } | { readonly read: PropertyField }
);

/** Executes the fields of an object concurrently. */
export type ExecuteObject = (run: Run, source: unknown, above: Path | undefined) => Row | Promise<Row>;

/** Replaces promises by their values; rejects with the first rejection. */
const awaitAll = (row: Row): Promise<Row> =>
  Promise.all(Object.values(row)).then(values => {
    Object.keys(row).forEach((name, at) => (row[name] = values[at]));
    return row;
  });

/** Fails with one field's error, after the other fields that have begun are settled. */
function failAfter(begun: readonly unknown[], error: unknown): Promise<never> {
  if (!begun.some(one => one instanceof Promise)) throw error;
  return awaitAll({ ...begun }).finally(() => {
    throw error;
  }) as Promise<never>;
}

const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('a property threw a value that is no Error', { cause: thrown });

function errorOfCheck(check: ContextCheck, context: unknown): Error | null {
  try {
    check(context);
    return null;
  } catch (error) {
    return errorOf(error);
  }
}

const NOTHING = Object.freeze(Object.create(null) as object);

/** The object whose properties are read; an empty one for a value that is no object. */
const ownerOf = (source: unknown): unknown =>
  (typeof source === 'object' && source !== null) || typeof source === 'function' ? source : NOTHING;

const NAME = /^[A-Za-z_]\w*$/;

function checked(name: string): string {
  if (!NAME.test(name) || name === '__proto__') throw new Error('a response name is a GraphQL name');
  return name;
}

/** Source of the lines that compute one value. */
function linesOf(field: NamedField, at: number, checks: readonly ContextCheck[]): string {
  if ('constant' in field) return `r${at} = ${JSON.stringify(field.constant)};`;
  const note = `if (r${at} instanceof Promise) awaited = true;`;
  if ('execute' in field) return `r${at} = f${at}.execute(run, source, above); ${note}`;
  const { property, isDone, check } = field.read;
  const refused = check ? `if (e${checks.indexOf(check)} !== null) t = e${checks.indexOf(check)}; else ` : '';
  return `${refused}try { t = owner.${checked(property)}; } catch (thrown) { t = errorOf(thrown); }
    if (${isDone ? `d${at}(t)` : 'false'}) r${at} = t; else { r${at} = f${at}.read.complete(run, t, source, above); ${note} }`;
}

/**
 * Generates the function that executes an object's fields. A loop over fields would make every property access megamorphic, which takes 3 ×
 * as long on the rows of a list. The source holds only GraphQL names and literals.
 */
export function compileObject(fields: readonly NamedField[]): ExecuteObject {
  const checks = [...new Set(fields.flatMap(field => ('read' in field && field.read.check) || []))];
  const names = (letter: string) => fields.map((_, at) => `${letter}${at}`).join(', ');
  const source = `const [${names('f')}] = fields, [${names('d')}] = fields.map(one => one.read?.isDone);
  return function (run, source, above) {
    const owner = ownerOf(source);
    ${checks.map((_, at) => `const e${at} = errorOfCheck(checks[${at}], run.context);`).join('\n')}
    let t, awaited = false${fields.length ? `, ${names('r')}` : ''};
    try {
      ${fields.map((field, at) => linesOf(field, at, checks)).join('\n')}
    } catch (error) {
      return failAfter([${names('r')}], error);
    }
    const row = { ${fields.map(({ name }, at) => `${checked(name)}: r${at}`).join(', ')} };
    return awaited ? awaitAll(row) : row;
  };`;
  const given = { fields, checks, ownerOf, errorOfCheck, errorOf, failAfter, awaitAll };
  // oxlint-disable-next-line typescript/no-implied-eval -- the source holds names and literals only, see linesOf
  return new Function(...Object.keys(given), source)(...Object.values(given)) as ExecuteObject;
}

/** Executes the fields of a mutation one after the other. */
export function executeSerially(run: Run, fields: readonly NamedField[]): Row | Promise<Row> {
  const add = (row: Row, field: NamedField): Row | Promise<Row> => {
    const value = 'execute' in field ? field.execute(run, undefined, undefined) : 'constant' in field ? field.constant : null;
    const put = (one: unknown): Row => Object.assign(row, { [field.name]: one });
    return value instanceof Promise ? value.then(put) : put(value);
  };
  let row: Row | Promise<Row> = {};
  for (const field of fields) row = row instanceof Promise ? row.then(one => add(one, field)) : add(row, field);
  return row;
}
