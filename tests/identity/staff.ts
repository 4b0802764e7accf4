import type { TestPlatform } from '../support/platform.js';

/** Makes somebody active staff, with roles that the seeded services client gives. */
export async function makeStaff(p: TestPlatform, userId: string, ...roles: string[]): Promise<void> {
  const email = `staff-${userId.slice(-4)}@example.test`;
  await p.sql(
    `insert into identity.staff_member (id, user_id, email, email_key, status, invited_by, invited_at)
     values (gen_random_uuid(), $1, $2, $2, 'active', 'system:identity', now())`,
    [userId, email],
  );
  const token = await p.serviceToken('admin:identity');
  for (const role of roles) await p.rest('POST', '/identity/v1/rbac/assignments', { token, body: { user_id: userId, role } });
}
