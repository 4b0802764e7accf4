import { createHash } from 'node:crypto';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { CommsChannel, CommsMessageStatus, CommsSendRequestStatus as Status } from '../entities/enums.js';
import { CommsSendRequest } from '../entities/message.js';
import { fileTemplates } from '../ports/template-files.js';
import type { Values } from '../rules/content.js';
import { laneOf, topicOf } from '../rules/topics.js';
import { sealJson } from './sealed.js';

export interface Draft {
  id?: string;
  source: string;
  dedupeKey: string;
  template: string;
  recipientType: 'user' | 'staff' | 'staff_role' | 'client_owner' | 'gift' | 'live_session' | 'post' | 'phone';
  userId: string | null;
  recipientId?: string | null;
  brandId?: string | null;
  /** None: those of the template, which the topic allows. */
  channels?: readonly CommsChannel[];
  params?: Values;
  sendAfter?: Date | null;
  expiresAt?: Date | null;
  entity?: { type: string; id: string } | null;
  groupKey?: string | null;
  digestId?: string | null;
  /** Category that was asked for; the topic's own holds. */
  category?: string | null;
}

/** What nobody has read for so long is not sent any more, ms. */
const EXPIRY_MS = 72 * 3_600_000;
const DAYS = 86_400_000;

const stable = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    one && typeof one === 'object' && !Array.isArray(one) && !(one instanceof Date)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );

const hashOf = ({ template, userId, recipientId, channels, params, sendAfter, expiresAt, entity, groupKey }: Draft): Buffer =>
  createHash('sha256')
    .update(
      stable([
        template,
        userId,
        recipientId ?? null,
        [...(channels ?? [])].sort(),
        params ?? {},
        sendAfter ?? null,
        expiresAt ?? null,
        entity ?? null,
        groupKey ?? null,
      ]),
    )
    .digest();

const CUSTOM = 'select topic from comms.template where key = $1 and archived_at is null order by brand_id nulls first limit 1';

/** Topic and channels of a template, of the files or made since. */
async function known(
  ctx: Context,
  key: string,
): Promise<{ topic: string; channels: readonly CommsChannel[] | null; required: boolean } | null> {
  const file = fileTemplates().get(key);
  if (file) return { topic: file.topic, channels: file.channels as CommsChannel[], required: true };
  const [row] = await ctx.sql<{ topic: string }>(CUSTOM, [key]);
  return row ? { topic: row.topic, channels: null, required: false } : null;
}

const isAuth = ({ params }: Draft): boolean => typeof params?.challenge_id === 'string';

/** Whether all its messages can be made at once: who gets them is known. */
const isDirect = ({ recipientType }: Draft): boolean => ['user', 'staff', 'gift', 'phone'].includes(recipientType);

const INSERT = `
insert into comms.send_request (id, source, dedupe_key, body_hash, template, user_id, recipient_type, recipient_id, brand_id, channels, category, entity_type, entity_id,
  group_key, send_after, expires_at, params_sealed, digest_id, status, reject_reason, next_at, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $21) on conflict (source, dedupe_key) do nothing returning id`;

export interface Accepted {
  request: CommsSendRequest;
  isNew: boolean;
}

async function earlier(ctx: Context, draft: Draft, hash: Buffer): Promise<Accepted> {
  const request = await ctx.em.findOneOrFail(CommsSendRequest, { source: draft.source, dedupeKey: draft.dedupeKey });
  if (!request.bodyHash.equals(hash)) fail('idempotency_mismatch', 'The dedupe key was used with another body');
  return { request, isNew: false };
}

const UNKNOWN = `insert into comms.provider_state (key, at, detail) values ('unknown_template', $1, $2) on conflict (key) do update set at = excluded.at, detail = excluded.detail`;

async function alarm(ctx: Context, template: string): Promise<void> {
  ctx.log.error({ template }, 'somebody asks for a template that does not exist');
  await ctx.sql(UNKNOWN, [ctx.now().toISOString(), template]);
}

/**
 * Takes a request once: the same key again gives what was stored. Its messages are made with it, where who gets them is known.
 * @throws Problem idempotency_mismatch for the same key with another body.
 */
