import { createHash } from 'node:crypto';
import type { ProcessorMethod, ProcessorResult } from '../processor.js';
import { METHODS } from './methods.js';
import type { SandboxObject } from './objects.js';
import { nothingThere } from './outcomes.js';
import { idOf, type SandboxTransaction } from './store.js';

type Method = SandboxObject<'method'>;

const EXPIRY = { expMonth: 12, expYear: 2040 };

/** The same for all methods of a token. */
export const cardFingerprint = (token: string): string => createHash('sha256').update(token).digest('hex').slice(0, 32);

function shownMethod({ id, data }: Method): ProcessorMethod {
  const { type, brand, last4 } = METHODS[data.token]!;
  return {
    id,
    type,
    fingerprint: cardFingerprint(data.token),
    card: { brand, last4, ...EXPIRY, funding: 'credit', country: 'US', wallet: null },
    bankLast4: null,
    billingAddress: null,
  };
}

/** A customer without a name: one for each user and brand. */
export async function ensureCustomer(
  tx: SandboxTransaction,
  { userId, brandId }: { userId: string; brandId: string },
): Promise<ProcessorResult<{ id: string }>> {
  const id = idOf('cus', `${userId}:${brandId}`);
  await tx.serialize(id);
  if (!(await tx.lock('customer', { id }))) tx.insert('customer', id, {});
  return { status: 'succeeded', data: { id } };
}

export async function deleteCustomer(
  tx: SandboxTransaction,
  { customerId }: { customerId: string },
): Promise<ProcessorResult<{ id: string }>> {
  for (const method of await tx.below('method', customerId)) await detach(tx, method);
  await tx.remove('customer', [customerId]);
  return { status: 'succeeded', data: { id: customerId } };
}

async function detach(tx: SandboxTransaction, method: Method): Promise<void> {
  method.data.isDetached = true;
  tx.save(method);
}

/** Attaches what a token stands for; the same token again gives the same method. */
export async function attachMethod(
  tx: SandboxTransaction,
  { customerId, token }: { customerId: string; token: string },
): Promise<ProcessorResult<ProcessorMethod>> {
  if (!Object.hasOwn(METHODS, token) || !(await tx.lock('customer', { id: customerId }))) return nothingThere();
  const known = await tx.below('method', customerId);
  const same = known.find(one => one.data.token === token && !one.data.isDetached);
  if (same) return { status: 'succeeded', data: shownMethod(same) };
  const id = idOf('pm', `${customerId}:${token}:${known.length}`);
  const made = tx.insert('method', id, { token, customerId, isDetached: false, charges: 0 }, { parentId: customerId });
  return { status: 'succeeded', data: shownMethod(made) };
}

export async function detachMethod(
  tx: SandboxTransaction,
  { customerId, methodId }: { customerId: string; methodId: string },
): Promise<ProcessorResult<{ id: string }>> {
  const method = await tx.lock('method', { id: methodId });
  if (!method || method.data.customerId !== customerId) return nothingThere();
  await detach(tx, method);
  return { status: 'succeeded', data: { id: methodId } };
}

export async function listMethods(
  tx: SandboxTransaction,
  { customerId }: { customerId: string },
): Promise<ProcessorResult<readonly ProcessorMethod[]>> {
  const methods = (await tx.below('method', customerId)).filter(one => !one.data.isDetached);
  return { status: 'succeeded', data: methods.map(shownMethod) };
}
