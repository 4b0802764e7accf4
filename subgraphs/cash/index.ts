import { service } from '../../runtime/service.js';
import { bulkGrants } from './commands/bulk.js';
import { consumers } from './consumers.js';
import { CashAccount } from './entities/account.js';
import { CashBulkGrant, CashBulkGrantResult } from './entities/bulk.js';
import { CashGrant } from './entities/grant.js';
import { CashMovement } from './entities/movement.js';
import { CashReservation, CashReservationLot } from './entities/reservation.js';
import { CashSpend, CashSpendLot } from './entities/spend.js';
import { erase } from './erase.js';
import { references } from './references.js';
import { BalanceResolver, UserCashResolver } from './resolvers/balance.js';
import { BulkGrantResolver, GrantResolver } from './resolvers/grant.js';
import { ReservationResolver, SpendResolver } from './resolvers/reservation.js';
import { seed } from './seed.js';
import { User } from './stubs.js';
import { timers } from './timers.js';

export default service({
  slug: 'cash',
  purpose: 'Promotional and returned credit of members: lots that expire, and holds while a checkout runs',
  entities: [
    CashAccount,
    CashGrant,
    CashSpend,
    CashSpendLot,
    CashReservation,
    CashReservationLot,
    CashMovement,
    CashBulkGrant,
    CashBulkGrantResult,
  ],
  resolvers: [BalanceResolver, GrantResolver, BulkGrantResolver, ReservationResolver, SpendResolver, UserCashResolver],
  types: [User],
  references,
  consumers,
  timers,
  queues: [bulkGrants],
  seed,
  erase,
});
