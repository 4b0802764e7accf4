/**
 * Prints an access token of a machine client, for curl: `npm run token -- --client demo-m2m [--scope "admin:clinical"]`.
 * The secret is `--secret`, else the one that development data has given the client: demo-m2m's own, or that of an internal client
 * `svc-<slug>` from the environment or the data folder. Has no dependencies. Exit code 1 when there is no token.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const options = { client: { type: 'string' }, secret: { type: 'string' }, scope: { type: 'string' }, url: { type: 'string' } };

function stop(line) {
  console.error(line);
  process.exit(1);
}

/** Secret of an internal client: `INTERNAL_CLIENT_SECRET_<SLUG>`. */
function internalSecret(slug) {
  const name = `INTERNAL_CLIENT_SECRET_${slug.replaceAll('-', '_').toUpperCase()}`;
  if (process.env[name]) return process.env[name];
  const file = join(process.env.DATA_DIR || '.data', 'secrets.env');
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.find(line => line.startsWith(`${name}=`))?.slice(name.length + 1);
}

function secretOf(client) {
  if (client === 'demo-m2m') return process.env.SEED_M2M_SECRET || 'demo-m2m-secret';
  return client.startsWith('svc-') ? internalSecret(client.slice(4)) : undefined;
}

async function main() {
  const { values } = parseArgs({ options });
  const { client, scope } = values;
  if (!client)
    stop('which client? npm run token -- --client demo-m2m [--scope "admin:clinical"] [--secret …] [--url http://localhost:4000]');
  const secret = values.secret ?? secretOf(client);
  if (!secret) stop(`the secret of ${client} is not known here: give it with --secret`);
  const base = values.url ?? process.env.BASE_URL ?? `http://localhost:${process.env.PORT || 4000}`;
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: client, client_secret: secret, ...(scope && { scope }) });
  const answer = await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body: form }).catch(error =>
    stop(`${base} cannot be reached: ${error.cause?.code ?? error.message}`),
  );
  const body = await answer.json();
  if (!body.access_token) stop(`${answer.status} ${body.error}: ${body.error_description ?? ''}`);
  console.log(body.access_token);
}

await main();
