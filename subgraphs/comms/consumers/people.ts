import { visitCancelled, visitCreated, visitRescheduled } from '../../../events/catalogue/booking.js';
import { digestScheduled, mentionCreated, postCommented, postCreated, postDeleted } from '../../../events/catalogue/community.js';
import { followCreated } from '../../../events/catalogue/follows.js';
import { magicLinkRequested, twoFactorChallenge, userCreated, userErasureCompleted } from '../../../events/catalogue/identity.js';
import { integrationDisconnected } from '../../../events/catalogue/integrations.js';
import { proposalRaised } from '../../../events/catalogue/intelligence.js';
import {
  liveQuestionModerated,
  liveRecordingReady,
  liveSessionCancelled,
  liveSessionCreated,
  liveSessionEnded,
  liveSessionRegistered,
  liveSessionStarted,
  liveSessionWaitlistPromoted,
} from '../../../events/catalogue/live.js';
import { handle, type Handler } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import { authRequested } from '../commands/auth.js';
import { forgetLateRows } from '../commands/forgetting.js';
import { tell } from '../commands/tell.js';
import { hintZone, removeItems, withdraw } from '../commands/withdraw.js';
import { CommsChannel } from '../entities/enums.js';

const MINUTE_MS = 60_000;
/** Before a visit, and before a session. Source: comms 5. */
const VISIT_REMINDERS = [24 * 60, 15];
const LIVE_REMINDERS = [24 * 60, 10];

interface Reminder {
  template: string;
  key: string;
  minutes: readonly number[];
  startsAt: string;
  params: Record<string, string>;
  entity: { type: string; id: string };
}

async function remind(
  ctx: Context,
  event: Parameters<typeof tell>[1],
  { template, key, minutes, startsAt, params, entity }: Reminder,
): Promise<void> {
  const at = new Date(startsAt);
  for (const before of minutes) {
    const sendAfter = new Date(at.getTime() - before * MINUTE_MS);
    if (sendAfter > ctx.now()) await tell(ctx, event, { template, key: `${key}:${before}`, params, sendAfter, expiresAt: at, entity });
  }
}

const visit = (id: string) => ({ type: 'visit', id });

async function visitTold(ctx: Context, event: Parameters<typeof tell>[1], template: string, params: Record<string, string>): Promise<void> {
  const { visit_id: id, starts_at: startsAt } = params;
  await tell(ctx, event, { template, key: `${id}:${startsAt}`, params, entity: visit(id!) });
  await remind(ctx, event, {
    template: 'visit_reminder',
    key: `${id}:${startsAt}`,
    minutes: VISIT_REMINDERS,
    startsAt: startsAt!,
    params,
    entity: visit(`${id}:reminder`),
  });
}

const session = (id: string) => ({ type: 'live_session', id });
const audience = (id: string) => ({ recipientType: 'live_session' as const, userId: null, recipientId: id });
const nobody = async (): Promise<void> => undefined;

