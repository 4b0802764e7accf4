import { registerEnums } from '../../../runtime/schema/enums.js';

export enum ProductStatus {
  DRAFT = 'draft',
  ACTIVE = 'active',
  ARCHIVED = 'archived',
}

export enum ProductKind {
  PHYSICAL = 'physical',
  DIGITAL = 'digital',
  SERVICE = 'service',
  BUNDLE = 'bundle',
}

export enum PurchaseRequirement {
  NONE = 'none',
  MEMBERSHIP = 'membership',
  PRESCRIPTION = 'prescription',
}

export enum BackorderPolicy {
  DENY = 'deny',
  ALLOW = 'allow',
}

export enum AvailabilityStatus {
  IN_STOCK = 'in_stock',
  LOW_STOCK = 'low_stock',
  BACKORDER = 'backorder',
  OUT_OF_STOCK = 'out_of_stock',
}

export enum ProductSort {
  NEWEST = 'newest',
  TITLE = 'title',
  PRICE_ASC = 'price_asc',
  PRICE_DESC = 'price_desc',
  RELEVANCE = 'relevance',
}

export enum InventoryLotStatus {
  AVAILABLE = 'available',
  QUARANTINED = 'quarantined',
  RECALLED = 'recalled',
  DEPLETED = 'depleted',
}

export enum StockMovementKind {
  RECEIPT = 'receipt',
  ADJUSTMENT = 'adjustment',
  ALLOCATION = 'allocation',
  RELEASE = 'release',
  SHIPMENT = 'shipment',
  RETURN = 'return',
  RECALL = 'recall',
}

export enum CartStatus {
  ACTIVE = 'active',
  CHECKING_OUT = 'checking_out',
  COMPLETED = 'completed',
  MERGED = 'merged',
  ABANDONED = 'abandoned',
  EXPIRED = 'expired',
}

export enum CartProblemCode {
  PRICE_CHANGED = 'price_changed',
  OUT_OF_STOCK = 'out_of_stock',
  INSUFFICIENT_STOCK = 'insufficient_stock',
  UNAVAILABLE = 'unavailable',
  OVER_MAX_QUANTITY = 'over_max_quantity',
  PROMO_REJECTED = 'promo_rejected',
  ADDRESS_REQUIRED = 'address_required',
  ADDRESS_NOT_SERVED = 'address_not_served',
  SHIPPING_METHOD_REQUIRED = 'shipping_method_required',
  SHIPPING_METHOD_UNAVAILABLE = 'shipping_method_unavailable',
  REQUIREMENT_NOT_MET = 'requirement_not_met',
  SIGN_IN_REQUIRED = 'sign_in_required',
  TAX_UNAVAILABLE = 'tax_unavailable',
}

export enum CartItemMode {
  ADD = 'add',
  SET = 'set',
}

export enum CartCheckoutStatus {
  PLACED = 'placed',
  REQUIRES_ACTION = 'requires_action',
  PROCESSING = 'processing',
}

export enum CartPromoKind {
  PERCENT = 'percent',
  AMOUNT = 'amount',
}

export enum CartPromoReason {
  UNKNOWN = 'unknown',
  EXPIRED = 'expired',
  EXHAUSTED = 'exhausted',
  NOT_APPLICABLE = 'not_applicable',
  MIN_SUBTOTAL = 'min_subtotal',
  ALREADY_USED = 'already_used',
  NOT_FIRST_PURCHASE = 'not_first_purchase',
}

export enum OrderSource {
  WEB = 'web',
  SUBSCRIPTION = 'subscription',
  CHANNEL = 'channel',
  STAFF = 'staff',
}

export enum OrderStatus {
  PENDING_PAYMENT = 'pending_payment',
  PLACED = 'placed',
  COMPLETED = 'completed',
  PAYMENT_FAILED = 'payment_failed',
  EXPIRED = 'expired',
  CANCELLED = 'cancelled',
}

export enum OrderPaymentStatus {
  PENDING = 'pending',
  PAID = 'paid',
  PARTIALLY_REFUNDED = 'partially_refunded',
  REFUNDED = 'refunded',
  FAILED = 'failed',
  EXTERNAL = 'external',
}

export enum FulfillmentStatus {
  UNFULFILLED = 'unfulfilled',
  PARTIALLY_FULFILLED = 'partially_fulfilled',
  FULFILLED = 'fulfilled',
  DELIVERED = 'delivered',
  RETURNED = 'returned',
}

