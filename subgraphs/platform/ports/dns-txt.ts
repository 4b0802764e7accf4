import { Resolver } from 'node:dns/promises';
import type { ServiceHost } from '../../../runtime/request/context.js';

/** Texts of the TXT records of a name, the parts of each joined; empty where there are none or nobody answers. */
export type DnsTxt = (name: string) => Promise<readonly string[]>;

const DEADLINE_MS = 2_000;

/** Asks the given name servers, TXT only; `PLATFORM_DNS_SERVERS`, else those of the system. Source: platform rule 13. */
export function systemTxt(servers: readonly string[]): DnsTxt {
  const resolver = new Resolver({ timeout: DEADLINE_MS, tries: 2 });
  if (servers.length) resolver.setServers([...servers]);
  return async name => {
    const records = await resolver.resolveTxt(name).catch(() => []);
    return records.map(parts => parts.join(''));
  };
}

/** Name -> texts: what development and tests know of the world's name servers. */
export const fixtureTxt = new Map<string, readonly string[]>();

/** Without `PLATFORM_DNS_SERVERS`, development has the fixture. */
export function dnsTxtOf({ config }: ServiceHost): DnsTxt {
  const servers = config
    .setting('PLATFORM_DNS_SERVERS')
    ?.split(',')
    .map(server => server.trim());
  if (servers || config.production) return systemTxt(servers ?? []);
  return async name => fixtureTxt.get(name) ?? [];
}
