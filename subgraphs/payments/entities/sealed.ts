import type { Context } from '../../../runtime/request/context.js';

const contextOf = (table: string, id: string): string => `${table}:${id}`;

/** Seals a value of a row's column; the bytes are bound to the table and the row. Source: payments 2, mark E. */
export const sealed = (ctx: Context, value: unknown, table: string, id: string): Buffer =>
  ctx.host.sealer.seal(JSON.stringify(value), contextOf(table, id));

/** What was sealed for a row; null where nothing is. @throws Error when the bytes are of another row. */
export const opened = <Value>(ctx: Context, bytes: Buffer | null, table: string, id: string): Value | null =>
  bytes === null ? null : (JSON.parse(ctx.host.sealer.open(bytes, contextOf(table, id))) as Value);
