/** Access tokens of people, signed with identity's own key as identity signs them. Nothing is recorded of them, so no revocation finds them. */
import { randomUUID } from 'node:crypto';
import { importJWK } from 'jose';
import { createSealer } from '../dist/runtime/data/crypto.js';
import { signToken, userClaims } from '../dist/subgraphs/identity/ports/claims.js';

const LIFE_SECONDS = 900;

/** @param query runs SQL. @param kek TOKEN_SIGNING_KEK. @param issuing issuer and audience. @returns one token for each user. */
export async function userTokens(query, kek, issuing, userIds, scopes) {
  const [{ kid, sealed }] = await query('select kid, private_sealed as sealed from identity.signing_key order by active_from limit 1');
  const privateKey = await importJWK(JSON.parse(createSealer(`kek:${kek}`).open(sealed, `signing_key.private:${kid}`)), 'ES256');
  const issuedAt = Math.floor(Date.now() / 1000);
  const facts = {
    issuedAt,
    expiresAt: issuedAt + LIFE_SECONDS,
    clientId: 'demo-app',
    scopes,
    authTime: new Date(),
    amr: ['pwd'],
    firstParty: true,
  };
  const tokenOf = userId =>
    signToken(
      { kid, privateKey },
      userClaims(issuing, { ...facts, userId, familyId: randomUUID(), sessionId: randomUUID(), brandId: null }),
    );
  return Promise.all(userIds.map(tokenOf));
}
