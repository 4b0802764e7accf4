import type { Context } from '../../../runtime/request/context.js';
import type { Sealer } from '../../../runtime/data/crypto.js';
import { sealerOf } from '../ports/sealer.js';
import { changeConfiguration, headersContext, secretContext } from './configuration.js';

/** What is sealed for longer than the retention, with how each row binds it. Bodies go with their partition. */
const KEPT = [
  { table: 'webhook_secret', column: 'value_sealed', subscription: 'subscription_id', contextOf: secretContext },
  { table: 'webhook_subscription', column: 'headers_sealed', subscription: 'id', contextOf: headersContext },
] as const;

/** The bytes that name the key that seals now: a length and the key's id. */
function currentKey(sealer: Sealer): Buffer {
  const probe = sealer.seal('', 'probe');
  return probe.subarray(0, 1 + probe[0]!);
}

/** Seals anew what an older key has sealed, so that the older key can be taken away. Answers how many rows. Source: rule 21. */
export async function reseal(ctx: Context): Promise<number> {
  const sealer = sealerOf(ctx.host);
  const key = currentKey(sealer);
  let changed = 0;
  for (const { table, column, subscription, contextOf } of KEPT) {
    const old = `select id, ${subscription} as subscription, ${column} as sealed from webhooks.${table} where substring(${column} from 1 for $1) <> $2`;
    const rows = await ctx.sql<{ id: string; subscription: string; sealed: Buffer }>(old, [key.length, key]);
    if (rows.length === 0) continue;
    const version = await changeConfiguration(ctx.sql);
    for (const { id, sealed } of rows) {
      const anew = sealer.seal(sealer.open(sealed, contextOf(id)), contextOf(id));
      await ctx.sql(`update webhooks.${table} set ${column} = $2 where id = $1`, [id, anew]);
    }
    const ids = [...new Set(rows.map(row => row.subscription))];
    await ctx.sql('update webhooks.webhook_subscription set configuration_version = $2 where id = any($1::uuid[])', [ids, version]);
    ctx.audit(`${table}.resealed`, null, { rows: rows.length });
    changed += rows.length;
  }
  return changed;
}
