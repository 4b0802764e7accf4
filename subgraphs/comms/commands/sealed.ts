import type { Context, ServiceHost } from '../../../runtime/request/context.js';

/** Seals a value into a column; the id of its row is authenticated with it. */
export const sealJson = ({ host }: Context, column: string, id: string, value: unknown): Buffer =>
  host.sealer.seal(JSON.stringify(value), `${column}:${id}`);

export const openJson = <T>({ sealer }: Pick<ServiceHost, 'sealer'>, column: string, id: string, sealed: Buffer): T =>
  JSON.parse(sealer.open(sealed, `${column}:${id}`)) as T;
