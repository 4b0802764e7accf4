import type { MikroORM } from '@mikro-orm/postgresql';
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
  /** By which a service reads its flags. */
  flagFeed(slug: Slug): Federation;
}

/** Opens a service in this process. Its ORM, its schema and its database connections are made at their first use. */
export function openHost(declaration: ServiceDeclaration, parts: Parts, setting: HostSetting): RunningService {
  const { config, metrics, log, stops } = parts;
  const { slug } = declaration;
  const federation = setting.federation(slug);
  const databaseUrl = config.databaseUrls[slug] ?? setting.databaseUrl;
  let orm: MikroORM | undefined;
  stops.add(() => orm?.close(true));
  return new RunningService(declaration, {
    config,
    databaseUrl,
    orm: () => (orm = openOrm(slug, databaseUrl, declaration.entities, config.poolMax, config.poolIdleMs)),
    schema: () => buildSubgraph(declaration),
    flags: flagsOf(config, federation, () => setting.flagFeed(slug), log),
    federation,
    revocations: setting.revocations,
    sealer: createSealer(config.encryptionKeys!),
    transport: setting.transport,
    metrics,
    log,
  });
}
