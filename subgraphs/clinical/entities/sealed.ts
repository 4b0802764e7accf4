import type { Context } from '../../../runtime/request/context.js';

/** Seals a value as JSON; `place` is `table.column:row id`, to which the bytes are bound. Source: clinical 2, marks H and E. */
export const sealJson = (ctx: Context, value: unknown, place: string): Buffer => ctx.host.sealer.seal(JSON.stringify(value), place);

/** What was sealed at a place; null where nothing is. @throws Error when the bytes are not of this place. */
export const openJson = <Value>(ctx: Context, sealed: Buffer | null, place: string): Value | null =>
  sealed === null ? null : (JSON.parse(ctx.host.sealer.open(sealed, place)) as Value);
