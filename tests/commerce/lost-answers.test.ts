import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../runtime/observe/log.js';
import { doubleKey } from '../../subgraphs/commerce/ports/payments-double.js';
import { startDouble, type RunningDouble } from '../../subgraphs/commerce/ports/payments-double-server.js';
import { freePort } from '../support/platform.js';
import { until } from '../support/until.js';
import { CARD, Shop } from './shop.js';

/** Operations of payments whose next answer is lost on its way: it was done, and nobody is told. */
const lost = new Set<string>();

/** The way to the double of payments. */
async function wayTo(double: RunningDouble, port: number): Promise<Server> {
  const handOn = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { authorization = '' } = request.headers;
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await fetch(double.url + request.url!, { method: 'POST', headers, body: await text(request) });
    const body = await answer.text();
    if (lost.delete(request.url!.slice(1))) return void response.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
  };
  const server = createServer((request, response) => void handOn(request, response));
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return server;
}

let shop: Shop;
let double: RunningDouble;
let way: Server;

beforeAll(async () => {
  const port = await freePort();
  shop = await Shop.open({ COMMERCE_PAYMENTS_URL: `http://127.0.0.1:${port}` });
  const { DATABASE_URL, ENCRYPTION_KEYS } = shop.p.env;
  double = await startDouble({ databaseUrl: DATABASE_URL!, key: doubleKey(ENCRYPTION_KEYS!), port: 0, log: createLogger('error') });
  way = await wayTo(double, port);
}, 400_000);
afterAll(async () => {
  way?.closeAllConnections();
  way?.close();
  await double?.stop();
});

const NO_SHIPPING = { requires_shipping: false };

describe('payments in a process of its own, whose answer is lost', () => {
  test('at checkout: a 503, and a repeat is the same order, charged once', async () => {
    const user = randomUUID();
    const { cart } = await shop.cart(user, [{ variant: await shop.sell({ price: 2_000, more: NO_SHIPPING }), quantity: 1 }]);
    lost.add('createCheckout');
    expect(await shop.checkout(cart.id)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    const again = await shop.checkout(cart.id);
    expect(again).toMatchObject({ status: 200, body: { status: 'placed' } });
    expect(await shop.payment(again.body.order.id)).toMatchObject({ status: 'COMPLETE', attempts: 1 });
    expect(await shop.p.sql('select 1 from commerce.shop_order where user_id = $1', [user])).toHaveLength(1);
  });

  test('at a renewal: the same attempt is asked again by the same key, and counts once', async () => {
    const variant = await shop.sell({
      price: 2_002,
      more: NO_SHIPPING,
      product: { subscription_offers: [{ cadence: { unit: 'month', count: 1 }, discount_bps: 0 }] },
    });
    const wanted = { items: [{ variant_id: variant.id, quantity: 1 }], cadence: { unit: 'month', count: 1 }, payment_method_id: CARD };
    const when = { first_order_on: '2026-11-25', time_zone: 'UTC' };
    const { id } = await shop.ok('POST', '/subscriptions', { user_id: randomUUID(), ...wanted, ...when });
    const attempt = (count: number): Promise<any> =>
      until(
        `attempt ${count}`,
        async () => (await shop.ok('GET', `/subscriptions/${id}`)).upcoming[0],
        cycle => cycle.attempts === count,
        20_000,
      );
    await shop.clock('2026-11-25T09:00:00.000Z');
    await attempt(1);
    const [{ order }] = await shop.p.sql('select id as "order" from commerce.shop_order where subscription_id = $1', [id]);
    lost.add('confirmCheckout');
    await shop.clock('2026-11-26T09:00:00.000Z');
    await until(
      'the lost answer',
      async () => lost.size,
      left => left === 0,
      20_000,
    );
    await shop.clock('2026-11-26T09:30:00.000Z');
    await attempt(2);
    const [row] = await shop.p.sql('select attempts, keys from commerce.embedded_payment where order_id = $1', [order]);
    expect(row).toEqual({ attempts: 2, keys: { [`${order}:2`]: true } });
  });
});
