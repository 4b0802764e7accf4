/** What other services tell. Source: content 5. */
import type { Context } from '../../../runtime/request/context.js';
import { definitionOf } from '../entities/collections.js';
import { addItem } from './item.js';

const KNOWN = 'select 1 from content.content_item where source_ref = $1';

/** One draft per recording, for editors to finish. */
export async function replayPost(
  ctx: Context,
  { recording_id: recordingId, session_id: liveSessionId }: { recording_id: string; session_id: string },
): Promise<void> {
  const sourceRef = `recording:${recordingId}`;
  if ((await ctx.sql(KNOWN, [sourceRef])).length > 0) return;
  const input = { kind: 'REPLAY', title: 'Replay', liveSessionId, tags: ['replay'] };
  await addItem(ctx, definitionOf('POSTS'), { brandId: null, locale: 'en', input, sourceRef });
}

const NOTE = 'update content.content_item set embedded_version = greatest(coalesce(embedded_version, 0), $2) where id = $1';

export const noteEmbedding = async (ctx: Context, { document_id: id, version }: { document_id: string; version: number }): Promise<void> =>
  void (await ctx.sql(NOTE, [id, version]));
