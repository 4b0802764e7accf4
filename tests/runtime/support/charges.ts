import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Arg, Ctx, Field, FieldResolver, ID, Int, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { TwoPhase, twoPhases } from '../../../runtime/request/two-phase.js';
import { service } from '../../../runtime/service.js';
import type { Processor } from './processor.js';
import { startService, type Started } from './service.js';

type ChargeStatus = 'PENDING' | 'SUCCEEDED' | 'DECLINED' | 'FAILED';

@Access({ service: 'admin:payments' })
@ObjectType('TestCharge')
@Entity({ tableName: 'charge' })
export class Charge {
  @PrimaryKey({ type: 'uuid' })
  @Field(() => ID)
  id: string;

  @Property({ type: 'integer' })
  @Field(() => Int)
  amount: number;

  @Property({ type: 'text' })
  @Field(() => String)
  status: ChargeStatus;
}

/** The processor of the running file. */
let processor: Processor;
/** Where a call is to find nobody. */
export const reach = { isCut: false };

const charging = twoPhases({
  async intend(ctx, { amount }: { amount: number }) {
    if (amount < 0) throw new Problem('conflict', 'the account is closed');
    const charge = ctx.em.create(Charge, { id: newId(), amount, status: 'PENDING' });
    ctx.audit('charge.intended', charge.id);
    return charge.id;
  },
  async call(ctx, { id }) {
    if (ctx.inTransaction) throw new Error('the processor was called inside a transaction');
    ctx.host.fault('before_call', id);
    if (reach.isCut) return 'unreachable';
    const { status } = await processor.charge(id, (await requireRow(ctx, Charge, { id })).amount);
    ctx.host.fault('after_call', id);
    return status;
  },
});

const STATUS = { succeeded: 'SUCCEEDED', declined: 'DECLINED', unreachable: 'FAILED' } as const;

@Resolver(() => Charge)
class ChargeResolver {
  @Access({ service: 'admin:payments' })
  @Query(() => Charge, { nullable: true })
  testCharge(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Charge | null> {
    return ctx.em.findOne(Charge, { id });
  }

  @Access({ service: 'admin:payments' })
  @TwoPhase(charging)
  @Mutation(() => Charge)
  async createTestCharge(@Arg('amount', () => Int) _amount: number, @Ctx() ctx: Context): Promise<Charge | Problem> {
    const { intent, outcome } = charging.of(ctx);
    const charge = await lockRow(ctx, Charge, { id: intent.id });
    charge.status = STATUS[outcome];
    ctx.status(202);
    ctx.host.fault('settle', charge.id);
    if (outcome === 'declined')
      return new Problem('payment_declined', 'The card was declined', { reason: 'declined', members: { paymentId: charge.id } });
    return outcome === 'unreachable' ? new Problem('unavailable', 'The processor cannot be reached', { retryAfter: 3 }) : charge;
  }

  @FieldResolver(() => Int, { description: 'Rows of the table now, which a replay does not count again.' })
  async total(@Root() _charge: Charge, @Ctx() ctx: Context): Promise<number> {
    const [row] = await ctx.sql<{ total: number }>(`select count(*)::int as total from payments.charge where status <> 'PENDING'`);
    return row!.total;
  }
}

const declaration = service({
  slug: 'payments',
  purpose: 'Charges, for tests of the runtime.',
  entities: [Charge],
  resolvers: [ChargeResolver],
  references: {},
  erase: 'nothing_held',
});

const TABLE = 'create table payments.charge (id uuid primary key, amount int not null, status text not null)';

/** A service with one operation in two phases. */
export function startCharges(given: Processor): Promise<Started> {
  processor = given;
  return startService(declaration, [TABLE]);
}
