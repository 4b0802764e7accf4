import { Entity, Enum, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { CurrencyCode } from '../../../runtime/schema/scalars.js';
import { WALLET_READERS } from './access.js';
import { WalletKind } from './enums.js';

/** A user's account of one kind and currency; made on first use. Its numbers are those of its ledger account. Source: accounting 2. */
@Access(WALLET_READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: "A user's money of one kind and currency, as the books have it." })
@Entity({ tableName: 'wallet' })
@Unique({ name: 'wallet_user_id_kind_currency_unique', properties: ['userId', 'kind', 'currency'] })
export class Wallet {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Field(() => WalletKind)
  @Enum({ items: () => WalletKind })
  kind: WalletKind;

  @Field(() => CurrencyCode)
  @Property({ type: 'character', length: 3 })
  currency: string;

  @Property({ type: 'uuid', unique: true })
  accountId: string;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}
