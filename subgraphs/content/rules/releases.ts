import type { ContentReleaseStatus } from '../entities/enums.js';

export type ReleaseTrigger = 'schedule' | 'publish' | 'cancel';

/** State × trigger -> state; what is not here is a conflict. Source: content 3. */
export const RELEASE_MOVES = {
  OPEN: { schedule: 'SCHEDULED', publish: 'PUBLISHED', cancel: 'CANCELLED' },
  SCHEDULED: { schedule: 'SCHEDULED', publish: 'PUBLISHED', cancel: 'CANCELLED' },
  FAILED: { schedule: 'SCHEDULED', publish: 'PUBLISHED' },
  PUBLISHED: {},
  CANCELLED: {},
} as const satisfies Record<ContentReleaseStatus, Partial<Record<ReleaseTrigger, ContentReleaseStatus>>> as Record<
  ContentReleaseStatus,
  Partial<Record<ReleaseTrigger, ContentReleaseStatus>>
>;
