import type { FlagClient } from './client.js';

/** Source: platform rule 1. */
const POLL_MS = 5_000;

/**
 * One client asks whether the revision still stands, which is of all flags whoever reads them; those that know the same one need not ask.
 * Where it could not be read, each asks for itself.
 */
async function refreshAll([first, ...others]: readonly FlagClient[]): Promise<void> {
  if (!first) return;
  const before = first.confirmed;
  await first.refresh();
  const { confirmed } = first;
  const isNews = confirmed !== null && confirmed.at > (before?.at ?? Number.NEGATIVE_INFINITY);
  const asking = others.filter(other => !(isNews && other.confirm(confirmed)));
  await Promise.all(asking.map(other => other.refresh()));
}

/** Starts the clients of a process and reads every 5 s what has changed for them, with one question while nothing has. @returns the stop. */
export async function pollFlags(clients: readonly FlagClient[]): Promise<() => void> {
  await Promise.all(clients.map(client => client.start()));
  const timer = setInterval(() => void refreshAll(clients), POLL_MS).unref();
  return () => clearInterval(timer);
}
