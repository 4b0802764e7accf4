import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

const ASK = stored('query PaymentsConsult($id: ID!) { consult(id: $id) { outcome } }');

/** Whether a consult ended with a refusal of the treatment, asked of clinical. @throws Problem unavailable. */
export async function isRefused({ federation }: Pick<ServiceHost, 'federation'>, consultId: string): Promise<boolean> {
  const { consult } = await federation.run<{ consult: { outcome: string | null } | null }>(ASK, { id: consultId });
  return consult?.outcome === 'DENIED';
}
