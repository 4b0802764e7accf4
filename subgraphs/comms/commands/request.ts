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

interface Template {
  topic: NonNullable<ReturnType<typeof topicOf>>;
  /** Null for one that was made since: those of its topic. */
  channels: readonly CommsChannel[] | null;
}

/** Topic and channels of a template, of the files or made since; null for one that does not exist. */
async function known(ctx: Context, key: string): Promise<Template | null> {
  const file = fileTemplates().get(key);
  const row = file ?? (await ctx.sql<{ topic: string }>(CUSTOM, [key]))[0];
  const topic = row ? topicOf(row.topic) : null;
  return topic && { topic, channels: file ? (file.channels as CommsChannel[]) : null };
}

const isAuth = ({ params }: Draft): boolean => typeof params?.challenge_id === 'string';

/** Whether all its messages can be made at once: who gets them is known. */
const isDirect = ({ recipientType }: Draft): boolean => ['user', 'staff', 'gift', 'phone'].includes(recipientType);

const INSERT = `
insert into comms.send_request (id, source, dedupe_key, body_hash, template, user_id, recipient_type, recipient_id, brand_id, channels, category, entity_type, entity_id,
  group_key, send_after, expires_at, params_sealed, digest_id, status, reject_reason, next_at, created_at)
select d.*, $2, $2 from jsonb_to_recordset($1::jsonb) as d(id uuid, source text, dedupe_key text, body_hash bytea, template text, user_id uuid, recipient_type text,
  recipient_id text, brand_id uuid, channels text[], category text, entity_type text, entity_id text, group_key text, send_after timestamptz, expires_at timestamptz,
  params_sealed bytea, digest_id uuid, status text, reject_reason text) on conflict (source, dedupe_key) do nothing returning id`;

export interface Accepted {
  request: CommsSendRequest;
  isNew: boolean;
}

const UNKNOWN = `insert into comms.provider_state (key, at, detail) values ('unknown_template', $1, $2) on conflict (key) do update set at = excluded.at, detail = excluded.detail`;

async function alarm(ctx: Context, template: string): Promise<void> {
  ctx.log.error({ template }, 'somebody asks for a template that does not exist');
  await ctx.sql(UNKNOWN, [ctx.now().toISOString(), template]);
}

const bytea = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;

/** What is stored of a draft. @param template null for one that does not exist. */
function rowOf(ctx: Context, draft: Draft, template: Template | null) {
  const { userId, recipientType, recipientId = null, brandId = null, entity, groupKey = null, digestId = null, sendAfter, params } = draft;
  const [id, now, topic] = [draft.id ?? newId(), ctx.now(), template?.topic];
  const status = !topic ? Status.REJECTED : isDirect(draft) ? Status.EXPANDED : Status.ACCEPTED;
  return {
    id,
    source: draft.source,
    dedupe_key: draft.dedupeKey,
    body_hash: bytea(hashOf(draft)),
    template: draft.template,
    user_id: userId,
    recipient_type: recipientType,
    recipient_id: recipientId,
    brand_id: brandId,
    channels: draft.channels?.length ? draft.channels : (template?.channels ?? topic?.defaultChannels ?? []),
    category: topic?.category ?? draft.category ?? 'transactional',
    entity_type: entity?.type ?? null,
    entity_id: entity?.id ?? null,
    group_key: groupKey,
    send_after: sendAfter ?? null,
    expires_at: draft.expiresAt ?? new Date(Math.max(now.getTime(), sendAfter?.getTime() ?? 0) + EXPIRY_MS),
    params_sealed: params && Object.keys(params).length ? bytea(sealJson(ctx, 'send_request.params', id, params)) : null,
    digest_id: digestId,
    status,
    reject_reason: topic ? null : 'no_template',
  };
}

type Row = ReturnType<typeof rowOf>;

/** The requests of drafts by their keys, those of before too. */
async function stored(ctx: Context, drafts: readonly Draft[]): Promise<Map<string, CommsSendRequest>> {
  const keys = drafts.map(({ dedupeKey }) => dedupeKey);
  const found = await ctx.em.find(CommsSendRequest, { source: drafts[0]!.source, dedupeKey: { $in: keys } });
  return new Map(found.map(request => [request.dedupeKey, request]));
}

/** In one order: two that share keys wait for each other, not in a circle. @returns the ids of those that are new. */
async function insertNew(ctx: Context, rows: readonly Row[]): Promise<Set<string>> {
  const sorted = rows.toSorted((a, b) => (a.dedupe_key < b.dedupe_key ? -1 : 1));
  const made = await ctx.sql<{ id: string }>(INSERT, [JSON.stringify(sorted), ctx.now().toISOString()]);
  return new Set(made.map(({ id }) => id));
}

/** The messages of a new request, where who gets them is known. */
function firstMessages(draft: Draft, { id, status, user_id: userId, recipient_id, recipient_type, channels }: Row): Message[] {
  if (status !== Status.EXPANDED) return [];
  const request = { id, recipientType: recipient_type, channels };
  return messagesOf(request, [{ userId, key: userId ?? recipient_id ?? id }], { isAuth: isAuth(draft) });
}

