import type { Caller } from '../../../../runtime/request/caller.js';
import { internalRequest } from '../../../../runtime/request/request.js';
import type { EngineStore } from '../oidc-provider/model.js';
import { endFirstPartyFamilies, familyRevocations, publishRevocations } from '../../commands/token-family.js';

const END = 'update identity.auth_session set ended_at = $2 where engine_uid = $1 and ended_at is null returning id';

/**
 * Ends a browser's sign-in and the families of the operator's own apps that were opened in it; apps of others stay connected.
 * Source: identity 4.1, A4.
 */
export async function endBrowserSession(store: EngineStore, engineUid: string, caller: Caller): Promise<void> {
  await store.host.transaction(async tx => {
    await tx.sql("delete from identity.oauth_artifact where model = 'Session' and uid = $1", [engineUid]);
    const [session] = await tx.sql<{ id: string }>(END, [engineUid, tx.now().toISOString()]);
    if (!session) return;
    const ended = await endFirstPartyFamilies(tx, session.id);
    tx.audit('sign_in.ended', session.id, { families: ended.length });
    await publishRevocations(tx, familyRevocations(tx, ended));
  }, internalRequest(caller));
}
