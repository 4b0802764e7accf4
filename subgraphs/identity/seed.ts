import type { RequiredEntityData } from '@mikro-orm/postgresql';
import { adminScopeOf, type Slug, SLUGS } from '../../events/slugs.js';
import { sha256 } from '../../runtime/data/crypto.js';
import { newId } from '../../runtime/data/ids.js';
import type { ServiceHost, Context } from '../../runtime/request/context.js';
import { plantAccount } from './commands/account.js';
import { giveConsent } from './commands/consent.js';
import { noteCrmChange } from './commands/crm-change.js';
import { setPassword } from './commands/password.js';
import { grantRole } from './commands/role.js';
import { sealSecret } from './commands/second-factor.js';
import { OAuthClientSecret } from './entities/client-secret.js';
import { OAuthClient, OAuthClientKind, OAuthClientTokenEndpointAuthMethod } from './entities/client.js';
import { CrmSyncReason } from './entities/crm-sync.js';
import { MfaMethod, MfaMethodKind, MfaMethodStatus } from './entities/mfa.js';
import { StaffMember, StaffMemberStatus } from './entities/staff.js';
import { hashPassword } from './ports/argon2.js';
import { emailKey } from './rules/emails.js';
import { OWNER } from './rules/roles.js';
import { ADMIN_SCOPES, scopeSet, USER_SCOPES } from './rules/scopes.js';

/** Fixed ids of development data. Source: conventions 8. */
const BRAND = '0190b3a0-0000-7000-8000-000000000001';
const DEMO = '0190b3a0-0000-7000-8000-0000000000a1';
/** The person who runs the installation: staff with the role `owner`. */
const OWNER_ID = '0190b3a0-0000-7000-8000-0000000000a9';
const PEOPLE = [
  { id: DEMO, name: 'demo', displayName: 'Demo' },
  { id: '0190b3a0-0000-7000-8000-0000000000a2', name: 'demo2', displayName: 'Demo Two' },
  { id: OWNER_ID, name: 'admin', displayName: 'Admin' },
];

/** What internal clients hold besides their own service's scope. Source: identity A11. */
const ALSO: Partial<Record<Slug, readonly string[]>> = {
  affiliates: ['payments', 'accounting'],
  ai: ['content', 'live'],
  booking: ['payments', 'live', 'identity'],
  cash: ['accounting'],
  commerce: ['payments', 'entitlements'],
  comms: ['identity', 'booking', 'live', 'payments', 'commerce'],
  community: ['identity', 'entitlements', 'membership'],
  content: ['live', 'commerce'],
  entitlements: ['membership'],
  follows: ['identity'],
  integrations: ['identity'],
  jobs: ['commerce', 'payments', 'capri', 'comms'],
  labs: ['identity', 'entitlements'],
  live: ['booking', 'comms', 'entitlements'],
  membership: ['payments'],
  messaging: ['identity'],
  partner: ['identity'],
  'patient-graph': ['identity'],
  payments: ['commerce', 'cash', 'accounting', 'booking', 'identity', 'affiliates', 'entitlements', 'membership'],
  platform: ['entitlements'],
  webhooks: ['identity'],
  workflow: ['booking'],
};

const { CLIENT_SECRET_POST, NONE } = OAuthClientTokenEndpointAuthMethod;

type ClientSeed = Partial<OAuthClient> & Pick<OAuthClient, 'id' | 'name' | 'kind'>;

function plantClient(ctx: Context, seed: ClientSeed, secret: string | null): void {
  const now = ctx.now();
  const tokenEndpointAuthMethod = seed.kind === OAuthClientKind.PUBLIC ? NONE : CLIENT_SECRET_POST;
  const client = { publisher: 'Main', ...seed, tokenEndpointAuthMethod, createdAt: now, updatedAt: now } as RequiredEntityData<OAuthClient>;
  ctx.em.persist(ctx.em.create(OAuthClient, client, { partial: true }));
  if (secret === null) return;
  const row = { id: newId(), clientId: seed.id, hash: sha256(secret), hint: secret.slice(-4), createdAt: now };
  ctx.em.persist(ctx.em.create(OAuthClientSecret, row, { partial: true }));
}

/** Scopes of `svc-<slug>`: its service's own and those of the operations it calls elsewhere. */
const internalScopes = (slug: Slug): string[] => scopeSet([adminScopeOf(slug), ...(ALSO[slug] ?? []).map(name => `admin:${name}`)]);

function plantInternalClients(ctx: Context): void {
  for (const slug of SLUGS) {
    const seed = {
      id: `svc-${slug}`,
      name: `Service ${slug}`,
      kind: OAuthClientKind.MACHINE,
      serviceSlug: slug,
      scopes: internalScopes(slug),
      firstParty: true,
      tokenExchange: slug === 'ai', // its tools act for users
    };
    plantClient(ctx, seed, ctx.host.config.internalSecrets[slug] ?? null);
  }
}

