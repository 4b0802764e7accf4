import { PostgreSqlDriver, UuidType, type Configuration, type EntityMetadata } from '@mikro-orm/postgresql';
import { LockingQueryBuilder } from './row-locks.js';

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

const same = (a: readonly unknown[], b: readonly unknown[]): boolean => a.length === b.length && a.every((one, at) => one === b[at]);

/**
 * Keeps the SQL text that the query builder makes for the first read of a shape, and uses it for further reads by columns: 0.65-0.86 of the
 * time and 0.65-0.78 of the process's CPU time without it (`npm run bench:database`). A text is kept only if its parameters are the
 * conditions' values in their order. tests/runtime/plain-find.test.ts compares the rows with MikroORM's own, and fails when a version no
 * longer lets a text be kept. What can find nothing is not sent at all. The texts are not `prepared`: they ask for all columns, and a
 * column that a migration adds under a running process would fail them until the connection ends.
 */
export class PlainFindDriver extends PostgreSqlDriver {
  readonly #texts = new Map<string, string | null>();

  constructor(config: Configuration) {
    super(config);
    this.platform.createNativeQueryBuilder = () => new LockingQueryBuilder(this.platform);
  }

  override async find(entityName: never, where: never, options = {} as never): Promise<never[]> {
    if (isImpossible(where)) return [];
    const meta = this.metadata.get(entityName) as EntityMetadata;
    const read = readOf(meta, where, options);
    const text = read && (await this.#textOf(meta, read, where, options));
    if (!read || !text) return super.find(entityName, where, options) as Promise<never[]>;
    const rows = await this.rethrow(this.getConnection('write').execute<object[]>(text, read.params, 'all', options['ctx']));
    return rows.map(row => this.mapResult(row, meta as never) as never);
  }

  async #textOf(meta: EntityMetadata, { shape, params }: Read, where: object, options: Options): Promise<string | null> {
    const known = this.#texts.get(shape);
    if (known !== undefined) return known;
    if (new Set(params).size < params.length) return null; // equal values would not show the order of parameters
    const given = { populate: [], orderBy: [], ...options };
    const built = (await (this as unknown as QueryBuilding).createQueryBuilderFromOptions(meta, where, given)).toQuery();
    if (this.#texts.size >= MAX_TEXTS) this.#texts.clear();
    const text = same(built.params, params) ? built.sql : null;
    this.#texts.set(shape, text);
    return text;
  }
}
