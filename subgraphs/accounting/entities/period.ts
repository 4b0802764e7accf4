import { Check, Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { CLOSERS } from './access.js';
import { AccountingPeriodStatus } from './enums.js';

/** A calendar month, UTC. Nothing is booked into a closed one. Source: accounting 3. */
@Access(CLOSERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A calendar month of the books, UTC.' })
@Entity({ tableName: 'accounting_period' })
@Check({ name: 'accounting_period_ends_at_check', expression: 'ends_at > starts_at' })
export class AccountingPeriod {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { description: 'YYYY-MM' })
  @Property({ type: 'text', unique: true })
  name: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  startsAt: Date;

  @Field(() => DateTime, { description: 'The first instant after it.' })
  @Property({ type: 'datetime', length: 3 })
  endsAt: Date;

  @Field(() => AccountingPeriodStatus)
  @Enum({ items: () => AccountingPeriodStatus })
  status: AccountingPeriodStatus = AccountingPeriodStatus.OPEN;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  closedAt: Date | null = null;

  @Field(() => ID, { nullable: true, description: 'Staff member or client.' })
  @Property({ type: 'text', nullable: true })
  closedBy: string | null = null;
}
