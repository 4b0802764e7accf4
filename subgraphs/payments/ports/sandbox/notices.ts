import type { ProcessorObject } from '../processor.js';
import type { SandboxObject } from './objects.js';
import { idOf, type SandboxTransaction } from './store.js';

/** Until a call goes out, ms. Source: payments 8. */
export const NOTICE_DELAY_MS = 50;
/** Until something changes by itself, ms. */
export const CHANGE_DELAY_MS = 1_000;
export const HOLD_ALL = 'hold_all';

export const inMs = (ms: number): Date => new Date(Date.now() + ms);
export const holdOf = (chargeId: string): string => `hold_${chargeId}`;

/** Plans a call about an object, in the transaction that changed it. @param subject charge (or payout) that it belongs to. */
export async function notify(tx: SandboxTransaction, type: string, kind: ProcessorObject, id: string, subject: string): Promise<void> {
  const { number, isHeld } = await tx.planned(subject, [HOLD_ALL, holdOf(subject)]);
  const data = { type, object: { kind, id }, chargeId: subject, number, isHeld, isDelivered: false, attempts: 0 };
  tx.insert('notice', idOf('evt', `${subject}:${number}:${type}:${id}`), data, {
    parentId: subject,
    dueAt: isHeld ? null : inMs(NOTICE_DELAY_MS),
  });
}

/** As the processor sends it: what happened to which object, never its state. */
export const bodyOf = ({ id, data, createdAt }: SandboxObject<'notice'>): Buffer =>
  Buffer.from(JSON.stringify({ id, type: data.type, created: Math.floor(createdAt.getTime() / 1000), data: { object: data.object } }));
