import type { Transport } from '../../events/transport/port.js';
import { Revocations, type Revocation } from '../../runtime/access/revocations.js';
import { stored, type Federation } from '../../runtime/federation/federation.js';
import { pollFlags } from '../../runtime/flags/polling.js';
import type { RunningService } from '../../runtime/running-service.js';
import type { Logger } from '../../runtime/observe/log.js';
import type { Gateway } from '../plans/gateway.js';
import type { Parts } from './parts.js';
import { untilReachable } from './until-reachable.js';

const REVOCATIONS = stored(`query RevocationFeed($after: Int!) {
  tokenRevocations(afterSeq: $after, first: 1000) { seq kind value notBefore effectiveAt expiresAt }
}`);

interface RevocationData {
  tokenRevocations: { seq: number; kind: string; value: string; notBefore: number | null; effectiveAt: string; expiresAt: string }[];
}

/** Refuses a supergraph through which revocations could not be read: half a minute later it would answer nobody with a right. */
export const readableFeed = {
  accept: async (next: Pick<Gateway, 'validate'>): Promise<void> => next.validate(REVOCATIONS.source),
};

const toRevocation = (row: RevocationData['tokenRevocations'][number]): Revocation => ({
  seq: row.seq,
  kind: row.kind.toLowerCase() as Revocation['kind'],
  value: row.value,
  not_before: row.notBefore,
  effective_at: row.effectiveAt,
  expires_at: row.expiresAt,
});

/** The revocations of the whole process, read from identity through the federation. @param carriesFeed whether reads of them pass this process. */
export const revocationsOf = (federation: () => Federation, log: Logger, carriesFeed: boolean): Revocations =>
  new Revocations(
    async after => (await federation().run<RevocationData>(REVOCATIONS, { after })).tokenRevocations.map(toRevocation),
    log,
    undefined,
    carriesFeed,
  );

/** Applies other processes' hints of revocations and of changed flags at once. */
function listenToHints({ stops }: Parts, transport: Transport, revocations: Revocations, hosts: readonly RunningService[]): void {
  const hints = [
    transport.onHint('auth.revocations', '*', body => revocations.hear(body as unknown as Revocation)),
    transport.onHint('cache', '*', () => hosts.forEach(host => void host.flags.refresh())),
  ];
  stops.add(() => hints.forEach(hint => hint.stop()));
}

/**
 * Reads revocations and flags, before anything depends on them, and keeps them current.
 * @param token asks identity for a token of the process's own: what a wrong secret would break later, a start tells.
 */
export async function startFeeds(
  parts: Parts,
  transport: Transport,
  revocations: Revocations,
  hosts: readonly RunningService[],
  token: () => Promise<string>,
): Promise<void> {
  const { stops, print } = parts;
  listenToHints(parts, transport, revocations, hosts);
  await untilReachable(async () => {
    await token();
    await revocations.start();
  }, print);
  stops.add(() => revocations.stop());
  stops.add(await pollFlags(hosts.map(host => host.flags)));
  stops.add(() => Promise.all(hosts.map(host => host.flags.stop())));
}
