/** A place of the built product and what stands there in a wrong design. */
export interface Patch {
  /** Path below `dist/`. */
  module: string;
  /** Occurs exactly once. */
  find: string;
  replace: string;
}

export interface WrongDesign {
  /** Which figures must show it. */
  shows: readonly ('lost' | 'outOfOrder')[];
  patches: readonly Patch[];
}

/** Designs that look right until a process dies: the run that finds nothing wrong with ours must find these. Source: must-not-happen 7-9. */
export const WRONG_DESIGNS: Readonly<Record<string, WrongDesign>> = {
  'publish after commit': {
    shows: ['lost'],
    patches: [
      {
        module: 'runtime/data/transaction.js',
        find: 'if (emits) {\n        await appendEvents(besideAudit(ctx, ctx.audits), ',
        // 100 ms: the way to a busy broker and its confirm, which this design takes after the commit
        replace:
          'await writeAudit(ctx, ctx.audits);\n    await commit(ctx);\n    await new Promise(done => setTimeout(done, 100));\n    if (emits) {\n        await appendEvents(ctx.sql, ',
      },
      {
        module: 'runtime/data/transaction.js',
        find: '\n    else\n        await writeAudit(ctx, ctx.audits, true);\n    await commit(ctx);\n}',
        replace: '\n}',
      },
    ],
  },
  'acknowledge before the insert': {
    shows: ['lost'],
    patches: [
      {
        module: 'events/transport/rabbitmq-queue.js',
        find: 'acks.received(message);',
        replace: 'channel.ack(message);',
      },
      {
        module: 'events/transport/rabbitmq-queue.js',
        find: 'if (this.#channel === channel)\n                acks.settled(message);',
        replace: '',
      },
    ],
  },
  'poll by the last id': {
    shows: ['lost'],
    patches: [
      {
        module: 'events/fair-reader.js',
        find: 'o.published_at is null and not (o.order_key = any ($2::text[])) and not (o.slot = any ($3::smallint[])) order by o.seq limit $4',
        replace: `o.id > coalesce((select p.id from events.outbox p where (p.slot >> 3) = $1 and p.published_at is not null order by p.id desc limit 1),
  '00000000-0000-0000-0000-000000000000') and not (o.order_key = any ($2::text[])) and not (o.slot = any ($3::smallint[])) order by o.id limit $4`,
      },
    ],
  },
  'retry without head-of-line blocking': {
    shows: ['outOfOrder'],
    patches: [
      {
        module: 'subgraphs/webhooks/commands/lanes.js',
        find: 'order by d.sequence, d.replay_no limit 1',
        replace: 'order by d.next_attempt_at nulls first, d.sequence, d.replay_no limit 1',
      },
    ],
  },
};
