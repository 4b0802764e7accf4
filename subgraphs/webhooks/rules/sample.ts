import { signatureOf } from './wire.js';

/** Published: whoever writes a receiver tests it with this secret, and nothing that is delivered was ever signed with it. */
const SAMPLE_SECRET = `whsec_${Buffer.from('a published secret of 32 bytes..').toString('base64')}`;

/** Whom the examples name where no client is given. */
const EXAMPLE_CLIENT = 'your-client-id';

/** Nobody's user: examples and tests are about it. Source: section 4, test. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Id and time of the examples. */
export const EXAMPLE = { id: '0190b3a0-0000-7000-8000-00000000e0e0', occurredAt: '2026-11-20T09:30:00.000Z' };

export interface ExampleBody {
  id: string;
  type: string;
  user_id: string;
  client_id: string;
  occurred_at: string;
  data: unknown;
}

/** The body of a delivery of a type, with one of its examples. */
export const exampleBody = ({ name, examples }: { name: string; examples: readonly unknown[] }, clientId: string | null): ExampleBody => ({
  id: EXAMPLE.id,
  type: name,
  user_id: NOBODY,
  client_id: clientId ?? EXAMPLE_CLIENT,
  occurred_at: EXAMPLE.occurredAt,
  data: examples[0],
});

/** A signed example: what a receiver must accept. */
export function signedSample(example: ExampleBody): { secret: string; body: string; signature: string } {
  const body = JSON.stringify(example);
  return { secret: SAMPLE_SECRET, body, signature: signatureOf(Buffer.from(body), SAMPLE_SECRET) };
}
