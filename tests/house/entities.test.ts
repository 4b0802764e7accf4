import { getNamedType, isLeafType, isObjectType, type GraphQLField } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Slug } from '../../events/slugs.js';
import { roleOf, schemaOf } from '../../events/slugs.js';
import { ruleOnNode } from '../../runtime/access/rules.js';
import { SERVICES } from '../../subgraphs/services.js';
import { retestCycleJourney } from '../journeys/retest-cycle.js';
import { shoppingJourney } from '../journeys/shopping.js';
import { walletJourney } from '../journeys/wallet.js';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { declarations } from './composition.js';
import { entityKeys } from './keys.js';

/** Types that belong to nobody: dictionaries and registries that any token may read. */
const OWNERLESS = [
  'Biomarker',
  'Protocol',
  'Brand',
  'PlatformService',
  'FeatureFlag',
  'EventType',
  'Badge',
  'MembershipPlan',
  'MembershipTier',
  'AffiliateProgram',
  'BillingPrice',
  'Product',
  'ProductVariant',
  'CommsTopic',
];

let p: TestPlatform;
/** A stranger with every user scope: what it cannot see, no scope opens. */
let stranger: string;

/** Nobody is a member before payments tells of a subscription. */
const MEMBER = `
  insert into membership.membership (id, user_id, brand_id, origin, plan_id, tier_id, announced_tier_id, status, source, suspension_reasons, started_at, tenure_ms, created_at)
  select gen_random_uuid(), $1, p.brand_id, 'granted:test', p.id, t.id, t.id, 'active', 'comp', '{}', now(), 0, now()
  from membership.membership_plan p join membership.membership_tier t on t.plan_id = p.id where p.key = 'basic'`;

beforeAll(async () => {
  p = await platform();
  await walletJourney(p);
  await retestCycleJourney(p); // rows of another user in every service
  await shoppingJourney(p); // after it, because it looks for its values among all amounts
  await p.sql(MEMBER, [DEMO]);
  const scopes = await p.sql<{ scopes: string[] }>("select scopes from identity.oauth_client where id = 'demo-app'");
  stranger = await p.userToken(DEMO2, scopes[0]!.scopes);
}, 400_000);

const plain = (field: GraphQLField<unknown, unknown>): boolean =>
  isLeafType(getNamedType(field.type)) && field.args.every(arg => !String(arg.type).endsWith('!'));

/** A row of the type's table that is not the stranger's. */
async function foreignKey(slug: Slug, table: string, column: string): Promise<string | undefined> {
  const rows = await p.sql<{ key: string }>(
    `select "${column}"::text as key from ${schemaOf(slug)}."${table}" t where t::text not like '%${DEMO2}%' limit 1`,
  );
  return rows[0]?.key;
}

describe.each(Object.keys(SERVICES) as Slug[])('entities of %s', slug => {
  test('show a stranger with every scope nothing but the key, asked by _entities on the subgraph port', async () => {
    const declaration = declarations.find(one => one.slug === slug)!;
    const { schema, orm } = p.host(slug);
    const keys = entityKeys(declaration);
    const asked: string[] = [];
    for (const type of Object.values(schema.getTypeMap())) {
      if (!isObjectType(type) || OWNERLESS.includes(type.name) || !declaration.references?.[type.name]) continue;
      const key = keys.get(type.name)?.[0]?.[0];
      const meta = [...orm.getMetadata().getAll().values()].find(one => one.className === type.name);
      if (!key || !meta) continue;
      const value = await foreignKey(slug, meta.tableName, meta.properties[key as never]?.['fieldNames']?.[0] ?? key);
      if (!value) continue;
      asked.push(type.name);
      const fields = Object.values(type.getFields())
        .filter(field => plain(field) && field.name !== key && !ruleOnNode(field.astNode)?.public)
        .map(field => field.name);
      const query = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on ${type.name} { ${fields.join(' ')} } } }`;
      const answer = await p.rest('POST', `/${slug}/graphql`, {
        token: stranger,
        body: { query, variables: { r: [{ __typename: type.name, [key]: value }] } },
      });
      const seen = Object.entries(answer.body.data?._entities?.[0] ?? {}).filter(
        ([name, one]) => one !== null && !PUBLIC_FIELDS[type.name]?.includes(name),
      );
      expect({ type: type.name, seen }).toEqual({ type: type.name, seen: [] });
    }
    expect(asked.length).toBeGreaterThan(['platform', 'events'].includes(slug) ? -1 : 0);
  });

  test('cannot be read by the role of another service', async () => {
    const other = (Object.keys(SERVICES) as Slug[]).find(one => one !== slug)!;
    await expect(p.sql(`set role ${roleOf(other)}; select 1 from ${schemaOf(slug)}.audit_log`)).rejects.toThrow(/permission denied/);
    await p.sql('reset role');
  });
});

/** What any valid token may know of a user or an app. Source: identity 2. */
const PUBLIC_FIELDS: Record<string, readonly string[]> = { User: ['status'], OAuthClient: [] };
