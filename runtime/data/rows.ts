import { LockMode, type EntityClass, type FilterQuery, type FindOneOptions } from '@mikro-orm/postgresql';
import type { Context } from '../request/context.js';
import { fail } from '../request/errors.js';
import { isUuid } from './ids.js';
import { inOrder } from './loaders.js';

/**
 * Locks the rows that are found until the transaction ends, against changes and locks, not against rows that point to them. Of a row that
 * the request has loaded before, the ORM keeps values where the column has become null meanwhile; {@link lockRow} does not.
 */
export const FOR_UPDATE = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
/** Keeps others from changing the rows that are found; readers of the same kind share them. */
export const FOR_SHARE = { lockMode: LockMode.PESSIMISTIC_READ } as const;

type Where<Row> = FilterQuery<NoInfer<Row>>;
type Options<Row extends object> = Omit<FindOneOptions<Row, never, never, never>, 'using'>;

const propertiesOf = (ctx: Context, entity: EntityClass<object>): Readonly<Record<string, { type: string } | undefined>> =>
  ctx.em.getMetadata().get(entity).properties;

const isUuidColumn = (ctx: Context, entity: EntityClass<object>, column: string): boolean =>
  propertiesOf(ctx, entity)[column]?.type === 'uuid';

/** Whether a row can exist: a text that is no UUID equals no `uuid` column, and PostgreSQL refuses to compare it. */
const canExist = (ctx: Context, entity: EntityClass<object>, where: object): boolean =>
  Object.entries(where).every(([name, value]) => typeof value !== 'string' || isUuid(value) || !isUuidColumn(ctx, entity, name));

/** One row or null. The owner stands in `where` beside the id; a malformed id finds nothing. */
export async function findRow<Row extends object>(
  ctx: Context,
  entity: EntityClass<Row>,
  where: Where<Row>,
  options?: Options<Row>,
): Promise<Row | null> {
  if (!canExist(ctx, entity, where as object)) return null;
  return ctx.em.findOne<Row, never, never, never, never>(entity, where, options);
}

/** One row. @throws Problem not_found: absent, another owner's, or no id at all; never told apart. */
export const requireRow = async <Row extends object>(
  ctx: Context,
  entity: EntityClass<Row>,
  where: Where<Row>,
  detail = 'Not found',
): Promise<Row> => (await findRow(ctx, entity, where)) ?? fail('not_found', detail);

/** One row, locked until the transaction ends and read anew; else null. */
export async function lockFound<Row extends object>(ctx: Context, entity: EntityClass<Row>, where: Where<Row>): Promise<Row | null> {
  await ctx.em.flush(); // reading anew forgets what was changed and not written
  const row = await findRow(ctx, entity, where, { ...FOR_UPDATE, refresh: true });
  if (row) ctx.locked.add(row);
  return row;
}

/** One row, locked until the transaction ends and read anew. @throws Problem not_found, as {@link requireRow}. */
export const lockRow = async <Row extends object>(
  ctx: Context,
  entity: EntityClass<Row>,
  where: Where<Row>,
  detail = 'Not found',
): Promise<Row> => (await lockFound(ctx, entity, where)) ?? fail('not_found', detail);

/**
 * One row that this transaction may have locked before: then it is as it is in memory, without a statement, because nobody else can have
 * changed it. Not for a row that the transaction itself changes by SQL. @throws Problem not_found, as {@link requireRow}.
 */
export async function lockOnce<Row extends { id: string }>(ctx: Context, entity: EntityClass<Row>, id: string): Promise<Row> {
  const known = ctx.em.getUnitOfWork().getById<Row>(entity, id as never);
  return known && ctx.locked.has(known) ? known : lockRow(ctx, entity, { id } as Where<Row>);
}

/** @throws Problem conflict, reason `version_conflict`, where `known` is a version and no longer that of the row. */
export function requireVersion(row: { version: number }, known: number | null | undefined): void {
  if (known != null && known !== row.version) fail('conflict', 'It was changed meanwhile', { reason: 'version_conflict' });
}

/** Columns by which rows are looked up: those of texts. */
export type TextColumn<Row> = { [Name in keyof Row]: Row[Name] extends string | null ? Name : never }[keyof Row] & string;

/** Rows by one unique column in one statement, in the order of the keys; what is no UUID finds nothing in a `uuid` column. */
export async function rowsBy<Row extends object>(
  ctx: Context,
  entity: EntityClass<Row>,
  column: TextColumn<Row>,
  keys: readonly string[],
  where: FilterQuery<NoInfer<Row>> = {},
): Promise<(Row | null)[]> {
  const isId = isUuidColumn(ctx, entity, column);
  const asked = isId ? keys.map(key => key.toLowerCase()) : keys;
  const known = isId ? asked.filter(isUuid) : [...asked];
  const rows = await ctx.em.find<Row, never, never, never, never>(entity, { ...(where as object), [column]: { $in: known } } as Where<Row>);
  return inOrder(asked, rows, row => row[column] as string);
}

/** One row by a unique column, in a batch with all others that the request asks for. */
export const loadRow = <Row extends object>(
  ctx: Context,
  entity: EntityClass<Row>,
  column: TextColumn<Row>,
  key: string,
): Promise<Row | null> => ctx.load(`${entity.name}.${column}`, key, keys => rowsBy(ctx, entity, column, keys));
