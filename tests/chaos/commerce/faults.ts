import type { Patch } from '../wrong-designs.js';

/** Faults of commerce that look harmless until shoppers meet: the run that finds nothing wrong with ours must find these. Source: issue 18. */
export const COMMERCE_FAULTS: Readonly<Record<string, readonly Patch[]>> = {
  'reservation outside the transaction': [
    {
      module: 'subgraphs/commerce/commands/stock.js',
      find: `    await ctx.sql('select id from commerce.inventory_level where variant_id = any($1) order by id for update', [[...new Set(variantIds)]]);`,
      // the lock ends with a transaction of its own, before what it is for
      replace: `    await ctx.host.transaction(own => own.sql('select id from commerce.inventory_level where variant_id = any($1) order by id for update', [[...new Set(variantIds)]]));`,
    },
  ],
  'allocation of a recalled lot': [
    {
      module: 'subgraphs/commerce/rules/stock.js',
      find: 'if (status !== InventoryLotStatus.AVAILABLE)',
      replace: 'if (status !== InventoryLotStatus.AVAILABLE && status !== InventoryLotStatus.RECALLED)',
    },
  ],
};
