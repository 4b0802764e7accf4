import type Stripe from 'stripe';
import { lazyPackage } from '../../../../runtime/lazy.js';

/** Stripe's own package: 0.26 s of CPU and 37 MB, for whom Stripe is the processor. */
export const stripePackage = lazyPackage<typeof Stripe>(import.meta.url, 'stripe');
