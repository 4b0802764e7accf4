import type { Context } from '../../../runtime/request/context.js';

const NOTE = 'insert into comms.provider_state (key, at) values ($1, $2) on conflict (key) do update set at = excluded.at';

/** Notes that a service is not in the supergraph, for `/readyz`. */
export const audienceMissing = (ctx: Context, owner: string): Promise<unknown> =>
  ctx.host.transaction(own => own.sql(NOTE, [`absent:${owner}`, own.now().toISOString()]));