export async function accept(ctx: Context, draft: Draft): Promise<Accepted> {
  const [now, hash, id] = [ctx.now(), hashOf(draft), draft.id ?? newId()];
  const template = await known(ctx, draft.template);
  const topic = template && topicOf(template.topic);
  const channels = draft.channels?.length ? draft.channels : (template?.channels ?? topic?.defaultChannels ?? []);
  const status = !topic ? Status.REJECTED : isDirect(draft) ? Status.EXPANDED : Status.ACCEPTED;
  const expiresAt = draft.expiresAt ?? new Date(Math.max(now.getTime(), draft.sendAfter?.getTime() ?? 0) + EXPIRY_MS);
  const sealed = draft.params && Object.keys(draft.params).length ? sealJson(ctx, 'send_request.params', id, draft.params) : null;
  const category = topic?.category ?? draft.category ?? 'transactional';
  if (topic && draft.category && draft.category !== topic.category)
    ctx.log.info({ template: draft.template, asked: draft.category }, 'the category of a request was corrected');
  const {
    source,
    dedupeKey,
    userId,
    recipientType,
    recipientId = null,
    brandId = null,
    entity,
    groupKey = null,
    sendAfter,
    digestId = null,
  } = draft;
  const rows = await ctx.sql(INSERT, [
    id,
    source,
    dedupeKey,
    hash,
    draft.template,
    userId,
    recipientType,
    recipientId,
    brandId,
    channels,
    category,
    entity?.type ?? null,
    entity?.id ?? null,
    groupKey,
    sendAfter?.toISOString() ?? null,
    expiresAt.toISOString(),
    sealed,
    digestId,
    status,
    topic ? null : 'no_template',
    now.toISOString(),
  ]);
  if (rows.length === 0) return earlier(ctx, draft, hash);
  if (!topic) await alarm(ctx, draft.template);
  const request = await ctx.em.findOneOrFail(CommsSendRequest, { id });
  if (status === Status.EXPANDED)
    await makeMessages(ctx, request, [{ userId, key: userId ?? recipientId ?? id }], { isAuth: isAuth(draft) });
  return { request, isNew: true };
}

const MESSAGES = `
insert into comms.message (id, request_id, user_id, recipient_type, recipient_key, brand_id, channel, topic, template, category, status, entity_type, entity_id, lane, is_auth,
  scheduled_for, next_at, expires_at, digest_id, checks, created_at)
select m.id, $1, m.user_id, $2, m.key, $3, m.channel, $4, $5, $6, 'pending', $7, $8, $9, $10, $11, $12, $13, $14, '[]', $15
from jsonb_to_recordset($16::jsonb) as m(id uuid, user_id uuid, key text, channel text) on conflict (request_id, channel, recipient_key) do nothing`;

/** Makes a request's messages for some of its recipients: at most one for each recipient and channel. */
export async function makeMessages(
  ctx: Context,
  request: CommsSendRequest,
  recipients: readonly { userId: string | null; key: string }[],
  { isAuth: auth = false, recipientType = request.recipientType }: { isAuth?: boolean; recipientType?: string } = {},
): Promise<void> {
  const topic = topicOf((await known(ctx, request.template))!.topic)!;
  const ofPerson = recipients.some(({ userId }) => userId !== null);
  const channels = request.channels.filter(channel => auth || ofPerson || channel === CommsChannel.EMAIL || recipientType === 'phone');
  const made = recipients.flatMap(({ userId, key }) => channels.map(channel => ({ id: newId(), user_id: userId, key, channel })));
  const { id, brandId, template, category, entityType, entityId, sendAfter, expiresAt, digestId } = request;
  const now = ctx.now();
  await ctx.sql(MESSAGES, [
    id,
    recipientType,
    brandId,
    topic.key,
    template,
    category,
    entityType,
    entityId,
    laneOf(topic),
    auth,
    sendAfter?.toISOString() ?? null,
    now.toISOString(),
    expiresAt?.toISOString() ?? null,
    digestId,
    now.toISOString(),
    JSON.stringify(made),
  ]);
}

/** Marks the messages of a request as parts of another one. */
export const mergeMessages = (ctx: Context, requestId: string): Promise<unknown> =>
  ctx.sql(
    `update comms.message set status = $2, status_reason = 'merged_into_digest', version = version + 1,
       checks = '[{"check":"digest","passed":false,"fact":"one message for all prompts of 15 minutes"}]' where request_id = $1 and status = 'pending'`,
    [requestId, CommsMessageStatus.SKIPPED],
  );

export const daysLater = (at: Date, days: number): Date => new Date(at.getTime() + days * DAYS);
