import type { FastifyInstance } from 'fastify';
import { newId } from '../../../runtime/data/ids.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import type { Disorder, EmbeddedProvider } from '../ports/embedded.js';
import { embeddedOf } from '../ports/providers.js';

type Body = Record<string, unknown> & Disorder;

const text = (body: Body, name: string): string => {
  const value = body[name];
  return typeof value === 'string' && value.length <= 4_096 ? value : invalid(`/${name}`, 'must be a text');
};
const whole = (body: Body, name: string): number => {
  const value = body[name];
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : invalid(`/${name}`, 'must be a whole number');
};

const OPEN = "select 1 from live.streaming_room where name = $1 and wanted = 'open'";
const ENTER =
  'insert into live.streaming_connection (sid, room, participant_id, can_publish, joined_at) values ($1, $2, $3, $4, clock_timestamp())';
const LEAVE = 'delete from live.streaming_connection where sid = $1 returning room, participant_id as "participantId"';

/** As at a vendor, an old token lets in whoever was removed, until the service removes them again. */
async function connect(host: ServiceHost, provider: EmbeddedProvider, body: Body): Promise<object> {
  const grant = await provider.readToken(text(body, 'token'));
  const refuse = (): never => fail('unauthenticated', 'The token does not open a room', { reason: 'invalid_token' });
  if (grant === null) return refuse();
  const sid = `PA_${newId()}`;
  const isOpen = await host.transaction(async ctx => {
    const open = (await ctx.sql(OPEN, [grant.room])).length > 0;
    if (open) await ctx.sql(ENTER, [sid, grant.room, grant.participantId, grant.canPublish]);
    return open;
  });
  if (!isOpen) return refuse();
  provider.report({ type: 'participant_joined', ...grant, sid, egress: null }, body);
  return { participant_sid: sid };
}

async function disconnect(host: ServiceHost, provider: EmbeddedProvider, body: Body): Promise<object> {
  const sid = text(body, 'participant_sid');
  const [gone] = await host.transaction(ctx => ctx.sql<{ room: string; participantId: string }>(LEAVE, [sid]));
  if (!gone) fail('not_found', 'Not found');
  provider.report({ type: 'participant_left', ...gone!, sid, egress: null }, body);
  return {};
}

async function egress(_host: ServiceHost, provider: EmbeddedProvider, body: Body): Promise<object> {
  const [ref, room, seconds] = [`EG_${newId()}`, text(body, 'room'), whole(body, 'duration_seconds')];
  const about = { room, participantId: null, sid: null };
  provider.report({ type: 'egress_started', ...about, egress: { ref, failed: false, durationSeconds: null, sizeBytes: null } });
  const failed = body.fail === true;
  provider.report(
    {
      type: 'egress_ended',
      ...about,
      egress: { ref, failed, durationSeconds: failed ? null : seconds, sizeBytes: failed ? null : seconds * 125_000 },
    },
    body,
  );
  return { ref };
}

const CALLS = { connect, disconnect, egress };

/** Plays the embedded provider, in development and tests. Source: live 4.9. */
export function mountEmbedded(app: FastifyInstance, host: ServiceHost): void {
  const provider = embeddedOf(host);
  if (provider === null) return;
  for (const [name, call] of Object.entries(CALLS))
    app.post<{ Body: Body }>(`/live/embedded-streaming/${name}`, async request => call(host, provider, request.body ?? {}));
}