function plantApps(ctx: Context): void {
  const setting = (name: string, otherwise: string): string => ctx.host.config.setting(`SEED_${name}`) ?? otherwise;
  const scopes = Object.keys(USER_SCOPES);
  const machine = { id: 'demo-m2m', name: 'Demo machine client', kind: OAuthClientKind.MACHINE, scopes: [...ADMIN_SCOPES] };
  plantClient(ctx, machine, setting('M2M_SECRET', 'demo-m2m-secret'));
  const app = { kind: OAuthClientKind.PUBLIC, firstParty: true, brandId: BRAND, scopes };
  plantClient(
    ctx,
    {
      ...app,
      id: 'demo-app',
      name: 'Demo app',
      redirectUris: ['http://localhost:5173/callback'],
      allowedOrigins: ['http://localhost:5173'],
    },
    null,
  );
  const admin = { id: 'demo-admin', name: 'Demo staff dashboard', staffAccess: true, redirectUris: ['http://localhost:5175/callback'] };
  plantClient(ctx, { ...app, ...admin }, null);
  const messages = { id: 'demo-messages', name: 'Demo messages', redirectUris: [`${ctx.host.config.baseUrl}/comms/m/callback`] };
  plantClient(ctx, { ...app, ...messages, scopes: ['read:inbox'] }, null);
  const partner = {
    id: 'demo-partner-app',
    name: 'Demo partner app',
    publisher: 'Demo Partner Ltd',
    kind: OAuthClientKind.CONFIDENTIAL,
    scopes,
  };
  plantClient(ctx, { ...partner, redirectUris: ['http://localhost:5174/callback'] }, setting('PARTNER_SECRET', 'demo-partner-secret'));
}

async function plantPerson(ctx: Context, { id, name, displayName }: (typeof PEOPLE)[number]): Promise<void> {
  const profile = { handle: id === OWNER_ID ? null : name, displayName };
  await plantAccount(ctx, { user: { id, brandId: BRAND }, email: `${name}@example.test`, verifiedAt: ctx.now(), profile });
  await setPassword(ctx, id, await hashPassword(ctx.host.config.setting('SEED_PASSWORD') ?? 'Demo-Passw0rd-2026'));
}

/** Their authenticator app, already set up. */
function plantOwnerApp(ctx: Context): void {
  const id = newId();
  const secret = ctx.host.config.setting('SEED_TOTP_SECRET') ?? 'JBSWY3DPEHPK3PXP';
  const values = { id, userId: OWNER_ID, kind: MfaMethodKind.TOTP, label: 'Development', status: MfaMethodStatus.ACTIVE };
  const row = { ...values, secretSealed: sealSecret(ctx.host, id, secret), createdAt: ctx.now() };
  ctx.em.persist(ctx.em.create(MfaMethod, row, { partial: true }));
}

/** The first of the staff, whom nobody could invite. */
async function plantOwner(ctx: Context): Promise<void> {
  const now = ctx.now();
  const email = 'admin@example.test';
  const names = { email, emailKey: emailKey(email), displayName: 'Admin', title: 'Owner' };
  const row = {
    ...names,
    userId: OWNER_ID,
    status: StaffMemberStatus.ACTIVE,
    invitedBy: 'system:identity',
    invitedAt: now,
    acceptedAt: now,
  };
  ctx.em.persist(ctx.em.create(StaffMember, row, { partial: true }));
  await grantRole(ctx, { userId: OWNER_ID, role: OWNER });
}

/**
 * Development data: clients, people, and the demo user's consent to the first-party app with all user scopes.
 * @throws Error in production. Source: identity A11.
 */
export async function seed(ctx: Context): Promise<void> {
  if (ctx.host.config.production) throw new Error('identity plants no development data in production');
  plantInternalClients(ctx);
  plantApps(ctx);
  for (const person of PEOPLE) await plantPerson(ctx, person);
  await ctx.em.flush();
  for (const { id } of PEOPLE) await noteCrmChange(ctx, id, CrmSyncReason.CREATED);
  await plantOwner(ctx);
  plantOwnerApp(ctx);
  await giveConsent(ctx, DEMO, 'demo-app', { granted: Object.keys(USER_SCOPES) });
}

const SEEDED_CLIENTS = ['demo-m2m', 'demo-app', 'demo-partner-app', 'demo-admin', 'demo-messages'];

/** Secrets of development data are public, so production does not start beside them. @throws Error naming what is there. */
export async function refuseSeeds(host: ServiceHost): Promise<void> {
  if (!host.config.production) return;
  const found = await host.read(ctx =>
    ctx.sql<{ id: string }>(
      'select id from identity.oauth_client where id = any($1) union all select id::text from identity."user" where id = any($2::uuid[])',
      [SEEDED_CLIENTS, PEOPLE.map(person => person.id)],
    ),
  );
  if (found.length)
    throw new Error(`development data is in this database: ${found.map(row => row.id).join(', ')}; production does not start with it`);
}
