import { Entity, Enum, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject, Money } from '../../../runtime/schema/scalars.js';
import { ACCOUNT_VIEWERS, POSTERS, TRANSACTION_VIEWERS } from './access.js';
import { EntryDirection, LedgerPostOutcome, LedgerTransactionKind } from './enums.js';

@ObjectType({ description: 'The economic fact that a transaction books; each is booked once.' })
export class LedgerSource {
  @Field(() => String)
  service: string;

  @Field(() => String)
  type: string;

  @Field(() => ID)
  id: string;

  @Field(() => Int, { nullable: true, description: 'Of the posting rule that made the entries of an event.' })
  ruleVersion: number | null;
}

/** A balanced transaction. Its row is never changed; what becomes of it stands in further rows that name it. Source: accounting 2, 3. */
@Access(TRANSACTION_VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A balanced transaction, which is never changed.' })
@Entity({ tableName: 'ledger_transaction' })
@Index({
  name: 'ledger_transaction_payment_id',
  expression: (_columns, table, indexName) =>
    `create index ${indexName} on ${table} ((metadata->>'payment_id')) where metadata->>'payment_id' is not null`,
})
export class LedgerTransaction {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => LedgerTransactionKind)
  @Enum({ items: () => LedgerTransactionKind })
  kind: LedgerTransactionKind;

  @Property({ type: 'text' })
  sourceService: string;

  @Property({ type: 'text' })
  sourceType: string;

  @Property({ type: 'text' })
  sourceId: string;

  @Property({ type: 'integer', nullable: true })
  ruleVersion: number | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  description: string;

  @Property({ type: 'uuid', nullable: true })
  userId: string | null = null;

  @Field(() => DateTime, { description: 'When the fact took effect; reports go by it.' })
  @Property({ type: 'datetime', length: 3 })
  effectiveAt: Date;

  @Field(() => DateTime, { description: 'Never decreases with the sequence.' })
  @Property({ type: 'datetime', length: 3 })
  postedAt: Date;

  @Field(() => DateTime, { nullable: true, description: 'When a pending transaction lapses.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Property({ type: 'uuid', nullable: true })
  pendingId: string | null = null;

  @Property({ type: 'uuid', nullable: true, fieldName: 'reverses' })
  reversesId: string | null = null;

  @Field(() => JSONObject)
  @Property({ type: 'json' })
  metadata: Record<string, unknown>;

  @Property({ type: 'blob', fieldName: 'content_hash' })
  hash: Uint8Array;

  /** Of what was asked, to tell a repeat from another request under the same source; null for events. */
  @Property({ type: 'blob', nullable: true, hidden: true })
  requestHash: Uint8Array | null = null;

  /** Of the database transaction, in whose order rows are sealed. */
  @Property({ columnType: 'xid8', type: 'string', defaultRaw: 'pg_current_xact_id()' })
  xid: string;

  @Field(() => LedgerSource)
  get source(): LedgerSource {
    return { service: this.sourceService, type: this.sourceType, id: this.sourceId, ruleVersion: this.ruleVersion };
  }

  @Field(() => String, { description: 'SHA-256 of the RFC 8785 form, hexadecimal.' })
  get contentHash(): string {
    return Buffer.from(this.hash).toString('hex');
  }
}

/** One side of a transaction. Read by SQL: an account's entries have an order of their own. */
@Access(ACCOUNT_VIEWERS)
@ObjectType({ description: 'One line of a transaction.' })
export class LedgerEntry {
  @Field(() => ID)
  id: string;

  @Field(() => ID)
  transactionId: string;

  @Field(() => Int)
  line: number;

  accountId: string;

  @Field(() => EntryDirection)
  direction: EntryDirection;

  @Field(() => Money)
  amount: Money;

  @Field(() => Money, { description: 'Balance of the account after it; a pending entry leaves it as it is.' })
  balanceAfter: Money;

  @Field(() => DateTime)
  effectiveAt: Date;

  /** Place in the account's running chain; null while pending. */
  accountVersion: number | null;
}

export const LedgerTransactionConnection = connectionOf<LedgerTransaction>(LedgerTransaction, 'LedgerTransaction');
export const LedgerEntryConnection = connectionOf<LedgerEntry>(LedgerEntry, 'LedgerEntry');

@Access(POSTERS)
@ObjectType({ description: 'What became of one of several transactions.' })
export class LedgerPostResult {
  @Field(() => Int, { description: 'In the request.' })
  index: number;

  @Field(() => LedgerPostOutcome)
  result: LedgerPostOutcome;

  @Field(() => ID, { nullable: true })
  transactionId: string | null;

  @Field(() => String, { nullable: true, description: 'Why it was rejected, as a problem code or its finer reason.' })
  code: string | null;

  @Field(() => String, { nullable: true })
  detail: string | null;
}
