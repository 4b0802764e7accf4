import { Entity, Enum, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL, SECRET } from '../../../runtime/data/safe-views.js';
import { CommsChannel, CommsDigestStatus } from './enums.js';

/** What several events of a person become one message of. */
@Entity({ tableName: 'digest' })
@Index({ name: 'digest_user_id_kind', properties: ['userId', 'kind', 'windowEnd'] })
export class Digest {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid', comment: PERSONAL })
  userId: string;

  @Property({ type: 'text' })
  kind: string;

  @Property({ type: 'datetime', length: 3 })
  windowStart: Date;

  @Property({ type: 'datetime', length: 3 })
  windowEnd: Date;

  @Enum({ items: () => CommsDigestStatus, type: 'text' })
  status: CommsDigestStatus = CommsDigestStatus.COLLECTING;
}

@Entity({ tableName: 'digest_item' })
@Unique({ name: 'digest_item_once', properties: ['digestId', 'eventId'] })
export class DigestItem {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  digestId: string;

  @Property({ type: 'uuid' })
  eventId: string;

  /** What it is of, sealed: a marker's code is a health fact. */
  @Property({ type: 'blob', hidden: true, comment: SECRET })
  refSealed: Buffer;
}

/** Secret of an unsubscribe and preferences link, as a hash. Source: comms, rule 13. */
@Entity({ tableName: 'mail_token' })
@Index({ name: 'mail_token_expires_at', properties: ['expiresAt'] })
export class MailToken {
  @PrimaryKey({ type: 'blob' })
  tokenHash: Buffer;

  @Property({ type: 'uuid', nullable: true, comment: PERSONAL })
  userId: string | null = null;

  @Property({ type: 'text', comment: PERSONAL })
  addressHash: string;

  @Property({ type: 'text', comment: PERSONAL })
  masked: string;

  @Property({ type: 'text' })
  topic: string;

  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;
}

/** What development shows instead of sending it. Source: comms 4.9. */
@Entity({ tableName: 'captured_message' })
@Index({ name: 'captured_message_created_at', properties: ['createdAt', 'id'] })
@Index({ name: 'captured_message_user_id', properties: ['userId'] })
export class CapturedMessage {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  messageId: string;

  @Property({ type: 'uuid', nullable: true, comment: PERSONAL })
  userId: string | null = null;

  @Enum({ items: () => CommsChannel, type: 'text' })
  channel: CommsChannel;

  @Property({ type: 'blob', hidden: true, comment: SECRET })
  sealed: Buffer;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

/** Reports and texts that have come, so that each counts once. */
@Entity({ tableName: 'inbound_receipt' })
export class InboundReceipt {
  @PrimaryKey({ type: 'text' })
  id: string;

  @Property({ type: 'datetime', length: 3 })
  at: Date;
}

/** What is known of providers and of owners that are not there. */
@Entity({ tableName: 'provider_state' })
export class ProviderState {
  @PrimaryKey({ type: 'text' })
  key: string;

  @Property({ type: 'datetime', length: 3 })
  at: Date;

  @Property({ type: 'text', nullable: true })
  detail: string | null = null;
}
