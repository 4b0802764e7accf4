import { Field, ObjectType } from 'type-graphql';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { CashGrant } from './grant.js';

@ObjectType({ description: 'What is taken of one grant.' })
export class CashLot {
  @Field(() => CashGrant)
  grant: CashGrant;

  @Field(() => Money)
  amount: Money;

  @Field(() => DateTime, { nullable: true })
  expiresAt: Date | null;
}
