import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { LiveRecordingStatus } from '../entities/enums.js';
import { LiveRecording } from '../entities/recording.js';

/** Nobody finds it any more; its file is the operator's. @throws Problem not_found, conflict while it is made */
export async function deleteRecording(ctx: Context, id: string): Promise<boolean> {
  const recording = await lockRow(ctx, LiveRecording, { id });
  if (recording.status === LiveRecordingStatus.DELETED) fail('not_found', 'Not found');
  if (recording.status === LiveRecordingStatus.PROCESSING) fail('conflict', 'a recording that is processing cannot be deleted');
  recording.status = LiveRecordingStatus.DELETED;
  ctx.audit('live_recording.deleted', recording.id, { session_id: recording.sessionId });
  return true;
}
