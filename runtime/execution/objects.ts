import type { ContextCheck } from './properties.js';
import type { Path, Run } from './run.js';

export type Row = Record<string, unknown>;

/** A field of an object that a function answers: its value in the answer, or a promise of it. @throws GraphQLError where it must not be null */
export type ExecuteField = (run: Run, source: unknown, above: Path | undefined) => unknown;

/** A field that is a property of its object. */
export interface PropertyField {
  readonly property: string;
  /** Comes before the read. */
  readonly check: ContextCheck | null;
  /** Whether a value goes into the answer as it is; null: none does. */
  readonly isDone: ((value: unknown) => boolean) | null;
  /** Completes what was read; an error is what the check or the read threw. */
  complete(run: Run, value: unknown, source: unknown, above: Path | undefined): unknown;
}

/** One name in the answer, with what answers it. */
export type NamedField = { readonly name: string } & (
  { readonly constant: string } | { readonly execute: ExecuteField } | { readonly read: PropertyField }
);

/** Runs the fields of an object beside each other. */
export type ExecuteObject = (run: Run, source: unknown, above: Path | undefined) => Row | Promise<Row>;

/** Fills in what was promised; fails with the first that fails. */
const awaitAll = (row: Row): Promise<Row> =>
  Promise.all(Object.values(row)).then(values => {
    Object.keys(row).forEach((name, at) => (row[name] = values[at]));
    return row;
  });

/** The error of one field, when the others that began are through, which may fail too. */
function failAfter(begun: readonly unknown[], error: unknown): Promise<never> {
  if (!begun.some(one => one instanceof Promise)) throw error;
  return awaitAll({ ...begun }).finally(() => {
    throw error;
  }) as Promise<never>;
}

const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('a property threw what is no error', { cause: thrown });

function refusalOf(check: ContextCheck, context: unknown): Error | null {
  try {
    check(context);
    return null;
  } catch (error) {
    return errorOf(error);
  }
}

const NOTHING = Object.freeze(Object.create(null) as object);

/** What properties are read of; a value that is no object has none. */
const ownerOf = (source: unknown): unknown =>
  (typeof source === 'object' && source !== null) || typeof source === 'function' ? source : NOTHING;

const NAME = /^[A-Za-z_]\w*$/;

function checked(name: string): string {
  if (!NAME.test(name) || name === '__proto__') throw new Error('a response name is a GraphQL name');
  return name;
}

/** Source of the lines that make one value. */
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
 * Generates the function that runs an object's fields. It is generated because a loop over fields makes every property access
 * megamorphic: three times as long for the rows of a list. Only GraphQL names and literals get into the source.
 */
export function compileObject(fields: readonly NamedField[]): ExecuteObject {
  const checks = [...new Set(fields.flatMap(field => ('read' in field && field.read.check) || []))];
  const names = (letter: string) => fields.map((_, at) => `${letter}${at}`).join(', ');
  const source = `const [${names('f')}] = fields, [${names('d')}] = fields.map(one => one.read?.isDone);
  return function (run, source, above) {
    const owner = ownerOf(source);
    ${checks.map((_, at) => `const e${at} = refusalOf(checks[${at}], run.context);`).join('\n')}
    let t, awaited = false${fields.length ? `, ${names('r')}` : ''};
    try {
      ${fields.map((field, at) => linesOf(field, at, checks)).join('\n')}
    } catch (error) {
      return failAfter([${names('r')}], error);
    }
    const row = { ${fields.map(({ name }, at) => `${checked(name)}: r${at}`).join(', ')} };
    return awaited ? awaitAll(row) : row;
  };`;
  const given = { fields, checks, ownerOf, refusalOf, errorOf, failAfter, awaitAll };
  // oxlint-disable-next-line typescript/no-implied-eval -- the source holds names and literals only, see linesOf
  return new Function(...Object.keys(given), source)(...Object.values(given)) as ExecuteObject;
}

/** Runs the fields of a mutation one after the other. */
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
