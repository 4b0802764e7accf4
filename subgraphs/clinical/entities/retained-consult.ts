import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** What is kept of a signed consult after an erasure, where the operator must keep it: type and dates, nobody's. Source: clinical 7.1.17. */
@Entity({ tableName: 'retained_consult' })
@Index({ name: 'retained_consult_end', properties: ['keepUntil'] })
export class RetainedConsult {
  @PrimaryKey({ type: 'uuid' })
  id: string;

  @Property({ type: 'text' })
  type: string;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'datetime', length: 3 })
  signedAt: Date;

  @Property({ type: 'date', nullable: true })
  followUpDueOn: string | null = null;

  @Property({ type: 'datetime', length: 3 })
  keepUntil: Date;
}
