import type { FastifyInstance } from 'fastify';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { NativePath } from '../../../runtime/service.js';
import { fileOf } from '../queries/lab-report.js';

/** A foreign file: never rendered in our origin, never kept. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-disposition': 'attachment; filename="report"',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};

/** Serves the bytes of a report to whoever has a link of the last minute. */
export async function serveReportFiles(app: FastifyInstance, host: ServiceHost): Promise<void> {
  app.get<{ Params: { token: string } }>('/clinical/v1/bloodwork/files/:token', async ({ params: { token } }, reply) => {
    const found = (await host.read(ctx => fileOf(ctx, token))) ?? fail('not_found', 'Not found');
    return reply.headers({ ...HEADERS, 'content-type': found.type }).send(found.bytes);
  });
}

export const reportFilePaths: readonly NativePath[] = [
  {
    method: 'GET',
    path: '/v1/bloodwork/files/{token}',
    summary: 'The file of a report, by a link of the last minute',
    status: 200,
    public: true,
    response: { contentType: 'application/pdf', schema: { type: 'string', contentMediaType: 'application/pdf' } },
  },
];