/** What accounts, visits, sessions and the community tell. */
export const people: readonly Handler<Context>[] = [
  handle(magicLinkRequested, (ctx: Context, event) =>
    authRequested(ctx, event, {
      challengeId: event.data.challenge_id,
      channel: event.data.channel === 'sms' ? CommsChannel.SMS : CommsChannel.EMAIL,
      expiresAt: event.data.expires_at,
    }),
  ),
  handle(twoFactorChallenge, (ctx: Context, event) =>
    authRequested(ctx, event, {
      challengeId: event.data.challenge_id,
      channel: event.data.method === 'sms' ? CommsChannel.SMS : CommsChannel.EMAIL,
      expiresAt: event.data.expires_at,
    }),
  ),
  handle(userCreated, (ctx: Context, event) =>
    tell(ctx, event, event.data.source === 'import' ? null : { template: 'welcome', key: event.user_id! }),
  ),
  handle(userErasureCompleted, (ctx: Context, event) => forgetLateRows(ctx, event.user_id!)),
  handle(integrationDisconnected, (ctx: Context, event) => {
    const { connection_id, provider, reason } = event.data;
    const told = {
      template: 'device_disconnected',
      params: { connection_id, provider },
      entity: { type: 'connection', id: connection_id },
    };
    return tell(ctx, event, ['vendor', 'staff'].includes(reason) ? told : null);
  }),
  handle(proposalRaised, nobody), // intelligence asks for its message itself
  handle(visitCreated, async (ctx: Context, event) => {
    const { visit_id, starts_at, time_zone, mode } = event.data;
    if (time_zone) await hintZone(ctx, event.user_id!, time_zone);
    await visitTold(ctx, event, 'visit_booked', { visit_id, starts_at, ...(time_zone && { time_zone }), mode });
  }),
  handle(visitRescheduled, async (ctx: Context, event) => {
    const { visit_id, starts_at, previous_starts_at } = event.data;
    await withdraw(ctx, visit(`${visit_id}:reminder`), 'stale');
    await visitTold(ctx, event, 'visit_moved', { visit_id, starts_at, previous_starts_at });
  }),
  handle(visitCancelled, async (ctx: Context, event) => {
    const { visit_id, starts_at } = event.data;
    await withdraw(ctx, visit(`${visit_id}:reminder`), 'stale');
    await tell(ctx, event, { template: 'visit_cancelled', key: visit_id, params: { visit_id, starts_at }, entity: visit(visit_id) });
  }),
  handle(liveSessionRegistered, async (ctx: Context, event) => {
    const { session_id, registration_id, starts_at } = event.data;
    const params = { session_id, registration_id, starts_at };
    const entity = session(session_id);
    await tell(ctx, event, {
      template: 'live_registered',
      key: `${registration_id}:${starts_at}`,
      params,
      entity,
      channels: [CommsChannel.EMAIL, CommsChannel.PUSH, CommsChannel.IN_APP],
    });
    await remind(ctx, event, {
      template: 'live_reminder',
      key: `${registration_id}:${starts_at}`,
      minutes: LIVE_REMINDERS,
      startsAt: starts_at,
      params,
      entity: { type: 'live_reminder', id: registration_id },
    });
  }),
  handle(liveSessionWaitlistPromoted, (ctx: Context, event) => {
    const { session_id, registration_id, confirm_by } = event.data;
    const told = {
      template: 'live_seat',
      key: `${registration_id}:${confirm_by}`,
      params: { session_id, registration_id, confirm_by: confirm_by! },
      entity: session(session_id),
    };
    return tell(ctx, event, confirm_by === null ? null : { ...told, expiresAt: new Date(confirm_by) });
  }),
  handle(liveSessionStarted, (ctx: Context, { ...event }) =>
    tell(ctx, event, {
      template: 'live_now',
      key: event.data.session_id,
      params: { session_id: event.data.session_id },
      to: audience(event.data.session_id),
      expiresAt: new Date(ctx.now().getTime() + 60 * MINUTE_MS),
      entity: session(event.data.session_id),
    }),
  ),
  handle(liveSessionCancelled, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'live_cancelled',
      key: event.data.session_id,
      params: { session_id: event.data.session_id },
      to: audience(event.data.session_id),
      entity: session(event.data.session_id),
    }),
  ),
  handle(liveRecordingReady, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'live_recording',
      key: event.data.recording_id,
      params: { session_id: event.data.session_id },
      to: audience(event.data.session_id),
      entity: session(event.data.session_id),
    }),
  ),
  handle(liveQuestionModerated, (ctx: Context, event) => {
    const { question_id, session_id, status } = event.data;
    return tell(
      ctx,
      event,
      status === 'answered'
        ? {
            template: 'question_answered',
            key: question_id,
            params: { question_id, session_id },
            entity: { type: 'live_question', id: question_id },
          }
        : null,
    );
  }),
  handle(liveSessionCreated, nobody), // a brand may attach a template; none by default
  handle(liveSessionEnded, nobody),
  handle(mentionCreated, (ctx: Context, event) => {
    const { post_id, mention_id, comment_id } = event.data;
    return tell(ctx, event, {
      template: 'mention',
      key: mention_id,
      params: { post_id, mention_id, comment_id },
      entity: { type: 'post', id: post_id },
      groupKey: `mention:${post_id}`,
    });
  }),
  handle(postCommented, (ctx: Context, event) => {
    const { post_id, comment_id, comment_count: count } = event.data;
    return tell(ctx, event, {
      template: 'comment',
      key: comment_id,
      params: { post_id, count },
      entity: { type: 'post', id: post_id },
      groupKey: `comment:${post_id}`,
    });
  }),
  handle(postCreated, (ctx: Context, event) => {
    const { post_id, kind } = event.data;
    const told = {
      template: 'broadcast',
      key: post_id,
      params: { post_id },
      entity: { type: 'post', id: post_id },
      to: { recipientType: 'post' as const, userId: null, recipientId: post_id },
    };
    return tell(ctx, event, kind === 'broadcast' ? told : null);
  }),
  handle(postDeleted, async (ctx: Context, event) => {
    const entity = { type: 'post', id: event.data.post_id };
    await withdraw(ctx, entity, 'stale');
    await removeItems(ctx, entity);
  }),
  handle(digestScheduled, (ctx: Context, event) => {
    const { digest_id, mention_count, send_at } = event.data;
    return tell(ctx, event, {
      template: 'mention_digest',
      key: digest_id,
      params: { digest_id, count: mention_count },
      sendAfter: new Date(send_at),
      channels: [CommsChannel.EMAIL],
    });
  }),
  handle(followCreated, (ctx: Context, event) =>
    tell(ctx, event, {
      template: 'new_follower',
      key: event.data.follow_id,
      params: { count: 1 },
      groupKey: 'new_follower',
      channels: [CommsChannel.IN_APP],
      to: { recipientType: 'user', userId: event.data.followee_user_id },
    }),
  ),
];
