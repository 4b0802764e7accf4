import { expect } from 'vitest';
import type { GraphqlAnswer, TestPlatform } from '../support/platform.js';

export const TO = 'demo@example.test';

/** What comms is told, and sends. */
export interface Delivery {
  channel: string;
  to: string;
  template: string;
  link: string | null;
  code: string | null;
  locale: string | null;
  expiresAt: string;
}

const ASK = 'query ($id: ID!) { result: authDelivery(challengeId: $id) { channel to template link code locale expiresAt } }';

/** Asks as comms does, or with another token. */
export const deliveryOf = async (
  p: TestPlatform,
  challengeId: string,
  token?: string,
): Promise<GraphqlAnswer<{ result: Delivery } | null>> =>
  p.graphql(ASK, { id: challengeId }, { token: token ?? (await p.internalToken('comms')) });

export async function deliver(p: TestPlatform, challengeId: string): Promise<Delivery> {
  const { data, errors } = await deliveryOf(p, challengeId);
  expect(errors).toEqual([]);
  return data!.result;
}

const NEWEST = `
select data->>'challenge_id' as id, data->'params'->>'challenge_id' as other from events.outbox
where data->>'challenge_id' is not null or data->'params'->>'challenge_id' is not null order by seq desc limit 1`;

/** The newest mail that an event announced. */
export async function newestMail(p: TestPlatform): Promise<Delivery> {
  const [row] = await p.sql<{ id: string | null; other: string | null }>(NEWEST);
  return deliver(p, (row!.id ?? row!.other)!);
}

/** How many mails events have announced. */
export async function mails(p: TestPlatform): Promise<number> {
  const [row] = await p.sql<{ count: number }>(
    "select count(*)::int as count from events.outbox where type like 'auth.%' or data->'params'->>'challenge_id' is not null",
  );
  return row!.count;
}
