import { PostgreSqlDriver, UuidType, type Configuration, type EntityMetadata } from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely } from 'kysely';
import { prepared } from '../../events/prepared.js';
import { LockingQueryBuilder } from './row-locks.js';

type Runner = Pick<Kysely<unknown>, 'executeQuery'>;
type Scalar = string | number | boolean;
type Options = Record<string, unknown>;
/** A method that the driver's types leave out. */
interface QueryBuilding {
  createQueryBuilderFromOptions(
    meta: EntityMetadata,
    where: object,
    options: Options,
  ): Promise<{ toQuery(): { sql: string; params: readonly unknown[] } }>;
}

/** Options that do not change the SQL text, or that are part of the shape. A read with any other option that is not empty is left to the query builder. */
const KNOWN = new Set([
  'ctx',
  'em',
  'orderBy',
  'limit',
  'flags',
  'lockMode',
  'refresh',
  'logging',
  'loggerContext',
  'strategy',
  '_populateWhere',
  'populateWhere',
]);
const COMPARISONS = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']);
/** Texts kept at most. */
const MAX_TEXTS = 2_000;

const isScalar = (value: unknown): value is Scalar => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
const isEmpty = (value: unknown): boolean =>
  value == null || (Array.isArray(value) ? value.length === 0 : typeof value === 'object' && Reflect.ownKeys(value).length === 0); // SQL is a symbol

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  Object.getPrototypeOf(value) === Object.prototype &&
  Object.getOwnPropertySymbols(value).length === 0;

/** A read by columns. */
interface Read {
  /** Everything that decides the SQL text: entity, columns and operators, order. */
  shape: string;
  /** Values, in the order of the text's parameters. */
  params: unknown[];
}

/** Shape of the condition on one property: a scalar, null, a list, or comparisons with scalars; null for any other. Its values are added to `params`. */
function condition(value: unknown, params: unknown[]): string | null {
  if (value === null) return 'null';
  if (isScalar(value)) return (params.push(value), '=');
  if (!isPlain(value)) return null;
  let text = '';
  for (const [operator, operand] of Object.entries(value)) {
    if (operator === '$in' && Array.isArray(operand) && operand.length > 0 && operand.every(isScalar)) {
      params.push(...operand);
      text += `$in${operand.length}`;
    } else if (COMPARISONS.has(operator) && isScalar(operand)) {
      params.push(operand);
      text += operator;
    } else return null;
  }
  return text === '' ? null : text;
}

/** Whether a property is a column whose values are sent unchanged: a scalar without conversion, or the key of another entity. */
function isColumn(property: { customType?: unknown; kind?: string } | undefined): boolean {
  return (property?.kind === 'scalar' || property?.kind === 'm:1') && (!property.customType || property.customType instanceof UuidType);
}

/** Whether an order is of columns with directions only, without raw SQL. */
const isPlainOrder = (order: unknown): boolean =>
  isEmpty(order) || [order].flat().every(part => isPlain(part) && Object.values(part).every(direction => typeof direction === 'string'));

/** Whether a condition holds for no row: a column must be one of none. */
const isImpossible = (where: unknown): boolean =>
  isPlain(where) && Object.values(where).some(value => isPlain(value) && isEmptyList((value as Options)['$in']));

/** Null for a read that is left to the query builder. */
function readOf(meta: EntityMetadata, where: unknown, options: Options): Read | null {
  if (meta.virtual || !isPlain(where) || !isPlainOrder(options['orderBy'])) return null;
  for (const name in options) if (!KNOWN.has(name) && !isEmpty(options[name])) return null;
  const params: unknown[] = [];
  let shape = `${meta.className}|${JSON.stringify(options['orderBy'])}|${JSON.stringify(options['flags'])}|${String(options['lockMode'])}`;
  for (const name of Object.keys(where)) {
    const text = isColumn(meta.properties[name as never]) ? condition((where as Options)[name], params) : null;
    if (text === null) return null;
    shape += `|${name} ${text}`;
  }
  if (options['limit'] != null) params.push(options['limit']);
  return { shape: options['limit'] == null ? shape : `${shape}|limit`, params };
}

/** A value, or a list of one. */
const isOne = (value: unknown): boolean =>
  isScalar(value) || (isPlain(value) && JSON.stringify(Object.keys(value)) === '["$in"]' && (value as { $in: unknown[] }).$in.length === 1);

