import type { Slug } from '../../events/slugs.js';
import type { Config, Role } from '../../runtime/config.js';
import type { ServiceDeclaration } from '../../runtime/service.js';
import { requireSecrets } from './required-secrets.js';

/** Loaders of the services that exist. */
export type ServiceList = Readonly<Partial<Record<Slug, () => Promise<ServiceDeclaration>>>>;

/** Roles that need the services' code. */
const SERVICE_ROLES = ['subgraphs', 'consumers', 'scheduler'] as const satisfies readonly Role[];

/** The services that this process runs. @throws Error for a configured one that does not exist. */
function slugsOf({ roles, services }: Config, existing: readonly Slug[]): readonly Slug[] {
  if (!SERVICE_ROLES.some(role => roles.has(role))) return [];
  if (!services) return existing;
  const missing = services.filter(slug => slug !== 'events' && !existing.includes(slug));
  if (missing.length) throw new Error(`SERVICES names ${missing.join(', ')}, which does not exist yet`);
  return existing.filter(slug => services.includes(slug));
}

/** Loads the services that the configuration names. @throws Error for one that does not exist, or without a secret that they need. */
export function loadDeclarations(config: Config, services: ServiceList): Promise<ServiceDeclaration[]> {
  const slugs = slugsOf(config, Object.keys(services) as Slug[]);
  requireSecrets(config, slugs);
  return slugs.length > 0 ? loadAll(slugs.map(slug => services[slug]!)) : Promise.resolve([]);
}

/** One after the other: what the first loads of packages and of the house is there for the others. */
async function loadAll(loaders: readonly (() => Promise<ServiceDeclaration>)[]): Promise<ServiceDeclaration[]> {
  const declarations: ServiceDeclaration[] = [];
  for (const load of loaders) declarations.push(await load());
  return declarations;
}