/** Makes the requests that are new, with their messages. @returns for each draft whether it is. */
async function make(ctx: Context, drafts: readonly Draft[], writeMessages: Write): Promise<boolean[]> {
  const { template: key, category } = drafts[0]!;
  const template = await known(ctx, key);
  const rows = drafts.map(draft => rowOf(ctx, draft, template));
  const made = await insertNew(ctx, rows);
  if (!template && made.size > 0) await alarm(ctx, key);
  if (template && category && rows[0]!.category !== category)
    ctx.log.info({ template: key, asked: category }, 'the category of a request was corrected');
  const messages = rows.flatMap((row, index) => (made.has(row.id) ? firstMessages(drafts[index]!, row) : []));
  if (template) await insertMessages(ctx, template.topic, messages, writeMessages);
  return rows.map(row => made.has(row.id));
}

const isSame = (request: CommsSendRequest, draft: Draft): boolean => request.bodyHash.equals(hashOf(draft));
const mismatch = (): never => fail('idempotency_mismatch', 'The dedupe key was used with another body');

/**
 * Takes requests of one source for one template, each once: the same key again gives what was stored. Their messages are made with them, where
 * who gets them is known. One statement for all at each step. @returns for each draft its request; null for a known key with another body.
 */
export async function acceptAll(ctx: Context, drafts: readonly Draft[]): Promise<(Accepted | null)[]> {
  const made = await make(ctx, drafts, ctx.sql);
  const requests = await stored(ctx, drafts);
  return drafts.map((draft, index) => {
    const [request, isNew] = [requests.get(draft.dedupeKey)!, made[index]!];
    return isNew || isSame(request, draft) ? { request, isNew } : null;
  });
}

/** Takes one request. @throws Problem idempotency_mismatch for the same key with another body. */
export const accept = async (ctx: Context, draft: Draft): Promise<Accepted> => (await acceptAll(ctx, [draft]))[0] ?? mismatch();

/** The same for who does not need the request, and does nothing more in the transaction with its messages. @throws as {@link accept}. */
export async function ask(ctx: Context, draft: Draft): Promise<void> {
  const [isNew] = await make(ctx, [draft], (text, params) => ctx.writeLast(text, params));
  if (!isNew && !isSame((await stored(ctx, [draft])).get(draft.dedupeKey)!, draft)) mismatch();
}

const MESSAGES = `
insert into comms.message (id, request_id, user_id, recipient_type, recipient_key, brand_id, channel, topic, template, category, status, entity_type, entity_id, lane, is_auth,
  scheduled_for, next_at, expires_at, digest_id, checks, created_at)
select m.id, r.id, m.user_id, m.recipient_type, m.key, r.brand_id, m.channel, $2, r.template, r.category, 'pending', r.entity_type, r.entity_id, $3, m.is_auth, r.send_after, $4,
  r.expires_at, r.digest_id, '[]', $4
from jsonb_to_recordset($1::jsonb) as m(id uuid, request_id uuid, user_id uuid, recipient_type text, key text, channel text, is_auth boolean)
join comms.send_request r on r.id = m.request_id on conflict (request_id, channel, recipient_key) do nothing`;

interface Recipient {
  userId: string | null;
  key: string;
}

interface Made {
  isAuth?: boolean;
  recipientType?: string;
}

type Message = ReturnType<typeof messagesOf>[number];

/** A request's messages for some of its recipients: one for each recipient and channel. */
function messagesOf(
  request: Pick<CommsSendRequest, 'id' | 'recipientType'> & { channels: readonly CommsChannel[] },
  recipients: readonly Recipient[],
  { isAuth: auth = false, recipientType = request.recipientType }: Made,
) {
  const ofPerson = recipients.some(({ userId }) => userId !== null);
  const channels = request.channels.filter(channel => auth || ofPerson || channel === CommsChannel.EMAIL || recipientType === 'phone');
  const about = { request_id: request.id, recipient_type: recipientType, is_auth: auth };
  return recipients.flatMap(({ userId, key }) => channels.map(channel => ({ ...about, id: newId(), user_id: userId, key, channel })));
}

/** Sends a statement now, or as the last of its transaction. */
type Write = (text: string, params: readonly unknown[]) => Promise<unknown>;

async function insertMessages(ctx: Context, topic: Template['topic'], messages: readonly Message[], write: Write): Promise<void> {
  if (messages.length > 0) await write(MESSAGES, [JSON.stringify(messages), topic.key, laneOf(topic), ctx.now().toISOString()]);
}

/** Makes a request's messages for some of its recipients: at most one for each recipient and channel. */
export async function makeMessages(
  ctx: Context,
  request: CommsSendRequest,
  recipients: readonly Recipient[],
  recipientType: string,
): Promise<void> {
  const { topic } = (await known(ctx, request.template))!;
  await insertMessages(ctx, topic, messagesOf(request, recipients, { recipientType }), ctx.sql);
}

/** Marks the messages of a request as parts of another one. */
export const mergeMessages = (ctx: Context, requestId: string): Promise<unknown> =>
  ctx.sql(
    `update comms.message set status = $2, status_reason = 'merged_into_digest', version = version + 1,
       checks = '[{"check":"digest","passed":false,"fact":"one message for all prompts of 15 minutes"}]' where request_id = $1 and status = 'pending'`,
    [requestId, CommsMessageStatus.SKIPPED],
  );

export const daysLater = (at: Date, days: number): Date => new Date(at.getTime() + days * DAYS);
