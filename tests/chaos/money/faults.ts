import type { Patch } from '../wrong-designs.js';

/** Faults of payments that look harmless until a process dies or a call comes late: the run that finds nothing wrong with ours must find these. Source: issue 17. */
export const MONEY_FAULTS: Readonly<Record<string, readonly Patch[]>> = {
  'charge before the intent commits': [
    {
      module: 'subgraphs/payments/commands/charging.js',
      find: 'ctx.em.persist(attempt);',
      // 700 ms: what a busy database takes between the charge and the commit
      replace: `ctx.em.persist(attempt);
    await ctx.em.flush();
    await callCharge(ctx, attempt.id);
    await new Promise(done => setTimeout(done, 700));`,
    },
  ],
  'a new key on retry': [
    {
      module: 'subgraphs/payments/commands/charging.js',
      find: 'idempotencyKey: attempt.id,',
      replace: 'idempotencyKey: `${attempt.id}:${Date.now()}`,',
    },
  ],
  'a webhook applied without re-reading': [
    {
      module: 'subgraphs/payments/commands/processor-object.js',
      find: 'const result = await answered(processor.retrieveRefund({ id }, call));',
      replace: `const result = { ...(await answered(processor.retrieveRefund({ id }, call))), status: 'succeeded' };`, // as the call's type suggests
    },
  ],
};
