import type { FastifyInstance } from 'fastify';
import { checkAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import type { Authenticate, NativePath } from '../../../runtime/service.js';
import { INVOICE_READERS } from '../entities/access.js';
import { renderDocument, type BillingDocument } from '../ports/billing-document.js';
import { creditNoteDocument, invoiceDocument } from '../queries/billing-document.js';

const RULE = ruleOf(INVOICE_READERS);
const HEADERS = {
  'cache-control': 'no-store',
  'content-type': 'application/pdf',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};

type Find = (ctx: Context, id: string) => Promise<BillingDocument>;

/** Documents by path below the service. */
const DOCUMENTS: Readonly<Record<string, { find: Find; name: string }>> = {
  '/v1/billing/invoices/{id}/pdf': { find: invoiceDocument, name: 'invoice' },
  '/v1/credit-notes/{id}/pdf': { find: creditNoteDocument, name: 'credit-note' },
};

/** Serves invoices and credit notes as PDF to whom may read them. */
export async function serveDocuments(app: FastifyInstance, host: ServiceHost, authenticate: Authenticate): Promise<void> {
  for (const [path, { find, name }] of Object.entries(DOCUMENTS))
    app.get<{ Params: { id: string } }>(`/payments${path.replace('{id}', ':id')}`, async (request, reply) => {
      const info = await authenticate(request);
      checkAccess(RULE, info.caller);
      host.revocations.requireFresh(RULE, info.caller);
      const bytes = await renderDocument(await find(await host.context(info), request.params.id));
      return reply.headers({ ...HEADERS, 'content-disposition': `inline; filename="${name}.pdf"` }).send(bytes);
    });
}

export const documentPaths: readonly NativePath[] = Object.entries(DOCUMENTS).map(([path, { name }]) => ({
  method: 'GET',
  path,
  summary: `The document of ${name === 'invoice' ? 'an invoice' : 'a credit note'}`,
  status: 200,
  response: { contentType: 'application/pdf', schema: { type: 'string', contentMediaType: 'application/pdf' } },
}));
