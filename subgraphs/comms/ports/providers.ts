import type { ServiceHost } from '../../../runtime/request/context.js';
import { CommsChannel } from '../entities/enums.js';
import { captureProvider } from './capture.js';
import type { ChannelProvider, Outcome } from './provider.js';
import { settingsOf } from './settings.js';
import { smtpProvider } from './smtp.js';
import { twilioProvider } from './twilio.js';
import { webPushProvider } from './web-push.js';

export type Providers = Readonly<Partial<Record<CommsChannel, ChannelProvider>>>;

const known = new WeakMap<ServiceHost, Providers>();

function made(host: ServiceHost): Providers {
  const settings = settingsOf(host);
  const capture = (channel: CommsChannel): ChannelProvider => captureProvider(host, channel);
  const email = { capture: () => capture(CommsChannel.EMAIL), smtp: () => smtpProvider(settings), none: () => undefined };
  const sms = { capture: () => capture(CommsChannel.SMS), twilio: () => twilioProvider(settings), none: () => undefined };
  const push = { capture: () => capture(CommsChannel.PUSH), web: () => webPushProvider(settings), none: () => undefined };
  return { email: email[settings.email](), sms: sms[settings.sms](), push: push[settings.push]() };
}

/** The providers that are configured, one for each channel. */
export function providersOf(host: ServiceHost): Providers {
  let providers = known.get(host);
  if (!providers) known.set(host, (providers = made(host)));
  return providers;
}

/** Closes what the providers hold open. */
export async function closeProviders(host: ServiceHost): Promise<void> {
  for (const provider of Object.values(known.get(host) ?? {})) await provider?.close?.();
  known.delete(host);
}

const FAILURES = 5;
const WINDOW_MS = 30_000;

/** Failures of a process lately, by channel; a broken provider is left alone for a while, and messages wait. Source: comms, rule 11. */
class Circuit {
  #failures: number[] = [];
  #openUntil = 0;
  note(outcome: Outcome['kind'], now: number): void {
    const failed = outcome === 'transient' || outcome === 'unknown';
    this.#failures = failed ? [...this.#failures.filter(at => at > now - WINDOW_MS), now] : [];
    if (this.#failures.length >= FAILURES) this.#openUntil = now + WINDOW_MS;
  }
  opensAt(now: number): number | null {
    return this.#openUntil > now ? this.#openUntil : null;
  }
}

const circuits = new WeakMap<ServiceHost, Map<string, Circuit>>();

export function circuitOf(host: ServiceHost, channel: string): Circuit {
  let all = circuits.get(host);
  if (!all) circuits.set(host, (all = new Map()));
  let one = all.get(channel);
  if (!one) all.set(channel, (one = new Circuit()));
  return one;
}
