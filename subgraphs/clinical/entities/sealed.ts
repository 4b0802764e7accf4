import type { Context } from '../../../runtime/request/context.js';

/** Seals a value as JSON; `context` is `table.column:row id`, to which the bytes are bound. Source: clinical 2, marks H and E. */
export const sealJson = (ctx: Context, value: unknown, context: string): Buffer => ctx.host.sealer.seal(JSON.stringify(value), context);

/** What was sealed in a context; null where nothing is. @throws Error when the bytes are of another one. */
export const openJson = <Value>(ctx: Context, sealed: Buffer | null, context: string): Value | null =>
  sealed === null ? null : (JSON.parse(ctx.host.sealer.open(sealed, context)) as Value);
