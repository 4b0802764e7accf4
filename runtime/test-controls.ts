import { Arg, Ctx, Field, InputType, Mutation, ObjectType, Resolver, Int, Directive } from 'type-graphql';
import { adminScopeOf, type Slug } from '../events/slugs.js';
import { Access } from './access/access.js';
import { durationMs } from './time/durations.js';
import { Context } from './request/context.js';
import { fail, invalid } from './request/errors.js';
import { OwnTransactions } from './request/operation.js';
import { Rule } from './schema/constraints.js';
import { DateTime, JSONObject } from './schema/scalars.js';
import { advanceTo } from './time/timers.js';
import type { FlagValue } from './flags/evaluation.js';
import type { ServiceDeclaration } from './service.js';

@InputType({ description: 'Exactly one of the two.' })
export class SetClockInput {
  @Field(() => DateTime, { nullable: true, description: 'The new time; never before the clock.' })
  now?: Date | null;

  @Rule({ maxLength: 40 })
  @Field(() => String, { nullable: true, description: 'ISO 8601 duration, for example P90D.' })
  advance?: string | null;
}

@Directive('@shareable')
@ObjectType({ description: "A service's manual clock." })
export class ServiceClock {
  @Field(() => DateTime)
  now: Date;
}

@InputType({
  description: 'Overrides a flag in this service until restart; the most specific wins; null removes; "!error" makes reading it fail.',
})
export class SetTestFlagInput {
  @Rule({ minLength: 1, maxLength: 128 })
  @Field(() => String)
  key: string;

  @Field(() => JSONObject, { nullable: true })
  value?: FlagValue | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  brandId?: string | null;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  userId?: string | null;
}

@Directive('@shareable')
@ObjectType({ description: 'A flag override in force.' })
export class TestFlag {
  @Field(() => String)
  key: string;

  @Field(() => JSONObject, { nullable: true })
  value: FlagValue | null;
}

@InputType({ description: 'Makes the next `times` passes of a point fail, for one id or for all.' })
export class SetTestFaultInput {
  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String)
  point: string;

  @Rule({ maxLength: 64 })
  @Field(() => String, { nullable: true })
  match?: string | null;

  @Rule({ min: 0, max: 1000 })
  @Field(() => Int)
  times: number;
}

@Directive('@shareable')
@ObjectType({ description: 'A fault in force.' })
export class TestFault {
  @Field(() => String)
  point: string;

  @Field(() => Int)
  times: number;
}

const pascal = (slug: Slug): string =>
  slug
    .split('-')
    .map(part => part[0]!.toUpperCase() + part.slice(1))
    .join('');

/** Test controls exist only with `CLOCK=manual`; elsewhere their paths are unknown. */
const requireManual = (ctx: Context): void => {
  if (!ctx.host.config.manualClock) fail('not_found', 'Not found');
};

function targetOf(input: SetClockInput, now: Date): Date {
  if ((input.now == null) === (input.advance == null)) invalid('/input', 'give exactly one of now and advance');
  if (input.now) return input.now;
  const ms = durationMs(input.advance!) ?? invalid('/input/advance', 'is not an ISO 8601 duration');
  return new Date(now.getTime() + ms);
}

async function moveClock(ctx: Context, input: SetClockInput): Promise<ServiceClock> {
  requireManual(ctx);
  const target = targetOf(input, ctx.now());
  const [row] = await ctx.sql<{ later: boolean }>(`select now > $1 as later from ${ctx.schema}.test_clock`, [target.toISOString()]);
  if (row?.later) fail('conflict', 'The clock cannot go backwards', { reason: 'clock_backwards' });
  await advanceTo(ctx.host, target);
  return { now: target };
}

/** `set<Service>Clock`, which every service has. Source: conventions 8. */
function clockControl(slug: Slug): Function {
  @Resolver()
  class ClockControl {
    @Access({ service: adminScopeOf(slug) })
    @OwnTransactions('for development and tests only')
    @Mutation(() => ServiceClock, {
      description: "Moves this service's manual clock and runs what becomes due. Development and tests only.",
    })
    [`set${pascal(slug)}Clock`](@Arg('input', () => SetClockInput) input: SetClockInput, @Ctx() ctx: Context): Promise<ServiceClock> {
      return moveClock(ctx, input);
    }
  }
  return ClockControl;
}

/** `set<Service>TestFlags`, for services whose contract names it. */
function flagControl(slug: Slug): Function {
  @Resolver()
  class FlagControl {
    @Access({ service: adminScopeOf(slug) })
    @Mutation(() => TestFlag, { description: 'Overrides a flag in this service until restart. Development and tests only.' })
    [`set${pascal(slug)}TestFlags`](@Arg('input', () => SetTestFlagInput) input: SetTestFlagInput, @Ctx() ctx: Context): TestFlag {
      requireManual(ctx);
      ctx.flags.override(input.key, input.value ?? null, input.brandId, input.userId);
      return { key: input.key, value: input.value ?? null };
    }
  }
  return FlagControl;
}

/** `set<Service>TestFault`, for services whose contract names it. */
function faultControl(slug: Slug): Function {
  @Resolver()
  class FaultControl {
    @Access({ service: adminScopeOf(slug) })
    @Mutation(() => TestFault, { description: 'Injects a fault. Development and tests only.' })
    [`set${pascal(slug)}TestFault`](@Arg('input', () => SetTestFaultInput) input: SetTestFaultInput, @Ctx() ctx: Context): TestFault {
      requireManual(ctx);
      ctx.host.faults.set(input.point, { match: input.match ?? null, times: input.times });
      return { point: input.point, times: input.times };
    }
  }
  return FaultControl;
}

/** Resolvers of a service's test controls: the clock always, flags and faults where its declaration says so. */
export const testControls = ({ slug, testControls: controls }: Pick<ServiceDeclaration, 'slug' | 'testControls'>): Function[] => [
  clockControl(slug),
  ...(controls?.flags ? [flagControl(slug)] : []),
  ...(controls?.faults ? [faultControl(slug)] : []),
];
