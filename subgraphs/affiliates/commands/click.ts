import { newId } from '../../../runtime/data/ids.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { Affiliate, AffiliateClick, AffiliateLink, type AffiliateClickToken } from '../entities/affiliate.js';
import { AffiliateAttributionModel } from '../entities/enums.js';
import { AffiliateProgram } from '../entities/program.js';
import { clickOf, expiryOf, tokenOf, visitorHash, type Click } from '../ports/click-tokens.js';
import { isBot, isLive } from '../rules/affiliates.js';

/** Who comes by a link or with a code. */
export interface Visitor {
  ip: string | null;
  userAgent: string;
  /** A token of an earlier click; null for none. */
  token: string | null;
  /** Whether its click counts: not too many come from its address. */
  isCounted: boolean;
  hasConsent: boolean;
}

/** Where a visitor is led, and the token to remember; null: none is set. */
export interface Visit {
  target: string;
  token: string | null;
}

function record(
  ctx: Context,
  { id: affiliateId, programId }: Affiliate,
  linkId: string | null,
  visitor: Pick<Visitor, 'ip' | 'userAgent'>,
): Click {
  const click = { id: newId(), programId, affiliateId, linkId, at: ctx.now() };
  const hash = visitorHash(ctx.host, visitor.ip, visitor.userAgent);
  ctx.em.persist(Object.assign(new AffiliateClick(), { id: click.id, affiliateId, linkId, visitorHash: hash, at: click.at }));
  return click;
}

async function linkFor(ctx: Context, slug: string) {
  const link = (await ctx.em.findOne(AffiliateLink, { slug, deletedAt: null })) ?? fail('not_found', 'Not found');
  const affiliate = await ctx.em.findOneOrFail(Affiliate, { id: link.affiliateId });
  if (!isLive(affiliate.status)) fail('not_found', 'Not found');
  return { link, affiliate, program: await ctx.em.findOneOrFail(AffiliateProgram, { id: affiliate.programId }) };
}

const COUNT = 'update affiliates.affiliate_link set clicks = clicks + 1 where id = $1';

/** A visit by a link: counted unless it is a machine's or one of too many; where it leads is the link's alone. @throws Problem not_found. */
export async function follow(host: ServiceHost, slug: string, visitor: Visitor): Promise<Visit> {
  const earlier = visitor.token === null ? null : await host.read(async ctx => clickOf(host, visitor.token!, ctx.now()));
  const { click, target } = await host.transaction(async ctx => {
    const { link, affiliate, program } = await linkFor(ctx, slug);
    if (!visitor.isCounted || isBot(visitor.userAgent) || !program.active) return { click: null, target: link.target };
    const made = record(ctx, affiliate, link.id, visitor);
    ctx.beforeCommit(async () => void (await ctx.sql(COUNT, [link.id]))); // all visitors of a link wait for its row
    const isFirst = program.model === AffiliateAttributionModel.FIRST_CLICK && earlier?.programId === program.id;
    return { click: isFirst || (program.consentRequired && !visitor.hasConsent) ? null : made, target: link.target };
  });
  return { target, token: click && (await tokenOf(host, click)) };
}

/** A visit with a code, of an app. @throws Problem not_found for a code of nobody. */
export async function enterCode(ctx: Context, code: string): Promise<AffiliateClickToken> {
  const affiliate = await ctx.em.findOne(Affiliate, { code: code.toUpperCase() });
  if (!affiliate || !isLive(affiliate.status)) fail('not_found', 'Not found');
  const click = record(ctx, affiliate, null, { ip: ctx.request.ip, userAgent: '' });
  return { token: await tokenOf(ctx.host, click), expiresAt: expiryOf(click) };
}
