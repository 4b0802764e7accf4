import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { VIEWERS } from './access.js';
import { PortalFlow } from './enums-offers.js';

/** A way into the billing pages, to be used once. Source: payments 2, 7.14. */
@Access(VIEWERS)
@ObjectType({ description: 'A way into the billing pages, to be used once.' })
@Entity({ tableName: 'portal_session' })
export class PortalSession {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  customerId: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Enum({ items: () => PortalFlow })
  flow: PortalFlow = PortalFlow.HOME;

  @Property({ type: 'text' })
  returnUrl: string;

  @Property({ type: 'blob' })
  tokenHash: Buffer;

  @Property({ type: 'blob', nullable: true })
  tokenSealed: Buffer | null = null;

  @Property({ type: 'blob', nullable: true })
  pageHash: Buffer | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  usedAt: Date | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}
