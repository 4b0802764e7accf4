import type { Context } from '../../../runtime/request/context.js';
import type { LiveQuestion } from '../entities/question.js';

type Column = 'body' | 'answer';
const contextOf = (id: string, column: Column): string => `live.live_question.${column}:${id}`;

/** Seals a text of a question. */
export const sealText = (ctx: Context, id: string, column: Column, text: string): Buffer =>
  ctx.host.sealer.seal(text, contextOf(id, column));

const opened = (ctx: Context, id: string, column: Column, sealed: Buffer | null): string | null =>
  sealed === null ? null : ctx.host.sealer.open(sealed, contextOf(id, column));

/** Null: erased. */
export const bodyText = (ctx: Context, { id, bodySealed }: LiveQuestion): string | null => opened(ctx, id, 'body', bodySealed);
export const answerText = (ctx: Context, { id, answerSealed }: LiveQuestion): string | null => opened(ctx, id, 'answer', answerSealed);
