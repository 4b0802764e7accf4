import { Arg, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { rateLimitPerHost } from '../../../runtime/access/rate-limit.js';
import type { Context } from '../../../runtime/request/context.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { ContentRoute } from '../entities/route.js';
import { PolicyAcceptance } from '../entities/policy.js';
import { typesOf } from '../entities/types.js';
import { acceptancesOf, pendingPolicies, policiesOfBrand } from '../queries/members.js';
import { byKey, coaByCode } from '../queries/by-key.js';
import type { Item } from '../queries/present.js';
import { ROUTES } from '../rules/routes.js';
import { Biomarker, Brand, User } from '../stubs.js';

const READ = { service: '*', user: '*', staff: '*' };
const OWN = { service: 'admin:content', user: 'read:account', staff: 'admin:content:read' };
const POLICY = typesOf('POLICIES').item;
const lookups = rateLimitPerHost(30, MINUTE_MS);

@Resolver(() => User)
export class UserPoliciesResolver {
  @Access(OWN)
  @FieldResolver(() => [PolicyAcceptance], { description: 'What the user has accepted, newest first; of another user nothing.' })
  policyAcceptances(@Root() { id }: User, @Ctx() ctx: Context): Promise<PolicyAcceptance[]> {
    return acceptancesOf(ctx, id);
  }

  @Access(OWN)
  @FieldResolver(() => [POLICY], { description: 'Policies in force that need an acceptance which the user has not given.' })
  pendingPolicies(@Root() { id }: User, @Ctx() ctx: Context): Promise<Item[]> {
    return pendingPolicies(ctx, id);
  }
}

@Resolver(() => Brand)
export class BrandContentResolver {
  @Access(READ)
  @FieldResolver(() => [POLICY], { description: 'Policies that hold for the brand.' })
  policies(@Root() { id }: Brand, @Ctx() ctx: Context): Promise<Item[]> {
    return policiesOfBrand(ctx, id);
  }

  @Access(READ)
  @FieldResolver(() => [ContentRoute], { description: 'Where the storefront shows what.' })
  contentRoutes(): ContentRoute[] {
    return ROUTES.map(([target, template]) => ({ target, template }));
  }
}

@Resolver(() => Biomarker)
export class BiomarkerContentResolver {
  @Access(READ)
  @FieldResolver(() => [typesOf('GOALS').item])
  goals(@Root() { code }: Biomarker, @Ctx() ctx: Context): Promise<Item[]> {
    return byKey(ctx, 'GOALS', 'biomarkerCodes', code);
  }

  @Access(READ)
  @FieldResolver(() => [typesOf('PROTOCOL_DETAILS').item])
  protocolDetails(@Root() { code }: Biomarker, @Ctx() ctx: Context): Promise<Item[]> {
    return byKey(ctx, 'PROTOCOL_DETAILS', 'biomarkerCodes', code);
  }
}

@Resolver()
export class CertificateResolver {
  @Access(READ)
  @Query(() => typesOf('COAS').item, {
    nullable: true,
    description: 'The certificate with a verification code; 30 times a minute and caller.',
  })
  coaByVerificationCode(@Rule({ maxLength: 20 }) @Arg('code', () => String) code: string, @Ctx() ctx: Context): Promise<Item | null> {
    ctx.count(lookups, ctx.caller.userId ?? ctx.caller.clientId);
    return coaByCode(ctx, code);
  }
}
