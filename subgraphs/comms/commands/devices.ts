import { sha256 } from '../../../runtime/data/crypto.js';
import { newId } from '../../../runtime/data/ids.js';
import { findRow } from '../../../runtime/data/rows.js';
import { addressFault } from '../../../runtime/http/outside-url.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { PushPlatform, PushSubscriptionStatus } from '../entities/enums.js';
import { PushSubscription } from '../entities/suppression.js';
import type { RegisterPushSubscriptionInput } from '../inputs/devices.js';
import { settingsOf } from '../ports/settings.js';
import { openJson, sealJson } from './sealed.js';

const MOST = 20;

export interface DeviceTarget {
  endpoint: string;
  p256dh: string;
  auth: string;
}

export const deviceTarget = (host: ServiceHost, { id, targetSealed }: PushSubscription): DeviceTarget =>
  openJson<DeviceTarget>(host, 'push_subscription.target', id, targetSealed);

function targetOf(ctx: Context, { platform, endpoint, keys, token }: RegisterPushSubscriptionInput): DeviceTarget {
  if (platform !== PushPlatform.WEB) {
    if (!token) invalid('/input/token', 'is required for a device');
    return { endpoint: token, p256dh: '', auth: '' };
  }
  if (!endpoint) invalid('/input/endpoint', 'is required for a browser');
  if (!keys) invalid('/input/keys', 'is required for a browser');
  const fault = addressFault(endpoint, settingsOf(ctx.host).egress);
  if (fault !== null) invalid('/input/endpoint', fault);
  return { endpoint, ...keys };
}

const LOCK = "select pg_advisory_xact_lock(hashtextextended('comms-devices:' || $1, 7))";

/** A browser or device of the caller's; one that was another person's is the caller's now. */
export async function registerDevice(ctx: Context, input: RegisterPushSubscriptionInput): Promise<PushSubscription> {
  const userId = ctx.caller.userId!;
  const target = targetOf(ctx, input);
  await ctx.sql(LOCK, [userId]);
  const endpointHash = sha256(`${input.platform}:${target.endpoint}`).toString('hex');
  const old = await findRow(ctx, PushSubscription, { endpointHash });
  if (old?.userId !== userId && (await ctx.em.count(PushSubscription, { userId })) >= MOST)
    fail('conflict', `A person has at most ${MOST} devices`, { reason: 'too_many_devices' });
  const isKnown = old?.userId === userId;
  const row = old ?? Object.assign(new PushSubscription(), { id: newId(), endpointHash, createdAt: ctx.now() });
  if (!isKnown) row.createdAt = ctx.now();
  Object.assign(row, {
    userId,
    platform: input.platform,
    label: input.label ?? null,
    targetSealed: sealJson(ctx, 'push_subscription.target', row.id, target),
    status: PushSubscriptionStatus.ACTIVE,
    failures: 0,
    failingSince: null,
  });
  ctx.em.persist(row);
  ctx.audit(isKnown ? 'push_subscription.renewed' : 'push_subscription.registered', row.id, { platform: input.platform });
  if (isKnown) ctx.status(200);
  return row;
}

/** @throws Problem not_found. */
export async function removeDevice(ctx: Context, id: string): Promise<PushSubscription> {
  const row = (await findRow(ctx, PushSubscription, { id, userId: ctx.caller.userId! })) ?? fail('not_found', 'Not found');
  ctx.em.remove(row);
  ctx.audit('push_subscription.removed', id);
  return row;
}
