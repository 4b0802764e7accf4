import type { Transport } from '../../events/transport/port.js';
import { Revocations, type Revocation } from '../../runtime/access/revocations.js';
import type { Config } from '../../runtime/config.js';
import { stored, type Federation } from '../../runtime/federation/federation.js';
import { FlagClient, type SnapshotSource } from '../../runtime/flags/client.js';
import type { FlagDefinition } from '../../runtime/flags/evaluation.js';
import { pollFlags } from '../../runtime/flags/polling.js';
import { FlagUsage, type UsageSink } from '../../runtime/flags/usage.js';
import type { RunningService } from '../../runtime/running-service.js';
import type { Logger } from '../../runtime/observe/log.js';
import type { Parts } from './parts.js';
import { untilReachable } from './until-reachable.js';

const SNAPSHOT = stored(`query FlagSnapshot($revision: Int) {
  flagSnapshot(ifRevisionNot: $revision) {
    revision flags { key variants offVariant defaultRule rules prerequisites enabled killed archived failClosed salt revision }
  }
}`);

const USAGE = stored('mutation FlagUsage($counts: [FlagUsageInput!]!) { reportFlagUsage(input: { counts: $counts }) { accepted } }');

const REVOCATIONS = stored(`query RevocationFeed($after: Int!) {
  tokenRevocations(afterSeq: $after, first: 1000) { seq kind value notBefore effectiveAt expiresAt }
}`);

interface SnapshotData {
  flagSnapshot: { revision: number; flags: FlagDefinition[] } | null;
}

/** Reads the flags from platform through the federation. */
export const flagSource =
  (federation: Federation): SnapshotSource =>
  async ifNot => {
    const { flagSnapshot } = await federation.run<SnapshotData>(SNAPSHOT, { revision: ifNot });
    return flagSnapshot && { revision: flagSnapshot.revision, flags: new Map(flagSnapshot.flags.map(flag => [flag.key, flag])) };
  };

const usageSink =
  (federation: Federation): UsageSink =>
  async (counts, idempotencyKey) =>
    void (await federation.run(USAGE, { counts }, { idempotencyKey }));

/** Reports the uses of flags every `PLATFORM_FLAG_USAGE_MS`; 0: never. Default: every minute, but never with the manual clock of tests. */
function flagUsage(config: Config, federation: Federation): FlagUsage | null {
  const everyMs = Number(config.setting('PLATFORM_FLAG_USAGE_MS') ?? (config.manualClock ? 0 : 60_000));
  if (!Number.isInteger(everyMs) || everyMs < 0) throw new Error('PLATFORM_FLAG_USAGE_MS must be a whole number of milliseconds');
  return everyMs === 0 ? null : new FlagUsage(usageSink(federation), everyMs);
}

/** The flags of a service, read as its internal client. */
export const flagsOf = (config: Config, federation: Federation, log: Logger): FlagClient =>
  new FlagClient(flagSource(federation), log, undefined, flagUsage(config, federation));

interface RevocationData {
  tokenRevocations: { seq: number; kind: string; value: string; notBefore: number | null; effectiveAt: string; expiresAt: string }[];
}

const toRevocation = (row: RevocationData['tokenRevocations'][number]): Revocation => ({
  seq: row.seq,
  kind: row.kind.toLowerCase() as Revocation['kind'],
  value: row.value,
  not_before: row.notBefore,
  effective_at: row.effectiveAt,
  expires_at: row.expiresAt,
});

/** The revocations of the whole process, read from identity through the federation. */
export const revocationsOf = (federation: () => Federation, log: Logger): Revocations =>
  new Revocations(async after => (await federation().run<RevocationData>(REVOCATIONS, { after })).tokenRevocations.map(toRevocation), log);

/** Applies other processes' hints of revocations and of changed flags at once. */
function listenToHints({ stops }: Parts, transport: Transport, revocations: Revocations, hosts: readonly RunningService[]): void {
  const hints = [
    transport.onHint('auth.revocations', '*', body => revocations.hear(body as unknown as Revocation)),
    transport.onHint('cache', '*', () => hosts.forEach(host => void host.flags.refresh())),
  ];
  stops.add(() => hints.forEach(hint => hint.stop()));
}

/** Reads revocations and flags, before anything depends on them, and keeps them current. */
export async function startFeeds(
  parts: Parts,
  transport: Transport,
  revocations: Revocations,
  hosts: readonly RunningService[],
): Promise<void> {
  const { stops, print } = parts;
  listenToHints(parts, transport, revocations, hosts);
  await untilReachable(() => revocations.start(), print);
  stops.add(() => revocations.stop());
  stops.add(await pollFlags(hosts.map(host => host.flags)));
  stops.add(() => Promise.all(hosts.map(host => host.flags.stop())));
}
