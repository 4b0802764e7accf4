/**
 * Prints an access token of a machine client, for curl: `npm run token -- --client demo-m2m [--scope "admin:clinical"]`.
 * With `--user demo@example.test --client demo-app --scope "read:profile"` it walks people's pages (code flow with PKCE, consent to every
 * scope asked) with the password of development data, else `--password`, and prints the access token and the refresh token, a line each. The
 * second factor of admin@example.test is answered with the secret of development data, that of others with `--totp-secret`.
 * The secret is `--secret`, else the one that development data has given the client: demo-m2m's own, or that of an internal client
 * `svc-<slug>` from the environment or the data folder. Has no dependencies. Exit code 1 when there is no token.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const NAMES = ['client', 'secret', 'scope', 'url', 'user', 'password', 'redirect', 'totp-secret'];
const options = Object.fromEntries(NAMES.map(name => [name, { type: 'string' }]));

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

/** Where development data's apps are sent back to. */
const REDIRECTS = {
  'demo-app': 'http://localhost:5173/callback',
  'demo-partner-app': 'http://localhost:5174/callback',
  'demo-admin': 'http://localhost:5175/callback',
};

/** A browser as far as the pages need one: cookies (a page's own path is enough here) and forms. */
class Browser {
  #cookies = new Map();

  async #send(url, init = {}) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } }).catch(error =>
      stop(`${new URL(url).origin} cannot be reached: ${error.cause?.code ?? error.message}`),
    );
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (value) this.#cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    return { status: answer.status, html: await answer.text(), location: location && new URL(location, url).href };
  }

  /** Follows redirects until a page, or an answer for the app. */
  async open(url, callback, init) {
    let page = await this.#send(url, init);
    while (page.location && !page.location.startsWith(callback)) page = await this.#send(page.location);
    return page;
  }

  submit(page, step, fields, callback) {
    const forms = [...page.html.matchAll(/<form method="post" action="([^"]+)">([\s\S]*?)<\/form>/g)];
    const form = forms.find(([, action]) => action.endsWith(step));
    if (!form) stop(`${page.status}: ${/<h1>([^<]*)<\/h1>\s*<p>([^<]*)/.exec(page.html)?.slice(1).join(': ') ?? 'an unexpected page'}`);
    const csrf = /name="csrf" value="([^"]*)"/.exec(form[2])[1];
    const body = new URLSearchParams([['csrf', csrf], ...fields]);
    return this.open(form[1], callback, { method: 'POST', body });
  }
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP_SECONDS = 30;

/** Code of an authenticator app, RFC 6238. */
function totp(secret, step) {
  const bits = [...secret.replace(/[\s=]/g, '').toUpperCase()].map(letter => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g).map(byte => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', key).update(counter).digest();
  const code = (mac.readUInt32BE(mac.at(-1) & 15) & 0x7fffffff) % 1_000_000;
  return String(code).padStart(6, '0');
}

const asksCode = page => !page.location && page.html.includes('/mfa"');

/** Tries the code of the current step, then that of the next, which is valid as well, because each code can be used once. */
async function answerSecondFactor(browser, page, secret, callback) {
  if (!secret) stop('a second factor is asked for: give the secret of the authenticator app with --totp-secret');
  const now = Math.floor(Date.now() / 1000 / STEP_SECONDS);
  let asked = page;
  for (const step of [now, now + 1])
    if (asksCode(asked))
      asked = await browser.submit(
        asked,
        '/mfa',
        [
          ['method', 'totp'],
          ['code', totp(secret, step)],
        ],
        callback,
      );
  if (asksCode(asked)) stop('401: the code of the second factor was refused; a code can be used once, so wait half a minute');
  return asked;
}

/** Walks the pages. @returns the code. */
async function askForCode(base, { client, scope, user, password, totpSecret }, callback, challenge) {
  const browser = new Browser();
  const query = {
    response_type: 'code',
    client_id: client,
    redirect_uri: callback,
    scope,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  let page = await browser.open(`${base}/identity/v1/oauth/authorize?${new URLSearchParams(query)}`, callback);
  if (!page.location)
    page = await browser.submit(
      page,
      '/login',
      [
        ['identifier', user],
        ['password', password],
      ],
      callback,
    );
  if (page.status === 422) stop('401: the e-mail address or the password is wrong');
  if (asksCode(page)) page = await answerSecondFactor(browser, page, totpSecret, callback);
  if (!page.location)
    page = await browser.submit(page, '/consent', [['decision', 'allow'], ...scope.split(' ').map(one => ['scope', one])], callback);
  const answer = new URL(page.location ?? stop(`${page.status}: the pages led nowhere`)).searchParams;
  return answer.get('code') ?? stop(`${answer.get('error')}: ${answer.get('error_description') ?? ''}`);
}

async function userTokens(base, values) {
  const { client, scope = 'read:profile' } = values;
  const callback = values.redirect ?? REDIRECTS[client] ?? stop(`where is ${client} sent back to? give it with --redirect`);
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const password = values.password ?? process.env.SEED_PASSWORD ?? 'Demo-Passw0rd-2026';
  const seeded = values.user === 'admin@example.test' ? process.env.SEED_TOTP_SECRET || 'JBSWY3DPEHPK3PXP' : undefined;
  const totpSecret = values['totp-secret'] ?? seeded;
  const code = await askForCode(base, { ...values, scope, password, totpSecret }, callback, challenge);
  const secret = values.secret ?? (client === 'demo-partner-app' ? process.env.SEED_PARTNER_SECRET || 'demo-partner-secret' : undefined);
  return {
    grant_type: 'authorization_code',
    client_id: client,
    ...(secret && { client_secret: secret }),
    code,
    redirect_uri: callback,
    code_verifier: verifier,
  };
}

function serviceTokens({ client, scope, ...values }) {
  const secret = values.secret ?? secretOf(client);
  if (!secret) stop(`the secret of ${client} is not known here: give it with --secret`);
  return { grant_type: 'client_credentials', client_id: client, client_secret: secret, ...(scope && { scope }) };
}

function secretOf(client) {
  if (client === 'demo-m2m') return process.env.SEED_M2M_SECRET || 'demo-m2m-secret';
  return client.startsWith('svc-') ? internalSecret(client.slice(4)) : undefined;
}

async function main() {
  const { values } = parseArgs({ options });
  if (!values.client)
    stop(
      'which client? npm run token -- --client demo-m2m [--scope "admin:clinical"] [--secret …] [--url http://localhost:4000] [--user …]',
    );
  const base = values.url ?? process.env.BASE_URL ?? `http://localhost:${process.env.PORT || 4000}`;
  const form = new URLSearchParams(values.user ? await userTokens(base, values) : serviceTokens(values));
  const answer = await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body: form }).catch(error =>
    stop(`${base} cannot be reached: ${error.cause?.code ?? error.message}`),
  );
  const body = await answer.json();
  if (!body.access_token) stop(`${answer.status} ${body.error}: ${body.error_description ?? ''}`);
  console.log(body.access_token);
  if (body.refresh_token) console.log(body.refresh_token);
}

await main();
