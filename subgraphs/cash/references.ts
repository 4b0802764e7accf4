import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { BULK_GIVERS, CHECKOUTS, SEEN_BY_GIVERS, SPEND_READERS } from './entities/access.js';
import { CashBulkGrant } from './entities/bulk.js';
import { CashGrant } from './entities/grant.js';
import { CashReservation } from './entities/reservation.js';
import { CashSpend } from './entities/spend.js';
import { ownRows } from './queries/subject.js';

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  CashGrant: rowReferences(CashGrant, { readers: SEEN_BY_GIVERS, where: ctx => ownRows(ctx, SEEN_BY_GIVERS.staff.split('|')) }),
  CashSpend: rowReferences(CashSpend, { readers: SPEND_READERS, where: ctx => ownRows(ctx) }),
  CashReservation: rowReferences(CashReservation, { readers: CHECKOUTS }),
  CashBulkGrant: rowReferences(CashBulkGrant, { readers: BULK_GIVERS }),
  User: stubReferences,
};
