import type { Patch } from '../wrong-designs.js';

/** Faults of commerce that look harmless until shoppers meet: the run that finds nothing wrong with ours must find these. Source: issue 18. */
export const COMMERCE_FAULTS: Readonly<Record<string, readonly Patch[]>> = {
  'reservation outside the transaction': [
    {
      module: 'subgraphs/commerce/commands/stock.js',
      find: 'if (!shortage)\n        await hold(',
      // 50 ms: the way of a second transaction to a busy database
      replace: `if (!shortage) {
        await ctx.em.commit();
        await new Promise(done => setTimeout(done, 50));
        await ctx.em.begin();
    }
    if (!shortage)
        await hold(`,
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
