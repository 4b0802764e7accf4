import { findRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { SandboxAction } from '../entities/enums-operations.js';
import type { SandboxActionResult } from '../entities/operations.js';
import { Payment } from '../entities/payment.js';
import { Payout } from '../entities/payout.js';
import type { SandboxActionInput } from '../inputs/operations.js';
import { sandboxOf } from '../ports/processors.js';

/** The processor's id of the payment or payout that is meant. @throws Problem not_found. */
async function objectOf(ctx: Context, { action, paymentId }: SandboxActionInput): Promise<string | null> {
  if (paymentId == null) return null;
  const isPayout = action === SandboxAction.PAYOUT_FAIL;
  const row = isPayout ? await findRow(ctx, Payout, { id: paymentId }) : await findRow(ctx, Payment, { id: paymentId });
  return row?.processorRef ?? fail('not_found', 'Not found');
}

/**
 * Plays customer, bank or processor, so that a tester sees what follows. Outside transactions; what changed comes back by the webhook.
 * @throws Problem not_found with another processor, conflict where the state does not allow it, unavailable while the sandbox is away.
 */
export async function actInSandbox(host: ServiceHost, input: SandboxActionInput): Promise<SandboxActionResult> {
  const sandbox = sandboxOf(host) ?? fail('not_found', 'Not found');
  const id = await host.read(ctx => objectOf(ctx, input));
  const asked = sandbox.act({ action: input.action, id, amount: input.amount ?? null });
  const done = await asked.catch((cause: unknown) => fail('unavailable', 'The sandbox does not answer', { cause }));
  if (!done) fail('conflict', 'The sandbox has nothing that this could be done to', { reason: 'nothing_to_do' });
  return { action: input.action, paymentId: input.paymentId ?? null };
}
