import type { Slug } from '../../events/slugs.js';
import type { Transport } from '../../events/transport/port.js';
import type { Revocations } from '../../runtime/access/revocations.js';
import { createSealer } from '../../runtime/data/crypto.js';
import { openOrm } from '../../runtime/data/database.js';
import type { Federation } from '../../runtime/federation/federation.js';
import { RunningService } from '../../runtime/running-service.js';
import type { ServiceDeclaration } from '../../runtime/service.js';
import { buildSubgraph } from '../../runtime/subgraph.js';
import { flagsOf } from './flags.js';
import type { Parts } from './parts.js';

interface HostSetting {
  databaseUrl: string;
  transport: Transport;
  revocations: Revocations;
  federation(slug: Slug): Federation;
}

/** Opens a service in this process: its schema, ORM and flags. Database connections open at their first use. */
export async function openHost(declaration: ServiceDeclaration, parts: Parts, setting: HostSetting): Promise<RunningService> {
  const { config, metrics, log, stops } = parts;
  const { slug } = declaration;
  const federation = setting.federation(slug);
  const databaseUrl = config.databaseUrls[slug] ?? setting.databaseUrl;
  const orm = openOrm(slug, databaseUrl, declaration.entities, config.poolMax, config.poolIdleMs);
  stops.add(() => orm.close(true));
  return new RunningService(declaration, {
    config,
    databaseUrl,
    orm,
    schema: buildSubgraph(declaration),
    flags: flagsOf(config, federation, log),
    federation,
    revocations: setting.revocations,
    sealer: createSealer(config.encryptionKeys!),
    transport: setting.transport,
    metrics,
    log,
  });
}
