import type { Context, ServiceHost } from '../../../../runtime/request/context.js';
import { loggedError } from '../../../../runtime/observe/log.js';
import { CommsChannel } from '../../entities/enums.js';
import { CommsMessage } from '../../entities/message.js';
import type { PushSubscription } from '../../entities/suppression.js';
import type { Outcome, Target } from '../../ports/provider.js';
import { circuitOf, providersOf } from '../../ports/providers.js';
import { deviceTarget } from '../devices.js';
import { begin } from './begin.js';
import type { Call, Done } from './call.js';
import { claim, recover } from './claim.js';
import { decide, unanswered, type Decision } from './decide.js';
import { factsOf, isUnavailable, type Facts } from './facts.js';
import { settle } from './settle.js';

/** Questions to owners, and calls of providers, at once. */
const AT_ONCE = 10;

/** Works on a list, some at once, keeping its order. */
export async function eachAtOnce<In, Out>(list: readonly In[], work: (one: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const run = async (): Promise<void> => {
    for (let index = next++; index < list.length; index = next++) results[index] = await work(list[index]!);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, list.length) }, run));
  return results;
}

/** One that makes its own question fail does not stop the others. */
async function decided(ctx: Context, facts: Facts): Promise<Decision> {
  try {
    return await decide(ctx, facts);
  } catch (error) {
    if (!isUnavailable(error))
      ctx.log.warn({ err: loggedError(error), template: facts.message.template }, 'a message could not be looked at');
    return unanswered(ctx, facts);
  }
}

async function lookAt(ctx: Context, ids: readonly string[]): Promise<{ facts: Facts; decision: Decision }[]> {
  const messages = await ctx.em.find(CommsMessage, { id: { $in: [...ids] } }, { orderBy: { id: 'asc' } });
  const facts = await factsOf(ctx, messages);
  return eachAtOnce(facts, async one => ({ facts: one, decision: await decided(ctx, one) }));
}

const RELEASE = `
update comms.message set lease_until = null, next_at = $2 where id = any($1) and status in ('pending', 'scheduled', 'queued')`;
const AGAIN_MS = 5_000;

/** Nobody answered for the whole claim: it waits, and no attempt is used. */
const release = (host: ServiceHost, ids: readonly string[]): Promise<unknown> =>
  host.transaction(ctx => ctx.sql(RELEASE, [ids, new Date(ctx.now().getTime() + AGAIN_MS).toISOString()]));

async function callDevice(
  host: ServiceHost,
  { rendered }: Call,
  device: PushSubscription,
): Promise<{ device: PushSubscription; outcome: Outcome }> {
  const target = { device: { id: device.id, ...deviceTarget(host, device) } };
  return { device, outcome: await providersOf(host).push!.send(rendered, target, `${rendered.messageId}:${device.id}`) };
}

/** A push has been taken when one device has it; it is tried again where none has and one still may. */
function merged(outcomes: readonly Outcome[]): Outcome {
  return (
    outcomes.find(one => one.kind === 'accepted') ??
    outcomes.find(one => one.kind === 'transient') ?? { kind: 'permanent', code: 'recipient_gone', bounced: false, invalid: false }
  );
}

async function callProvider(host: ServiceHost, call: Call): Promise<Done> {
  const { sending, rendered } = call;
  const { channel, address, facts } = sending;
  if (channel === CommsChannel.PUSH) {
    const devices = await Promise.all(facts.devices.map(device => callDevice(host, call, device)));
    return noted(host, { call, devices, outcome: merged(devices.map(one => one.outcome)) });
  }
  const target: Target = { address: address! };
  const outcome = await providersOf(host)
    [channel]!.send(rendered, target, rendered.messageId)
    .catch((error: Error): Outcome => ({ kind: 'transient', code: error.name.toLowerCase().slice(0, 64) }));
  return noted(host, { call, devices: [], outcome });
}

function noted(host: ServiceHost, done: Done): Done {
  circuitOf(host, done.call.sending.channel).note(done.outcome.kind, Date.now());
  return done;
}

/** One claim from the look to what came of it. Attempts are committed before the calls, so that a crash leaves a trace of each. */
async function workOn(host: ServiceHost, ids: readonly string[]): Promise<void> {
  const looked = await host.read(ctx => lookAt(ctx, ids));
  const calls = await host.transaction(ctx => begin(ctx, looked));
  host.fault('comms.begun', ids[0] ?? '');
  const done = await eachAtOnce(calls, call => callProvider(host, call));
  host.fault('comms.called', ids[0] ?? '');
  if (done.length) await host.transaction(ctx => settle(ctx, done));
}

/** How many claims of this process are being worked on, for the manual clock, which stands still meanwhile. */
const working = new WeakMap<ServiceHost, number>();

export const isWorking = (host: ServiceHost): boolean => (working.get(host) ?? 0) > 0;

async function counted<T>(host: ServiceHost, work: () => Promise<T>): Promise<T> {
  working.set(host, (working.get(host) ?? 0) + 1);
  try {
    return await work();
  } finally {
    working.set(host, working.get(host)! - 1);
  }
}

/** Works off what is due in a lane. @returns how many messages. */
export const workOff = (host: ServiceHost, lane: number, most?: number): Promise<number> => counted(host, () => workLane(host, lane, most));

async function workLane(host: ServiceHost, lane: number, most?: number): Promise<number> {
  await recover(host, lane);
  for (let total = 0; ;) {
    const ids = await claim(host, lane, most);
    if (ids.length === 0) return total;
    total += ids.length;
    try {
      await workOn(host, ids);
    } catch (error) {
      host.log.warn({ err: loggedError(error), lane }, 'a claim of messages could not be worked on; it is tried again');
      await release(host, ids);
      return total;
    }
  }
}
