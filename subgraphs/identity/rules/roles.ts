import { HOUR_MS } from '../../../runtime/time/durations.js';
import { anySatisfies, reduced } from './permissions.js';
import { ADMIN_SCOPES } from './scopes.js';

export interface BuiltInRole {
  key: string;
  name: string;
  description: string;
  permissions: readonly string[];
}

const role = (key: string, name: string, description: string, permissions: string): BuiltInRole => ({
  key,
  name,
  description,
  permissions: permissions
    .split(' ')
    .map(one => `admin:${one}`)
    .sort(),
});

const ALL = ADMIN_SCOPES.map(scope => scope.slice('admin:'.length));
const ALL_BUT_IDENTITY = ALL.filter(name => name !== 'identity');

/** The role that somebody must always hold. */
export const OWNER = 'owner';

/** Roles that every installation has. Source: identity A8. */
export const BUILT_IN_ROLES: readonly BuiltInRole[] = [
  role(OWNER, 'Owner', 'Everything; the last one cannot be taken away.', ALL.join(' ')),
  role(
    'admin',
    'Administrator',
    'Everything but clients, erasure and owners.',
    `${ALL_BUT_IDENTITY.join(' ')} identity:read identity:moderate identity:staff`,
  ),
  role(
    'support',
    'Support',
    'Helps people with accounts, orders and bookings.',
    'identity:read payments:read commerce comms:read comms:send comms:inbox comms:suppression membership:read booking entitlements:read capri:link',
  ),
  role(
    'clinician',
    'Clinician',
    'Cares for patients.',
    'clinical patient_graph booking comms:inbox comms:content capri:read capri:command',
  ),
  role('moderator', 'Moderator', 'Keeps the community civil.', 'community follows live comms:moderate identity:read identity:moderate'),
  role('finance', 'Finance', 'Books, payouts and refunds.', 'accounting payments cash affiliates capri:reconcile'),
  role('content_editor', 'Content editor', 'Writes and publishes.', 'content live:read'),
  role('analyst', 'Analyst', 'Reads figures.', 'analytics membership:read commerce:read'),
  role(
    'developer',
    'Developer',
    'Runs the machinery.',
    'webhooks events jobs integrations capri:sync capri:webhooks platform:read identity:clients',
  ),
  role('privacy_officer', 'Privacy officer', 'Answers requests for erasure.', 'identity:read identity:erasure'),
];

/** A role as somebody holds it. */
export interface HeldRole {
  assignmentId: string;
  role: string;
  permissions: readonly string[];
  /** Null: on every brand. */
  brandId: string | null;
  expiresAt: Date | null;
}

export const isExpired = ({ expiresAt }: Pick<HeldRole, 'expiresAt'>, now: Date): boolean => expiresAt !== null && expiresAt <= now;

/** Whether a role counts on a brand; a client without a brand counts only roles without one. */
const onBrand = ({ brandId }: Pick<HeldRole, 'brandId'>, brand: string | null): boolean => brandId === null || brandId === brand;

export interface Power {
  roles: string[];
  permissions: string[];
}

/** `roles` and `permissions` of what is held on a brand now. */
export function powerOf(held: readonly HeldRole[], brandId: string | null, now: Date): Power {
  const counted = held.filter(one => !isExpired(one, now) && onBrand(one, brandId));
  return { roles: [...new Set(counted.map(one => one.role))].sort(), permissions: reduced(counted.flatMap(one => one.permissions)) };
}

/** A staff sign-in counts for twelve hours. Source: identity 7, rule 9. */
const STAFF_SIGN_IN_MS = 12 * HOUR_MS;

/** Times in epoch ms. */
export const isStaffSignInOver = (signedInAt: number, now: number): boolean => now - signedInAt > STAFF_SIGN_IN_MS;

export interface SignIn {
  staffActive: boolean;
  staffAccess: boolean;
  amr: readonly string[];
  authTime: Date;
}

/** Whether roles may enter a token at all. Source: identity A8; 7, rule 9. */
export const mayBearPower = ({ staffActive, staffAccess, amr, authTime }: SignIn, now: Date): boolean =>
  staffActive && staffAccess && amr.includes('mfa') && !isStaffSignInOver(authTime.getTime(), now.getTime());

export type CheckReason = 'granted' | 'not_staff' | 'suspended' | 'missing_permission' | 'expired' | 'brand_mismatch';

export interface Check {
  allowed: boolean;
  reason: CheckReason;
  /** What decided: the role that grants it, or the one that would. */
  matched: HeldRole | null;
}

/** Whether somebody may do something on a brand, and why not. `staff`: their standing, null for none. Source: identity 4.12. */
export function checkPermission(
  staff: 'active' | 'suspended' | null,
  held: readonly HeldRole[],
  wanted: { permission: string; brandId: string | null },
  now: Date,
): Check {
  const refused = (reason: CheckReason): Check => ({ allowed: false, reason, matched: null });
  if (staff === null) return refused('not_staff');
  if (staff === 'suspended') return refused('suspended');
  const able = held.filter(one => anySatisfies(one.permissions, wanted.permission));
  const granting = able.find(one => !isExpired(one, now) && onBrand(one, wanted.brandId));
  if (granting) return { allowed: true, reason: 'granted', matched: granting };
  if (able.some(one => !isExpired(one, now))) return refused('brand_mismatch');
  return refused(able.length ? 'expired' : 'missing_permission');
}
