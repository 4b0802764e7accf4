import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkAccess, type AccessRule } from '../access/rules.js';
import { plugin } from '../http/plugin.js';
import { requireValid, type Violation } from '../request/errors.js';
import type { ServiceHost } from '../request/context.js';
import type { RequestInfo } from '../request/request.js';
import type { Authenticate, NativePath } from '../service.js';
import { CONTENT_TYPES, exportRows, type Row } from './export.js';
import { importRows, type TakeRow } from './import.js';
import { FORMATS, MAX_BULK_BYTES, rowsOf, type BulkFormat, type IsText } from './rows.js';

/** What is moved in and out by rows, once it is known of what. */
export interface Bulk {
  /** Of CSV, in order. */
  columns: readonly string[];
  isText: IsText;
  take: TakeRow;
  /** A page in memory at a time. */
  pages(): AsyncIterable<readonly Row[]>;
}

/** A pair of paths by which rows come in and go out. */
export interface BulkSetting {
  /** Below the service, without `import` and `export`: `/v1/admin/catalogue`. */
  path: string;
  /** What the rows are, for the documents: `products`. */
  of: string;
  editors: AccessRule;
  readers: AccessRule;
  /** Keys of the query beside `format` and `dry_run`. */
  importKeys: readonly string[];
  exportKeys: readonly string[];
  /** Before any transaction. @throws Problem for a query that names nothing. */
  open(host: ServiceHost, request: RequestInfo, query: Query): Promise<Bulk>;
}

type Query = Readonly<Record<string, string | undefined>>;
type BulkRequest = FastifyRequest<{ Querystring: Record<string, string | string[] | undefined> }>;

const TRUTHS: Readonly<Record<string, boolean>> = { true: true, false: false };

/** @throws Problem invalid_request with every violation. */
function queryOf({ query: given }: BulkRequest, keys: readonly string[]): { query: Query; format: BulkFormat; isTrial: boolean } {
  const found: Violation[] = [];
  for (const [key, value] of Object.entries(given)) {
    if (![...keys, 'format'].includes(key)) found.push({ pointer: `/${key.slice(0, 100)}`, message: 'is not a known query parameter' });
    else if (typeof value !== 'string') found.push({ pointer: `/${key}`, message: 'must be given once' });
  }
  const { format = 'csv', dry_run = 'false' } = given as Record<string, string>;
  if (!FORMATS.includes(format as BulkFormat)) found.push({ pointer: '/format', message: `must be one of ${FORMATS.join(', ')}` });
  if (!(dry_run in TRUTHS)) found.push({ pointer: '/dry_run', message: 'must be true or false' });
  requireValid(found);
  return { query: given as Query, format: format as BulkFormat, isTrial: TRUTHS[dry_run]! };
}

/** Serves an import and an export. */
export async function serveBulk(app: FastifyInstance, host: ServiceHost, authenticate: Authenticate, setting: BulkSetting): Promise<void> {
  const admitted = async (request: BulkRequest, rule: AccessRule): Promise<RequestInfo> => {
    const info = await authenticate(request);
    checkAccess(rule, info.caller);
    host.revocations.requireFresh(rule, info.caller);
    return info;
  };
  const at = `/${host.slug}${setting.path}`;
  app.get(`${at}/export`, async (request: BulkRequest, reply) => {
    const info = await admitted(request, setting.readers);
    const { query, format } = queryOf(request, setting.exportKeys);
    const { pages, columns, isText } = await setting.open(host, info, query);
    return reply
      .headers({ 'content-type': CONTENT_TYPES[format], 'cache-control': 'no-store' })
      .send(exportRows(pages(), format, columns, isText));
  });
  await app.register(
    plugin(`import of ${host.slug}`, async scope => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BULK_BYTES }, (_request, body, done) => done(null, body));
      scope.post(`${at}/import`, { bodyLimit: MAX_BULK_BYTES }, async (request: BulkRequest, reply) => {
        const info = await admitted(request, setting.editors);
        const { query, format, isTrial } = queryOf(request, [...setting.importKeys, 'dry_run']);
        const { isText, take } = await setting.open(host, info, query);
        const rows = rowsOf((request.body as Buffer | undefined) ?? Buffer.alloc(0), format, isText);
        return reply.header('cache-control', 'no-store').send(await importRows(host, info, { rows, isTrial }, take));
      });
    }),
  );
}

const COUNT = { type: 'integer', minimum: 0 };
const REPORT = {
  type: 'object',
  properties: {
    rows: COUNT,
    created: COUNT,
    updated: COUNT,
    unchanged: COUNT,
    failed: COUNT,
    errors: {
      type: 'array',
      items: { type: 'object', properties: { row: COUNT, pointer: { type: 'string' }, message: { type: 'string' } } },
    },
  },
};
const TEXT = { contentType: 'text/csv', schema: { type: 'string' } };

/** For the service's documents. */
export const bulkPaths = ({ path, of }: Pick<BulkSetting, 'path' | 'of'>): readonly NativePath[] => [
  {
    method: 'POST',
    path: `${path}/import`,
    summary: `Takes ${of} over, by rows of CSV or JSON lines; dry_run=true writes nothing`,
    status: 200,
    requestBody: TEXT,
    response: { contentType: 'application/json', schema: REPORT },
  },
  {
    method: 'GET',
    path: `${path}/export`,
    summary: `The ${of} as rows of CSV or JSON lines, as an import takes them`,
    status: 200,
    response: TEXT,
  },
];