export enum OrderCancelReason {
  CUSTOMER = 'customer',
  FRAUD = 'fraud',
  INVENTORY = 'inventory',
  PAYMENT_EXPIRED = 'payment_expired',
  LATE_PAYMENT = 'late_payment',
  RECALL = 'recall',
  OTHER = 'other',
}

export enum OrderFulfillmentStatus {
  PENDING = 'pending',
  SHIPPED = 'shipped',
  DELIVERED = 'delivered',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}

export enum OrderFulfillmentProvider {
  OWN = 'own',
  PARTNER = 'partner',
}

export enum OrderAdjustmentKind {
  PROMO = 'promo',
  MANUAL = 'manual',
}

export enum ProductSubscriptionStatus {
  ACTIVE = 'active',
  PAUSED = 'paused',
  PAST_DUE = 'past_due',
  CANCELLED = 'cancelled',
}

export enum CadenceUnit {
  WEEK = 'week',
  MONTH = 'month',
}

export enum OutOfStockPolicy {
  WAIT = 'wait',
  SKIP = 'skip',
}

export enum ScheduledOrderStatus {
  SCHEDULED = 'scheduled',
  SKIPPED = 'skipped',
  PROCESSING = 'processing',
  PLACED = 'placed',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}

export enum SubscriptionCancelReason {
  TOO_MUCH_PRODUCT = 'too_much_product',
  TOO_EXPENSIVE = 'too_expensive',
  NOT_EFFECTIVE = 'not_effective',
  SIDE_EFFECTS = 'side_effects',
  MOVING = 'moving',
  OTHER = 'other',
}

export enum SubscriptionCancelAt {
  NOW = 'now',
  AFTER_NEXT_ORDER = 'after_next_order',
}

export enum CadenceEffective {
  NEXT_CYCLE = 'next_cycle',
  NOW = 'now',
}

export enum SwapScope {
  ALL_FUTURE = 'all_future',
  NEXT_ONLY = 'next_only',
}

export enum CommerceSyncKind {
  PRODUCTS = 'products',
  AFFILIATE_CUSTOMER_GROUPS = 'affiliate_customer_groups',
  CHANNEL_ORDERS = 'channel_orders',
  CUSTOMER_PROFILES = 'customer_profiles',
  PROFILES_TO_STOREFRONT = 'profiles_to_storefront',
}

export enum CommerceSyncStatus {
  QUEUED = 'queued',
  RUNNING = 'running',
  SUCCEEDED = 'succeeded',
  PARTIAL = 'partial',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}

export enum CommerceErasureStatus {
  QUEUED = 'queued',
  RUNNING = 'running',
  COMPLETED = 'completed',
  FAILED = 'failed',
}

export enum LinkCardKind {
  PRODUCT = 'product',
  PAGE = 'page',
}

registerEnums(
  {
    ProductStatus,
    ProductKind,
    PurchaseRequirement,
    BackorderPolicy,
    AvailabilityStatus,
    ProductSort,
    InventoryLotStatus,
    StockMovementKind,
    CartStatus,
    CartProblemCode,
    CartItemMode,
    CartCheckoutStatus,
    CartPromoKind,
    CartPromoReason,
    OrderSource,
    OrderStatus,
    OrderPaymentStatus,
    FulfillmentStatus,
    OrderCancelReason,
    OrderFulfillmentStatus,
    OrderFulfillmentProvider,
    OrderAdjustmentKind,
    ProductSubscriptionStatus,
    CadenceUnit,
    OutOfStockPolicy,
    ScheduledOrderStatus,
    SubscriptionCancelReason,
    SubscriptionCancelAt,
    CadenceEffective,
    SwapScope,
    CommerceSyncKind,
    CommerceSyncStatus,
    CommerceErasureStatus,
    LinkCardKind,
  },
  {
    ProductStatus: 'Members see and buy what is ACTIVE.',
    PurchaseRequirement: 'What a buyer must have; checked when money is committed.',
    CartProblemCode: 'PRICE_CHANGED does not keep from checking out; all others do.',
    StockMovementKind: 'RECALL moves nothing; RETURN counts what was put back on the shelf.',
    OrderStatus: 'An order counts from PLACED on.',
    OrderPaymentStatus: 'EXTERNAL: paid in the channel that it came from.',
    OutOfStockPolicy: 'WAIT waits seven days for stock, then skips.',
  },
);
