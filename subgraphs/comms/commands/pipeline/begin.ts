import type { Context } from '../../../../runtime/request/context.js';
import { FOR_UPDATE } from '../../../../runtime/data/rows.js';
import { CommsChannel, CommsMessageStatus as Status } from '../../entities/enums.js';
import type { CommsInboxItem } from '../../entities/inbox.js';
import { CommsMessage, MessageAttempt } from '../../entities/message.js';
import { circuitOf } from '../../ports/providers.js';
import { masked } from '../../rules/addresses.js';
import { deliverInApp, unseenOf } from '../inbox.js';
import { mailToken, storeTokens, type NewToken } from '../links.js';
import { reportFinal } from '../outcome.js';
import { sealJson } from '../sealed.js';
import { tellInboxes } from '../stream.js';
import type { Decision, Sending } from './decide.js';
import type { Call } from './call.js';
import { Room } from './caps.js';
import type { Facts } from './facts.js';
import { contentOf, hasProvider, rendered } from './render.js';

const WITHOUT_PROVIDER_MS = 300_000;

type Looked = { facts: Facts; decision: Decision };

const LEASED = new Set<Status>([Status.PENDING, Status.SCHEDULED, Status.QUEUED]);

/** When a channel that cannot be used now is looked at again; null: it can be used. */
function blockedUntil(ctx: Context, channel: CommsChannel): Date | null {
  if (!hasProvider(ctx, channel)) return new Date(ctx.now().getTime() + WITHOUT_PROVIDER_MS);
  const opens = circuitOf(ctx.host, channel).opensAt(Date.now());
  return opens === null ? null : new Date(ctx.now().getTime() + opens - Date.now());
}

function wait(message: CommsMessage, at: Date, scheduled: boolean): void {
  if (scheduled) Object.assign(message, { status: Status.SCHEDULED, scheduledFor: at });
  else if (message.status !== Status.PENDING) message.status = Status.QUEUED;
  Object.assign(message, { nextAt: at, leaseUntil: null });
}

/** The secret of an auth delivery and of a gift is kept nowhere. */
const isSecret = ({ auth, facts }: Sending): boolean => auth !== null || facts.message.recipientType === 'gift';

function fillIn(ctx: Context, message: CommsMessage, sending: Sending): ReturnType<typeof contentOf> {
  const content = contentOf(ctx, sending);
  const { version, address, hash, channel, auth } = sending;
  Object.assign(message, {
    templateVersion: version.number,
    locale: version.locale,
    addressHash: hash,
    recipientMasked: address && masked(channel, address),
    contentSealed: isSecret(sending) ? null : sealJson(ctx, 'message.content', message.id, content),
    ...(auth && { template: auth.template, channel }),
  });
  return content;
}

async function sendInApp(ctx: Context, message: CommsMessage, sending: Sending): Promise<CommsInboxItem> {
  const content = fillIn(ctx, message, sending);
  message.status = Status.QUEUED;
  return deliverInApp(ctx, message, sending, content);
}

const badgeFor = async (ctx: Context, message: CommsMessage): Promise<number> =>
  message.userId && message.channel === CommsChannel.PUSH ? unseenOf(ctx, message.userId) : 0;

const goingOf = (looked: readonly Looked[]): CommsMessage[] =>
  looked.filter(({ decision }) => decision.kind === 'go').map(({ facts }) => facts.message);

/** What was looked at may have to stay when its turn comes: those before it have used up the cap. */
function withinCap(decision: Decision, message: CommsMessage, room: Room): Decision {
  const lately = decision.kind === 'go' ? room.take(message) : null;
  if (lately === null) return decision;
  const failed = { check: 'frequency', passed: false, fact: `${lately} lately` };
  return { kind: 'skip', reason: 'channel_off', checks: decision.checks.map(one => (one.check === failed.check ? failed : one)) };
}

/** What a claim's messages become, in one transaction; the attempts that it begins are committed before any provider is called. */
export async function begin(ctx: Context, looked: readonly Looked[]): Promise<Call[]> {
  const ids = looked.map(({ facts }) => facts.message.id);
  const rows = await ctx.em.find(CommsMessage, { id: { $in: ids } }, { ...FOR_UPDATE, orderBy: { id: 'asc' } });
  const room = await Room.locked(ctx, goingOf(looked));
  const calls: Call[] = [];
  const tokens: NewToken[] = [];
  const items: CommsInboxItem[] = [];
  for (const message of rows.filter(({ status }) => LEASED.has(status))) {
    const { decision: seen, facts } = looked.find(one => one.facts.message.id === message.id)!;
    const decision = withinCap(seen, message, room);
    message.checks = decision.checks;
    if (decision.kind === 'skip') Object.assign(message, { status: Status.SKIPPED, statusReason: decision.reason, leaseUntil: null });
    else if (decision.kind === 'later') wait(message, decision.at, decision.scheduled);
    else if (decision.kind === 'fail') reportFinal(ctx, Object.assign(message, { status: Status.QUEUED }), 'failed', decision.reason);
    else if (message.channel === CommsChannel.IN_APP) items.push(await sendInApp(ctx, message, decision.send));
    else await beginCall(ctx, message, { ...decision.send, facts: { ...facts, message } }, calls, tokens);
  }
  await storeTokens(ctx, tokens);
  await tellInboxes(ctx, items);
  return calls;
}

async function beginCall(ctx: Context, message: CommsMessage, sending: Sending, calls: Call[], tokens: NewToken[]): Promise<void> {
  const blocked = blockedUntil(ctx, sending.channel);
  if (blocked) return wait(message, blocked, false);
  const content = fillIn(ctx, message, sending);
  message.status = Status.SENDING;
  const attempt = ++message.attemptCount;
  ctx.em.persist(Object.assign(new MessageAttempt(), { messageId: message.id, number: attempt, at: ctx.now() }));
  if (sending.channel === CommsChannel.EMAIL && sending.hash && sending.auth === null && message.userId !== null)
    tokens.push(
      mailToken(ctx, {
        messageId: message.id,
        userId: message.userId,
        addressHash: sending.hash,
        masked: message.recipientMasked!,
        topic: message.topic,
      }),
    );
  calls.push({ sending, rendered: rendered(ctx, sending, content, await badgeFor(ctx, message)), attempt });
}
