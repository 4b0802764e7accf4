/**
 * The two requests of the benchmark of REST written by hand: Fastify, pg and jose, no code of the platform. Same token checks, same
 * checks of the input, same rows, same answers: a brand with its domains is read; a vial is registered with its idempotency key, its audit
 * row and its event in one commit.
 *
 * Environment: PORT, DATABASE_URL, ISSUER, JWKS_URL, POOL.
 */
import fastify from 'fastify';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { v7 } from 'uuid';

const { PORT, DATABASE_URL, ISSUER, JWKS_URL, POOL } = process.env;
const AUDIENCE = 'urn:platform:api';
const keys = createRemoteJWKSet(new URL(JWKS_URL));
const poolAs = role => new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL), options: `-c role=${role}` });
const [platform, clinical] = [poolAs('platform_platform'), poolAs('platform_clinical')];

const app = fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } });

function failWith(statusCode, code) {
  throw Object.assign(new Error(code), { statusCode, code });
}

/** Scopes and client of a service token. */
async function callerOf({ headers }) {
  const match = /^Bearer svc_(.+)$/.exec(headers.authorization ?? '');
  if (!match) failWith(401, 'unauthenticated');
  const options = {
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer: ISSUER,
    audience: AUDIENCE,
    clockTolerance: 5,
    requiredClaims: ['sub', 'client_id', 'exp', 'jti'],
  };
  const { payload } = await jwtVerify(match[1], keys, options).catch(() => failWith(401, 'unauthenticated'));
  if (payload.token_use !== 'service') failWith(401, 'unauthenticated');
  return { clientId: payload.client_id, scopes: new Set(payload.scope.split(' ')) };
}

const HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
const send = (request, reply, body) =>
  reply
    .headers({ ...HEADERS, 'x-request-id': request.headers['x-request-id'] ?? randomUUID() })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));

const BRAND = `select id, slug, name, legal_name, status, is_default, default_locale, locales, default_currency, currencies, countries, time_zone,
  theme, support_email, support_url, tax_inclusive_prices, legal_version, version from platform.brand where slug = $1`;
const DOMAINS = 'select id, host, purpose, status, verified_at from platform.brand_domain where brand_id = $1 order by host';
const COLOURS = ['primaryColor', 'accentColor', 'logoUrl', 'faviconUrl', 'fontFamily'];
const snake = name => name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
const themeOf = theme => Object.fromEntries(COLOURS.map(name => [snake(name), theme[name] ?? null]));

app.get('/platform/v1/brands/:slug', async (request, reply) => {
  await callerOf(request);
  const { rows } = await platform.query(BRAND, [request.params.slug]);
  if (!rows[0]) failWith(404, 'not_found');
  const { theme, support_email, support_url, tax_inclusive_prices, legal_version, version, ...brand } = rows[0];
  const { rows: domains } = await platform.query(DOMAINS, [brand.id]);
  const more = { support_email, support_url, tax_inclusive_prices, legal_version, version };
  return send(request, reply, { ...brand, domains, theme: themeOf(theme), ...more });
});

const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';
const VIAL = {
  type: 'object',
  additionalProperties: false,
  required: ['user_id', 'product_code', 'expires_on', 'doses_planned'],
  properties: {
    user_id: { type: 'string', pattern: UUID },
    product_code: { type: 'string', pattern: '^[a-z0-9][a-z0-9_.:-]{0,63}$' },
    expires_on: { type: 'string', format: 'date' },
    stability_days: { type: 'integer', minimum: 1, maximum: 3650, default: 28 },
    doses_planned: { type: 'integer', minimum: 1, maximum: 1000 },
  },
};

const CLAIM = 'select pg_try_advisory_xact_lock(hashtextextended($1, 11)) as ok';
const FIND = `select hash, entity_id from clinical.idempotency_key where caller = $1 and field = 'createVial' and path = 'result' and key = $2
  and created_at >= now() - interval '24 hours'`;
const LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, 17))';
const INSERT = `insert into clinical.vial (id, patient_id, product_code, status, stability_days, expires_on, expires_at, doses_planned, doses_remaining, created_at, version)
  values ($1, $2, $3, 'new', $4, $5, $6, $7, $7, $8, 1)`;
const REMEMBER = `insert into clinical.idempotency_key (caller, field, path, key, hash, entity_type, entity_id, created_at)
  values ($1, 'createVial', 'result', $2, $3, 'Vial', $4, now())
  on conflict (caller, field, path, key) do update set hash = excluded.hash, entity_id = excluded.entity_id, created_at = excluded.created_at`;
const AUDIT = `insert into clinical.audit_log (id, actor, action, target, at, request_id, details) values ($1, $2, 'vial.created', $3, $4, $5, $6)`;
const APPEND = 'select events.append($1::json, null)';

const shown = (id, { user_id, product_code, stability_days, expires_on, doses_planned }, at) => ({
  id,
  patient_id: user_id,
  product_code,
  lot: null,
  coa_id: null,
  intervention_id: null,
  status: 'new',
  content: null,
  diluent_ml: null,
  stability_days,
  reconstituted_at: null,
  expires_on,
  beyond_use_on: null,
  doses_planned,
  doses_remaining: doses_planned,
  discard_reason: null,
  discarded_at: null,
  created_at: at.toISOString(),
  version: 1,
});

function eventOf(id, { user_id, product_code, expires_on, doses_planned }, clientId, requestId) {
  const data = { vial_id: id, product_code, protocol_id: null, expires_on, doses_planned };
  return {
    id: v7(),
    type: 'clinical.vial.created.v1',
    schema_rev: 1,
    user_id,
    subject: null,
    brand_id: null,
    source: 'clinical',
    data: JSON.stringify(data),
    request_id: requestId,
    causation_id: null,
    actor: `service:${clientId}`,
    traceparent: null,
  };
}

async function register(sql, given, { clientId }, key, requestId) {
  const [id, at, caller] = [v7(), new Date(), `service:${clientId}:`];
  const hash = createHash('sha256').update(JSON.stringify(given)).digest();
  if (!(await sql(CLAIM, [`clinical:${caller}\ncreateVial\nresult\n${key}`]))[0].ok) failWith(409, 'conflict');
  const [stored] = await sql(FIND, [caller, key]);
  if (stored) failWith(stored.hash.equals(hash) ? 409 : 422, 'idempotency_mismatch'); // the load repeats no key
  await sql(LOCK, [`clinical:patient:${given.user_id}`]);
  const expiresAt = new Date(Date.parse(`${given.expires_on}T00:00:00Z`) + 86_400_000);
  if (expiresAt <= at) failWith(400, 'invalid_request');
  await sql(INSERT, [id, given.user_id, given.product_code, given.stability_days, given.expires_on, expiresAt, given.doses_planned, at]);
  await sql(REMEMBER, [caller, key, hash, JSON.stringify(id)]);
  await sql(AUDIT, [v7(), { kind: 'service', client_id: clientId }, id, at, requestId, { product: given.product_code }]);
  await sql(APPEND, [JSON.stringify([eventOf(id, given, clientId, requestId)])]);
  return shown(id, given, at);
}

app.post('/clinical/v1/vials', { schema: { body: VIAL } }, async (request, reply) => {
  const caller = await callerOf(request);
  if (!caller.scopes.has('admin:clinical')) failWith(403, 'insufficient_scope');
  const client = await clinical.connect();
  const sql = async (text, values) => (await client.query(text, values)).rows;
  try {
    await client.query('begin');
    const vial = await register(
      sql,
      request.body,
      caller,
      request.headers['idempotency-key'],
      request.headers['x-request-id'] ?? randomUUID(),
    );
    await client.query('commit');
    reply.code(201);
    return send(request, reply, vial);
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
});

app.get('/ready', () => 'ok');
await app.listen({ port: Number(PORT), host: 'localhost' });
process.on('SIGTERM', () => process.exit(0));
