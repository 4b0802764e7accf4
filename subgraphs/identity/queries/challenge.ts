import { sha256 } from '../../../runtime/data/crypto.js';
import type { Context } from '../../../runtime/request/context.js';
import { AuthChallenge } from '../entities/challenge.js';
import type { ChallengeTemplate } from '../rules/challenges.js';

/** The challenge that a link's token belongs to, whatever has become of it; looking spends nothing. */
export const findByLink = (ctx: Context, token: string, templates: readonly ChallengeTemplate[]): Promise<AuthChallenge | null> =>
  ctx.em.findOne(AuthChallenge, { linkHash: sha256(token), template: { $in: [...templates] } });

/** The newest challenge of an authorization request; null when nothing was sent. */
export const newestOf = (ctx: Context, interactionUid: string, templates: readonly ChallengeTemplate[]): Promise<AuthChallenge | null> =>
  ctx.em.findOne(
    AuthChallenge,
    { interactionHash: sha256(interactionUid), template: { $in: [...templates] } },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
