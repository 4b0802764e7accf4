import { embeddingCreated } from '../../events/catalogue/ai.js';
import { liveRecordingReady } from '../../events/catalogue/live.js';
import { brandCacheInvalidated } from '../../events/catalogue/platform.js';
import { handle, type Consumer } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { noteEmbedding, replayPost } from './commands/told.js';
import { forgetBrands } from './ports/brands.js';

/** Other processes ask platform again within a minute. */
const invalidated = handle(brandCacheInvalidated, async (ctx: Context) => ctx.afterCommit(() => forgetBrands(ctx.host)));
const recorded = handle(liveRecordingReady, async (ctx: Context, { data }) => replayPost(ctx, data));
const embedded = handle(embeddingCreated, async (ctx: Context, { data }) => noteEmbedding(ctx, data));

/** Source: content 5. */
export const consumers: readonly Consumer<Context>[] = [
  { name: 'content.brands', on: [invalidated] },
  { name: 'content.replays', on: [recorded] },
  { name: 'content.embeddings', on: [embedded] },
];
