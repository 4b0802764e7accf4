import { BRAND, DEMO, type TestPlatform } from '../support/platform.js';

/** A message as the service's own token sees it. */
export interface Message {
  id: string;
  channel: string;
  status: string;
  status_reason: string | null;
  scheduled_for: string | null;
  attempts: { number: number; outcome: string | null }[];
  content: Record<string, string | null> | null;
  [key: string]: unknown;
}

export interface Captured {
  message_id: string;
  channel: string;
  to: string;
  content: {
    subject: string;
    text: string;
    html: string | null;
    headers: Record<string, string>;
    from: string;
    push: { title: string; body: string; deepLink: string } | null;
    attachments: { filename: string }[];
  };
}

let counter = 0;

/** Asks for a message as a service does. */
export async function send(p: TestPlatform, body: Record<string, unknown> = {}): Promise<any> {
  const token = await p.serviceToken('admin:comms');
  const asked = {
    dedupe_key: `test:${++counter}`,
    template: 'order_placed',
    user_id: DEMO,
    params: { order_number: `A-${counter}` },
    ...body,
  };
  return p.rest('POST', '/comms/v1/messages', { token, body: asked });
}

/** Lets everything run that is due now. */
export const settle = (p: TestPlatform): Promise<void> => p.clock('comms', { advance: 'PT0S' });

export async function messagesOf(p: TestPlatform, dedupeKey: string): Promise<Message[]> {
  const token = await p.serviceToken('admin:comms');
  const { body } = await p.rest('GET', `/comms/v1/messages?dedupe_key=${encodeURIComponent(dedupeKey)}&limit=100`, { token });
  return [...(body.data as Message[])].sort((a, b) => a.channel.localeCompare(b.channel));
}

/** Status and reason by channel, after all has run that is due. */
export async function outcome(p: TestPlatform, dedupeKey: string): Promise<Record<string, string>> {
  await settle(p);
  return Object.fromEntries(
    (await messagesOf(p, dedupeKey)).map(one => [one.channel, one.status_reason ? `${one.status} ${one.status_reason}` : one.status]),
  );
}

export async function captured(p: TestPlatform, userId: string | null = DEMO, channel?: string): Promise<Captured[]> {
  const token = await p.serviceToken('admin:comms');
  const query = new URLSearchParams({ first: '100', ...(userId && { user_id: userId }), ...(channel && { channel }) });
  const { body } = await p.rest('GET', `/comms/v1/admin/captured?${query}`, { token });
  return body.data as Captured[];
}

/** Emits an event as a service that need not exist. */
export async function emitAs(p: TestPlatform, slug: string, type: string, data: object, userId: string | null = DEMO): Promise<string> {
  const { prepareEvent, appendEvents } = await import('../../events/outbox.js');
  const { CATALOGUE } = await import('../../events/catalogue.js');
  const definition = CATALOGUE.get(type)!;
  const event = prepareEvent(
    definition,
    data,
    { userId, brandId: BRAND },
    { source: slug as never, requestId: null, causationId: null, actor: `service:svc-${slug}`, traceparent: null },
  );
  await p.host('events').transaction(ctx => appendEvents(ctx.sql, [event], null));
  return event.id;
}