/** Whether a read is of one row by its key, so that its best plan does not depend on its values. */
const isByKey = (meta: EntityMetadata, where: object): boolean => meta.primaryKeys.every(name => isOne((where as Options)[name]));

/** Columns of a row, quoted; null where one is not read as it is. */
function columnsOf(meta: EntityMetadata, alias: string): string | null {
  const columns = meta.props.filter(property => property.persist !== false && property.fieldNames?.length);
  if (columns.some(property => (property.kind !== 'scalar' && property.kind !== 'm:1') || property.formula || property.lazy)) return null;
  return columns.flatMap(property => property.fieldNames.map(name => `"${alias}"."${name}"`)).join(', ');
}

/** A text that is kept; one that is `prepared` has `$1` for its first parameter and so on, another `?` for each. */
interface Kept {
  text: string;
  isPrepared: boolean;
}

/** A read by key is prepared with the columns that the entity has: with all that are there its plan fails once a migration adds another. */
function keptOf(meta: EntityMetadata, where: object, text: string): Kept {
  const [all, alias] = /^select "(\w+)"\.\* from /.exec(text) ?? [];
  const columns = alias && isByKey(meta, where) ? columnsOf(meta, alias) : null;
  if (!columns) return { text, isPrepared: false };
  let count = 0;
  return { text: prepared(`select ${columns} from ${text.slice(all!.length).replaceAll('?', () => `$${++count}`)}`), isPrepared: true };
}

const same = (a: readonly unknown[], b: readonly unknown[]): boolean => a.length === b.length && a.every((one, at) => one === b[at]);

/**
 * Keeps the SQL text that the query builder makes for the first read of a shape, and uses it for further reads by columns: 0.65-0.86 of the
 * time and 0.65-0.78 of the process's CPU time without it (`npm run bench:database`). A text is kept only if its parameters are the
 * conditions' values in their order. tests/runtime/plain-find.test.ts compares the rows with MikroORM's own, and fails when a version no
 * longer lets a text be kept. What can find nothing is not sent at all. Reads by key are `prepared`, by the names of the entity's columns:
 * a plan of all columns that are there fails until its connection ends once a migration adds one. Others are not, as their best plan may
 * depend on their values.
 */
export class PlainFindDriver extends PostgreSqlDriver {
  readonly #texts = new Map<string, Kept | null>();

  constructor(config: Configuration) {
    super(config);
    this.platform.createNativeQueryBuilder = () => new LockingQueryBuilder(this.platform);
  }

  override async find(entityName: never, where: never, options = {} as never): Promise<never[]> {
    if (isImpossible(where)) return [];
    const meta = this.metadata.get(entityName) as EntityMetadata;
    const read = readOf(meta, where, options);
    const kept = read && (await this.#keptOf(meta, read, where, options));
    if (!read || !kept) return super.find(entityName, where, options) as Promise<never[]>;
    const rows = await this.rethrow(this.#run(kept, read.params, options['ctx'] as Runner | undefined));
    return rows.map(row => this.mapResult(row, meta as never) as never);
  }

  async #run({ text, isPrepared }: Kept, params: unknown[], transaction: Runner | undefined): Promise<object[]> {
    const connection = this.getConnection('write');
    if (!isPrepared) return connection.execute<object[]>(text, params, 'all', transaction as never);
    return (await (transaction ?? (connection.getClient() as unknown as Runner)).executeQuery<object>(CompiledQuery.raw(text, params)))
      .rows;
  }

  async #keptOf(meta: EntityMetadata, { shape, params }: Read, where: object, options: Options): Promise<Kept | null> {
    const known = this.#texts.get(shape);
    if (known !== undefined) return known;
    if (new Set(params).size < params.length) return null; // equal values would not show the order of parameters
    const given = { populate: [], orderBy: [], ...options };
    const built = (await (this as unknown as QueryBuilding).createQueryBuilderFromOptions(meta, where, given)).toQuery();
    if (this.#texts.size >= MAX_TEXTS) this.#texts.clear();
    const kept = same(built.params, params) ? keptOf(meta, where, built.sql) : null;
    this.#texts.set(shape, kept);
    return kept;
  }
}
