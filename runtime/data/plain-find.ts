import { PostgreSqlDriver, UuidType, type EntityMetadata } from '@mikro-orm/postgresql';

type Scalar = string | number | boolean;
type Options = Record<string, unknown>;
/** What the driver has for itself. */
interface Builds {
  createQueryBuilderFromOptions(
    meta: EntityMetadata,
    where: object,
    options: Options,
  ): Promise<{ toQuery(): { sql: string; params: readonly unknown[] } }>;
}

/** Options that the text does not depend on, or that the shape tells; with any other that says something the query builder is asked. */
const KNOWN = new Set([
  'ctx',
  'em',
  'orderBy',
  'limit',
  'flags',
  'refresh',
  'logging',
  'loggerContext',
  'strategy',
  '_populateWhere',
  'populateWhere',
]);
const COMPARISONS = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']);
/** Shapes that are remembered; values are no part of one. */
const KEPT = 2_000;

const isScalar = (value: unknown): value is Scalar => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
const isEmpty = (value: unknown): boolean =>
  value == null || (Array.isArray(value) ? value.length === 0 : typeof value === 'object' && Reflect.ownKeys(value).length === 0); // SQL is a symbol

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  Object.getPrototypeOf(value) === Object.prototype &&
  Object.getOwnPropertySymbols(value).length === 0;

/** A read in its two parts: what decides its text, and the values in the order of their places; null: not so plain. */
interface Read {
  shape: string;
  params: unknown[];
}

/** `value` of one property: a scalar, null, a list, or comparisons with scalars. */
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

/** A column whose values go to the server as they are; a key of another entity counts, as its value. */
function isColumn(property: { customType?: unknown; kind?: string } | undefined): boolean {
  return (property?.kind === 'scalar' || property?.kind === 'm:1') && (!property.customType || property.customType instanceof UuidType);
}

/** Columns with their directions, no text of somebody else's. */
const isPlainOrder = (order: unknown): boolean =>
  isEmpty(order) || [order].flat().every(part => isPlain(part) && Object.values(part).every(direction => typeof direction === 'string'));

function readOf(meta: EntityMetadata, where: unknown, options: Options): Read | null {
  if (meta.virtual || !isPlain(where) || !isPlainOrder(options['orderBy'])) return null;
  for (const name in options) if (!KNOWN.has(name) && !isEmpty(options[name])) return null;
  const params: unknown[] = [];
  let shape = `${meta.className}|${JSON.stringify(options['orderBy'])}|${JSON.stringify(options['flags'])}`;
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
 * Reads by columns keep the text that the query builder made of the first one of their shape: building it took a fifth of a REST read's
 * time (0.22 of 1.1 ms). A shape whose values do not stand in the text's places in the order of the conditions is never kept.
 */
export class PlainFindDriver extends PostgreSqlDriver {
  readonly #texts = new Map<string, string | null>();

  override async find(entityName: never, where: never, options = {} as never): Promise<never[]> {
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
    if (new Set(params).size < params.length) return null; // equal values would not show their places
    const given = { populate: [], orderBy: [], ...options };
    const built = (await (this as unknown as Builds).createQueryBuilderFromOptions(meta, where, given)).toQuery();
    if (this.#texts.size >= KEPT) this.#texts.clear();
    const text = same(built.params, params) ? built.sql : null;
    this.#texts.set(shape, text);
    return text;
  }
}
