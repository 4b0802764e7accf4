import type { Slug } from '../../events/slugs.js';
import type { Transport } from '../../events/transport/port.js';
import { systemCaller } from '../../runtime/request/caller.js';
import type { Config } from '../../runtime/config.js';
import { createSealer } from '../../runtime/data/crypto.js';
import { openOrm } from '../../runtime/data/database.js';
import { stored, type Federation } from '../../runtime/federation/federation.js';
import { FlagClient, type SnapshotSource } from '../../runtime/flags/client.js';
import { FlagUsage, type UsageSink } from '../../runtime/flags/usage.js';
import type { FlagDefinition } from '../../runtime/flags/evaluation.js';
import { RunningService } from '../../runtime/running-service.js';
import type { Logger } from '../../runtime/observe/log.js';
import { internalRequest } from '../../runtime/request/request.js';
import { Revocations, type Revocation } from '../../runtime/access/revocations.js';
import type { ServiceDeclaration } from '../../runtime/service.js';
import { buildSubgraph } from '../../runtime/subgraph.js';
import type { Metrics } from '../../runtime/observe/metrics.js';

const SNAPSHOT = stored(`query FlagSnapshot($revision: Int) {
  flagSnapshot(ifRevisionNot: $revision) {
    revision flags { key variants offVariant defaultRule rules prerequisites enabled killed archived failClosed salt revision }
  }
}`);

const USAGE = stored('mutation FlagUsage($counts: [FlagUsageInput!]!) { reportFlagUsage(input: { counts: $counts }) { accepted } }');

const FEED = stored(`query RevocationFeed($after: Int!) {
  tokenRevocations(afterSeq: $after, first: 1000) { seq kind value notBefore effectiveAt expiresAt }
}`);

interface SnapshotData {
  flagSnapshot: { revision: number; flags: FlagDefinition[] } | null;
}

/** Flags of a service, read from platform through the federation as the service's own client. */
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

/** Once a minute; not of its own with the manual clock, which is for tests. `PLATFORM_FLAG_USAGE_MS`; 0: never. */
function flagUsage(config: Config, federation: Federation): FlagUsage | null {
  const everyMs = Number(config.setting('PLATFORM_FLAG_USAGE_MS') ?? (config.manualClock ? 0 : 60_000));
  if (!Number.isInteger(everyMs) || everyMs < 0) throw new Error('PLATFORM_FLAG_USAGE_MS must be a whole number of milliseconds');
  return everyMs === 0 ? null : new FlagUsage(usageSink(federation), everyMs);
}

interface FeedData {
  tokenRevocations: { seq: number; kind: string; value: string; notBefore: number | null; effectiveAt: string; expiresAt: string }[];
}

const toRevocation = (row: FeedData['tokenRevocations'][number]): Revocation => ({
  seq: row.seq,
  kind: row.kind.toLowerCase() as Revocation['kind'],
  value: row.value,
  not_before: row.notBefore,
  effective_at: row.effectiveAt,
  expires_at: row.expiresAt,
});

/** The process's revocation set, fed by identity through the federation. */
export const revocationsOf = (federation: () => Federation, log: Logger): Revocations =>
  new Revocations(async after => (await federation().run<FeedData>(FEED, { after })).tokenRevocations.map(toRevocation), log);

export interface HostSetting {
  config: Config;
  databaseUrl: string;
  transport: Transport;
  metrics: Metrics;
  revocations: Revocations;
  federation(slug: Slug): Federation;
  log: Logger;
}

/** A service of this process: schema, ORM, flags. Connections open on first use. */
export async function openHost(declaration: ServiceDeclaration, setting: HostSetting): Promise<RunningService> {
  const { config, transport, metrics, revocations, log } = setting;
  const { slug } = declaration;
  if (!config.encryptionKeys) throw new Error('ENCRYPTION_KEYS is not set: id:base64 of 32 bytes');
  const federation = setting.federation(slug);
  const databaseUrl = config.databaseUrls[slug] ?? setting.databaseUrl;
  const orm = openOrm(slug, databaseUrl, declaration.entities, config.poolMax);
  return new RunningService(declaration, {
    config,
    databaseUrl,
    orm,
    ...buildSubgraph(declaration),
    flags: new FlagClient(flagSource(federation), log, undefined, flagUsage(config, federation)),
    federation,
    revocations,
    sealer: createSealer(config.encryptionKeys),
    transport,
    metrics,
    log,
  });
}

const SEEDED = 'seed.applied';

/** Development data of a service, once: the audit row that says so commits with it. Source: identity A11. */
export async function seed(host: RunningService): Promise<boolean> {
  const { seed: plant } = host.declaration;
  if (!plant || !host.config.seed) return false;
  return host.transaction(
    async ctx => {
      const [done] = await ctx.sql(`select 1 from ${ctx.schema}.audit_log where action = $1 limit 1`, [SEEDED]);
      if (done) return false;
      await plant(ctx);
      ctx.audit(SEEDED, null);
      return true;
    },
    internalRequest(systemCaller(host.slug), 'seed'),
  );
}
