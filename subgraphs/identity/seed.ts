import { SLUGS } from '../../events/slugs.js';
import { newId } from '../../runtime/data/ids.js';
import type { ServiceHost, Context } from '../../runtime/request/context.js';
import { plantAccount } from './commands/account.js';
import { giveConsent } from './commands/consent.js';
import { noteCrmChange } from './commands/crm-change.js';
import { plantClient, plantInternalClient } from './commands/internal-clients.js';
import { setPassword } from './commands/password.js';
import { grantRole } from './commands/role.js';
import { sealSecret } from './commands/second-factor.js';
import { OAuthClientKind } from './entities/client.js';
import { CrmSyncReason } from './entities/crm-sync.js';
import { MfaMethod, MfaMethodKind, MfaMethodStatus } from './entities/mfa.js';
import { StaffMember, StaffMemberStatus } from './entities/staff.js';
import { hashPassword } from './ports/argon2.js';
import { emailKey } from './rules/emails.js';
import { OWNER } from './rules/roles.js';
import { ADMIN_SCOPES, USER_SCOPES } from './rules/scopes.js';

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
  for (const slug of SLUGS) plantInternalClient(ctx, slug);
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
