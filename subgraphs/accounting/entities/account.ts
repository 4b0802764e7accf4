import { BigIntType } from '@mikro-orm/core';
import { Check, Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { CurrencyCode, DateTime, Money, SafeInt } from '../../../runtime/schema/scalars.js';
import { ACCOUNT_VIEWERS } from './access.js';
import { EntryDirection, LedgerAccountStatus, LedgerAccountType } from './enums.js';

const minor = (): BigIntType<'number'> => new BigIntType('number');

/** An account of the books. Its totals are a cache that entries can rebuild; the posting engine alone writes them. Source: accounting 2. */
@Access(ACCOUNT_VIEWERS)
@Directive('@key(fields: "id")')
@Directive('@key(fields: "code")')
@ObjectType({ description: 'An account of the books.' })
@Entity({ tableName: 'ledger_account' })
@Check({ name: 'ledger_account_code_check', expression: `code ~ '^[a-z0-9_.-]+(:[a-z0-9_.-]+)*$' and length(code) <= 200` })
@Check({
  name: 'ledger_account_totals_check',
  expression: 'posted_debits >= 0 and posted_credits >= 0 and pending_debits >= 0 and pending_credits >= 0',
})
export class LedgerAccount {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { description: 'Its last segment is the currency.' })
  @Property({ type: 'text', unique: true })
  code: string;

  @Field(() => String)
  @Property({ type: 'text' })
  name: string;

  @Field(() => LedgerAccountType)
  @Enum({ items: () => LedgerAccountType })
  type: LedgerAccountType;

  @Field(() => EntryDirection, { description: 'The side on which the balance grows.' })
  @Enum({ items: () => EntryDirection })
  normalSide: EntryDirection;

  @Field(() => CurrencyCode)
  @Property({ type: 'character', length: 3 })
  currency: string;

  @Field(() => LedgerAccountStatus)
  @Enum({ items: () => LedgerAccountStatus })
  status: LedgerAccountStatus = LedgerAccountStatus.OPEN;

  @Field(() => SafeInt, { nullable: true, description: 'Lowest balance that a posting may leave; null: none.' })
  @Property({ type: minor(), nullable: true })
  floor: number | null = null;

  @Field(() => SafeInt)
  @Property({ type: minor() })
  postedDebits: number = 0;

  @Field(() => SafeInt)
  @Property({ type: minor() })
  postedCredits: number = 0;

  @Field(() => SafeInt)
  @Property({ type: minor() })
  pendingDebits: number = 0;

  @Field(() => SafeInt)
  @Property({ type: minor() })
  pendingCredits: number = 0;

  /** Posted entries, which number the account's running chain. */
  @Property({ type: minor() })
  entryCount: number = 0;

  /** Events about its wallet. */
  @Property({ type: minor() })
  eventCount: number = 0;

  /** Whose wallet it is; kept after an erasure, as a bare key. */
  @Property({ type: 'uuid', nullable: true })
  userId: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Money, { description: 'On the normal side.' })
  get balance(): Money {
    const credits = this.postedCredits - this.postedDebits;
    return { amount: this.normalSide === EntryDirection.CREDIT ? credits : 0 - credits, currency: this.currency };
  }

  @Field(() => Money, { description: 'The balance less what is pending on the other side.' })
  get available(): Money {
    const held = this.normalSide === EntryDirection.CREDIT ? this.pendingDebits : this.pendingCredits;
    return { amount: this.balance.amount - held, currency: this.currency };
  }
}

export const LedgerAccountConnection = connectionOf<LedgerAccount>(LedgerAccount, 'LedgerAccount');
