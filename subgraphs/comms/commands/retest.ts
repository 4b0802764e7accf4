import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { CommsDigestStatus } from '../entities/enums.js';
import { Digest, DigestItem } from '../entities/records.js';
import { accept, daysLater, mergeMessages } from './request.js';
import { sealJson } from './sealed.js';

const KIND = 'retest';
/** Prompts of one person within so long of the first are one message, ms. */
const WINDOW_MS = 15 * 60_000;
const EXPIRY_DAYS = 7;

const LOCK = "select pg_advisory_xact_lock(hashtextextended('comms-retest:' || $1, 7))";

interface Prompt {
  eventId: string;
  userId: string;
  brandId: string | null;
  code: string;
}

const openDigest = (ctx: Context, userId: string): Promise<Digest | null> =>
  ctx.em.findOne(
    Digest,
    { userId, kind: KIND, status: CommsDigestStatus.COLLECTING, windowEnd: { $gt: ctx.now() } },
    { orderBy: { windowEnd: 'desc' } },
  );

async function opened(ctx: Context, userId: string): Promise<Digest> {
  const now = ctx.now();
  const digest = Object.assign(new Digest(), {
    id: newId(),
    userId,
    kind: KIND,
    windowStart: now,
    windowEnd: new Date(now.getTime() + WINDOW_MS),
  });
  await ctx.em.persist(digest).flush();
  return digest;
}

/** A prompt to measure again: the first of a quarter of an hour becomes the message, the others join it. Source: comms 5. */
export async function retestPrompted(ctx: Context, { eventId, userId, brandId, code }: Prompt): Promise<void> {
  await ctx.sql(LOCK, [userId]);
  const open = await openDigest(ctx, userId);
  const digest = open ?? (await opened(ctx, userId));
  const id = newId();
  await ctx.em
    .persist(Object.assign(new DigestItem(), { id, digestId: digest.id, eventId, refSealed: sealJson(ctx, 'digest_item.ref', id, code) }))
    .flush();
  const { request } = await accept(ctx, {
    source: 'clinical',
    dedupeKey: `retest:${eventId}`,
    template: 'retest_prompt',
    recipientType: 'user',
    userId,
    brandId,
    sendAfter: digest.windowEnd,
    expiresAt: daysLater(ctx.now(), EXPIRY_DAYS),
    digestId: digest.id,
  });
  if (open) await mergeMessages(ctx, request.id);
}
