import type { Context } from '../../../runtime/request/context.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { CommsMessage, type CommsBatch, type CommsSendRequest } from '../entities/message.js';
import type { CommsMessageInput, SendCommsMessageInput, SendCommsMessagesInput } from '../inputs/messages.js';
import { MESSAGE_STATES } from '../rules/states.js';
import type { Values } from '../rules/content.js';
import { accept, acceptAll, type Draft } from './request.js';

const MOST_PARAMS = 30;
const LONGEST = 200;
const NAME = /^[a-z][a-z0-9_]{0,63}$/;
/** A mailbox or a number in a text: no caller is to hand on an address. */
const ADDRESS = /\S+@\S+\.\S+|\+?\d[\d ()-]{7,}\d/;
const PLAIN = /^[0-9a-f-]{36}$|^\d{4}-\d{2}-\d{2}/i;

function checkedParams(params: Record<string, unknown> | null | undefined): Values {
  const entries = Object.entries(params ?? {});
  if (entries.length > MOST_PARAMS) invalid('/input/params', `has more than ${MOST_PARAMS} keys`);
  for (const [name, value] of entries) {
    if (!NAME.test(name)) invalid(`/input/params/${name.slice(0, 64)}`, 'is no name');
    const isPlain = typeof value === 'boolean' || Number.isInteger(value) || (typeof value === 'string' && value.length <= LONGEST);
    if (!isPlain) invalid(`/input/params/${name}`, `must be a text of at most ${LONGEST} characters, a whole number or a truth value`);
    if (typeof value === 'string' && !PLAIN.test(value) && ADDRESS.test(value)) invalid(`/input/params/${name}`, 'must not be an address');
  }
  return Object.fromEntries(entries) as Values;
}

const sourceOf = ({ caller }: Context): string => caller.serviceSlug ?? (caller.kind === 'user' ? 'staff' : caller.clientId);

function draftOf(ctx: Context, input: CommsMessageInput, userId: string): Draft {
  const { dedupeKey, template, channels, sendAfter = null, expiresAt = null, entity, groupKey } = input;
  if (sendAfter && expiresAt && expiresAt <= sendAfter) invalid('/input/expiresAt', 'must be after sendAfter');
  return {
    source: sourceOf(ctx),
    dedupeKey,
    template,
    recipientType: 'user',
    userId: userId.toLowerCase(),
    brandId: ctx.caller.brandId,
    channels: channels ?? [],
    params: checkedParams(input.params),
    sendAfter,
    expiresAt,
    entity: entity ? { type: entity.type, id: entity.id } : null,
    groupKey: groupKey ?? null,
  };
}

/** Takes a message to one person. @throws Problem invalid_request, idempotency_mismatch. */
export async function sendMessage(ctx: Context, input: SendCommsMessageInput): Promise<CommsSendRequest> {
  const { request, isNew } = await accept(ctx, draftOf(ctx, input, input.userId));
  if (!isNew) ctx.status(200);
  else ctx.audit('send_request.accepted', request.id, { template: request.template });
  return request;
}

/** The same message to many; the key of each is the key with the person's id. What is wrong with one stops no other. */
export async function sendMessages(ctx: Context, input: SendCommsMessagesInput): Promise<CommsBatch> {
  const userIds = [...new Set(input.userIds.map(id => id.toLowerCase()))];
  const drafts = userIds.map(userId => ({
    ...draftOf(ctx, input, userId),
    dedupeKey: `${input.dedupeKey}:${userId}`.slice(0, 240),
  }));
  const accepted = await acceptAll(ctx, drafts);
  const results = userIds.map((userId, index) => {
    const request = accepted[index]?.request ?? null;
    return { userId, request, error: request ? null : 'idempotency_mismatch' };
  });
  ctx.audit('send_request.batch', null, { count: results.length, template: input.template });
  return { results };
}

/** @throws Problem not_found, conflict for one that is on its way or over. */
export async function cancelMessage(ctx: Context, id: string): Promise<CommsMessage> {
  const message = await lockRow(ctx, CommsMessage, { id });
  message.status = move(MESSAGE_STATES, 'message', message.status, 'cancel');
  message.leaseUntil = null;
  ctx.audit('message.cancelled', id);
  return message;
}
