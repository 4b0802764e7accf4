import type { ProcessorObject } from '../processor.js';
import type { SandboxObject } from './objects.js';
import { idOf, type SandboxTransaction } from './store.js';

/** Until a call goes out, ms. Source: payments 8. */
export const NOTICE_DELAY_MS = 50;
/** Until a call that was claimed, and not noted as delivered, is made by whoever looks, ms. */
export const CLAIM_MS = 10_000;
/** Until something changes by itself, ms. */
export const CHANGE_DELAY_MS = 1_000;
export const HOLD_ALL = 'hold_all';

export const inMs = (ms: number): Date => new Date(Date.now() + ms);
export const holdOf = (chargeId: string): string => `hold_${chargeId}`;

/**
 * Plans a call about an object, in the transaction that changed it. Where the process makes its calls itself, it is claimed from the start:
 * only if the process ends before it is made does somebody else find it due. @param subject charge (or payout) that it belongs to. */
export async function notify(tx: SandboxTransaction, type: string, kind: ProcessorObject, id: string, subject: string): Promise<void> {
  const { number, isHeld } = await tx.planned(subject, [HOLD_ALL, holdOf(subject)]);
  const data = { type, object: { kind, id }, chargeId: subject, number, isHeld, isDelivered: false, attempts: 0 };
  const notice = tx.insert('notice', idOf('evt', `${subject}:${number}:${type}:${id}`), data, {
    parentId: subject,
    dueAt: isHeld ? null : inMs(tx.delivers ? CLAIM_MS : NOTICE_DELAY_MS),
  });
  if (!isHeld && tx.delivers) tx.ownCalls.push(notice);
}

/** As the processor sends it: what happened to which object, never its state. */
export const bodyOf = ({ id, data, createdAt }: SandboxObject<'notice'>): Buffer =>
  Buffer.from(JSON.stringify({ id, type: data.type, created: Math.floor(createdAt.getTime() / 1000), data: { object: data.object } }));
