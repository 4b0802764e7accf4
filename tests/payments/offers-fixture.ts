import { expect } from 'vitest';
import { BRAND, DEMO, type TestPlatform } from '../support/platform.js';
import { Shop } from './shop.js';
import { newId } from '../../runtime/data/ids.js';

/** What tests of promos, gifts and pages do besides. */
export class OfferShop extends Shop {
  static override async open(): Promise<OfferShop> {
    const { p, token } = await Shop.open();
    return new OfferShop(p, token);
  }

  async made(path: string, body: object, token = this.token): Promise<any> {
    const answer = await this.post(path, body, token);
    expect(answer).toMatchObject({ status: 201 });
    return answer.body;
  }

  /** A price that is charged every month, of a plan of its own. */
  plan(amount = 9900, more: object = {}): Promise<any> {
    return this.made('/v1/admin/prices', {
      key: `plan-${newId().slice(-12)}`,
      subject_kind: 'membership_plan',
      subject_id: newId(),
      tier: 'plus',
      brand_id: BRAND,
      unit_amount: { amount, currency: 'USD' },
      recurring: { interval: 'month', interval_count: 1 },
      ...more,
    });
  }

  /** A method of a user, by its token in the sandbox. */
  async method(name = 'pm_card_visa', userId = DEMO): Promise<string> {
    const answer = await this.post('/v1/billing/payment-methods', { token: name, user_id: userId });
    expect([200, 201]).toContain(answer.status);
    return answer.body.id;
  }

  /** Events of a type with a value in their data, oldest first, with their user. */
  about(type: string, key: string, value: string): Promise<any[]> {
    return this.p.sql('select user_id, data from events.outbox where type = $1 and data->>$2 = $3 order by seq', [type, key, value]);
  }
}

/** Stands for services that are not there: answers documents that name an operation, and lets all others through. */
export function stub(
  p: TestPlatform,
  answers: Record<string, (variables: any) => object>,
): { calls: { operation: string; variables: any }[] } {
  const { federation } = p.host('payments');
  const real = federation.run.bind(federation);
  const calls: { operation: string; variables: any }[] = [];
  federation.run = async (document: { source: string }, variables: any, options: any): Promise<any> => {
    const operation = Object.keys(answers).find(name => new RegExp(`\\b${name}\\(`).test(document.source));
    if (!operation) return real(document as never, variables, options);
    calls.push({ operation, variables });
    return { [operation]: answers[operation]!(variables) };
  };
  return { calls };
}
