import type { Context } from '../../runtime/request/context.js';
import { after, DAY_MS } from '../../runtime/time/durations.js';
import { openBook } from './commands/book.js';
import { give } from './commands/grant.js';
import { CashSource } from './entities/enums.js';

/** The demo user. Source: conventions 8. */
const DEMO = '0190b3a0-0000-7000-8000-0000000000a1';
const CAMPAIGN = '0190b3a0-0000-7000-8000-00000000ca01';

/** Development data: a promotion of 15.00 that begins tomorrow, so that the books hear of it as of any other. */
export async function seed(ctx: Context): Promise<void> {
  const book = await openBook(ctx, DEMO, 'USD');
  const [activatesAt, expiresAt] = [after(book.now, DAY_MS), after(book.now, 366 * DAY_MS)];
  const free = { reason: null, minSubtotal: null, subjectKinds: [], maxShareBps: 10_000 };
  const origin = { userId: DEMO, referenceType: 'campaign', referenceId: CAMPAIGN, referenceKey: '' };
  give(ctx, book, origin, { ...free, source: CashSource.PROMOTION, units: 1_500, currency: 'USD', activatesAt, expiresAt });
}
