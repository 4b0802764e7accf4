import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** Calls of somebody in a window; the key is a keyed hash. Source: payments 7.19. */
@Entity({ tableName: 'rate_limit' })
export class RateLimitWindow {
  @PrimaryKey({ type: 'blob' })
  key: Buffer;

  @Property({ type: 'integer' })
  taken: number;

  @Property({ type: 'datetime', length: 3 })
  windowEndsAt: Date;
}
