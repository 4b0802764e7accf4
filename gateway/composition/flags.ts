import type { Config } from '../../runtime/config.js';
import { stored, type Federation } from '../../runtime/federation/federation.js';
import { FlagClient, type SnapshotSource } from '../../runtime/flags/client.js';
import type { FlagDefinition } from '../../runtime/flags/evaluation.js';
import { FlagUsage, type UsageSink } from '../../runtime/flags/usage.js';
import type { Logger } from '../../runtime/observe/log.js';

const SNAPSHOT = stored(`query FlagSnapshot($revision: Int) {
  flagSnapshot(ifRevisionNot: $revision) {
    revision flags { key variants offVariant defaultRule rules prerequisites enabled killed archived failClosed salt revision }
  }
}`);

const USAGE = stored('mutation FlagUsage($counts: [FlagUsageInput!]!) { reportFlagUsage(input: { counts: $counts }) { accepted } }');

interface SnapshotData {
  flagSnapshot: { revision: number; flags: FlagDefinition[] } | null;
}

/** Reads the flags from platform. */
export const flagSource =
  (feed: () => Federation): SnapshotSource =>
  async ifNot => {
    const { flagSnapshot } = await feed().run<SnapshotData>(SNAPSHOT, { revision: ifNot });
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
export const flagsOf = (config: Config, federation: Federation, feed: () => Federation, log: Logger): FlagClient =>
  new FlagClient(flagSource(feed), log, undefined, flagUsage(config, federation));
