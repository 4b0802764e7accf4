import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { stored } from '../../../runtime/federation/federation.js';
import { loggedError } from '../../../runtime/observe/log.js';

/** The feature of kind CONFIG whose value is the tier's name, for example `gold`. */
const FEATURE = 'membership.tier';
const ASK = stored('query PlatformTier($id: ID!) { entitlements(userId: $id) { features { key access value } } }');

/** An evaluation waits no longer, as that of a flag elsewhere (clinical 7.1.1). */
const DEADLINE_MS = 300;
/** An answer is believed so long; that there was none, so that not each evaluation waits. */
const BELIEVED_MS = 30_000;
const SILENCE_MS = 5_000;
/** Users remembered at most; the oldest go first. */
const MOST_KNOWN = 10_000;

interface Answer {
  entitlements: { features: readonly { key: string; access: string; value: unknown }[] };
}

interface Known {
  until: number;
  tier: Promise<string | null>;
}

const byHost = new WeakMap<ServiceHost, Map<string, Known>>();

function knownOf(host: ServiceHost): Map<string, Known> {
  let known = byHost.get(host);
  if (!known) byHost.set(host, (known = new Map()));
  return known;
}

async function ask(ctx: Context, userId: string, answer: Known): Promise<string | null> {
  try {
    const { entitlements } = await ctx.federation.run<Answer>(ASK, { id: userId });
    const tier = entitlements.features.find(({ key, access }) => key === FEATURE && access === 'GRANTED')?.value;
    return typeof tier === 'string' ? tier : null;
  } catch (error) {
    ctx.log.debug({ err: loggedError(error) }, 'entitlements could not be asked for a tier');
    answer.until = ctx.now().getTime() + SILENCE_MS;
    return null;
  }
}

function askAnew(ctx: Context, userId: string): Known {
  const known = knownOf(ctx.host);
  const answer: Known = { until: ctx.now().getTime() + BELIEVED_MS, tier: Promise.resolve(null) };
  answer.tier = ask(ctx, userId, answer);
  known.delete(userId); // the newest stand last
  known.set(userId, answer);
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
  return answer;
}

/** The tier of a user, asked of entitlements; null for none, and where no answer comes in time. Never throws. */
export async function tierOf(ctx: Context, userId: string): Promise<string | null> {
  const before = knownOf(ctx.host).get(userId);
  const { tier } = before && before.until > ctx.now().getTime() ? before : askAnew(ctx, userId);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>(resolve => (timer = setTimeout(resolve, DEADLINE_MS, null)));
  return Promise.race([tier, late]).finally(() => clearTimeout(timer));
}

/** Forgets a user who is erased; other processes do after {@link BELIEVED_MS}. */
export const forgetTier = (host: ServiceHost, userId: string): void => void knownOf(host).delete(userId);
