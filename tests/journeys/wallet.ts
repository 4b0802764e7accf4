import { DEMO, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

const line = (account_code: string, direction: string) => ({ account_code, direction, amount: { amount: 1_000, currency: 'USD' } });

/** The demo user has credit in the books, sealed. */
export async function walletJourney(p: Pick<TestPlatform, 'rest' | 'serviceToken'>): Promise<void> {
  const token = await p.serviceToken();
  const body = {
    source: { service: 'payments', type: 'journey', id: 'wallet' },
    description: 'credit',
    user_id: DEMO,
    entries: [line('equity:fx:usd', 'debit'), line(`liabilities:wallet:credit:${DEMO}:usd`, 'credit')],
  };
  const { id } = (await p.rest('POST', '/accounting/v1/transactions', { token, body })).body;
  const sealed = async () => (await p.rest('GET', `/accounting/v1/transactions/${id}/proof`, { token })).status;
  await until('the seal', sealed, status => status === 200);
}
