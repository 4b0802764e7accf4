import { serveBulk } from '../../runtime/bulk/routes.js';
import { service } from '../../runtime/service.js';
import { consumers } from './consumers.js';
import { Cart } from './entities/cart.js';
import { InventoryLevel, InventoryLot, StockMovement, StockNotice } from './entities/inventory.js';
import { Order, PaymentTask } from './entities/order.js';
import { Product, ProductVariant } from './entities/product.js';
import { ScheduledCycle } from './entities/scheduled-cycle.js';
import { ProductSubscription } from './entities/subscription.js';
import { CommerceErasure, CommerceSyncJob, StorefrontErasure } from './entities/sync.js';
import { erase } from './erase.js';
import { catalogue, cataloguePaths } from './native/catalogue.js';
import { references } from './references.js';
import { AdministrationResolver } from './resolvers/administration.js';
import { CartResolver } from './resolvers/cart.js';
import { InventoryLevelResolver, InventoryLotResolver, StockNoticeResolver } from './resolvers/inventory.js';
import { OrderItemResolver, OrderResolver } from './resolvers/order.js';
import { BrandProductsResolver, ProductResolver, ProductVariantResolver } from './resolvers/product.js';
import {
  ProductSubscriptionItemResolver,
  ProductSubscriptionResolver,
  ScheduledOrderItemResolver,
  ScheduledOrderResolver,
} from './resolvers/subscription.js';
import { CommerceSyncResolver } from './resolvers/sync.js';
import { UserCommerceResolver } from './resolvers/user.js';
import { seed } from './seed.js';
import { Brand, User } from './stubs.js';
import { timers } from './timers.js';

export default service({
  slug: 'commerce',
  purpose: 'Sells products: catalogue, stock by lots, carts, orders, recurring orders, and their exchange with a storefront',
  entities: [
    Cart,
    CommerceErasure,
    CommerceSyncJob,
    InventoryLevel,
    InventoryLot,
    Order,
    PaymentTask,
    Product,
    ProductSubscription,
    ProductVariant,
    ScheduledCycle,
    StockMovement,
    StockNotice,
    StorefrontErasure,
  ],
  resolvers: [
    AdministrationResolver,
    BrandProductsResolver,
    CartResolver,
    CommerceSyncResolver,
    InventoryLevelResolver,
    InventoryLotResolver,
    OrderItemResolver,
    OrderResolver,
    ProductResolver,
    ProductSubscriptionItemResolver,
    ProductSubscriptionResolver,
    ProductVariantResolver,
    ScheduledOrderItemResolver,
    ScheduledOrderResolver,
    StockNoticeResolver,
    UserCommerceResolver,
  ],
  types: [User, Brand],
  references,
  consumers,
  timers,
  seed,
  erase,
  native: (app, host, authenticate) => serveBulk(app, host, authenticate, catalogue),
  nativePaths: cataloguePaths,
});
