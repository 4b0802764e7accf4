import { Directive, Field, ID, ObjectType } from 'type-graphql';

/** A person's account, of identity; this service adds `wallets`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class User {
  @Field(() => ID)
  id: string;
}

/** Money taken from a card or account, of payments; this service adds `ledgerTransactions`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Payment {
  @Field(() => ID)
  id: string;
}

/** Money that is paid out, of payments; this service adds `ledgerTransaction`. */
@Directive('@key(fields: "id")')
@ObjectType()
export class Payout {
  @Field(() => ID)
  id: string;
}
