import {
  buildASTSchema,
  getNamedType,
  isObjectType,
  Kind,
  parse,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schemaOf, type Slug } from '../../events/slugs.js';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { ruleOnNode, type AccessRule } from '../../runtime/access/rules.js';
import { planTables, type Plan } from '../../rest-adapter/plan.js';
import type { Route } from '../../rest-adapter/route.js';
import { toCamel } from '../../runtime/schema/wire-names.js';
import { COLLECTIONS } from '../../subgraphs/content/entities/collections.js';
import type { CollectionDefinition } from '../../subgraphs/content/entities/definition.js';
import { anySatisfies } from '../../subgraphs/identity/rules/permissions.js';
import { BUILT_IN_ROLES } from '../../subgraphs/identity/rules/roles.js';
import { SERVICES } from '../../subgraphs/services.js';
import { purchaseJourney } from '../journeys/purchases.js';
import { shoppingJourney } from '../journeys/shopping.js';
import { retestCycleJourney } from '../journeys/retest-cycle.js';
import { walletJourney } from '../journeys/wallet.js';
import { DEMO, DEMO2, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { buildSubgraph } from '../../runtime/subgraph.js';
import { declarations, tables } from './composition.js';
import { expectRefusal, forbidden, principalsOf, refusalOf, STRANGERS, type Principal, type Refusal } from './principals.js';
import { operationFor, requestFor, type Author } from './requests.js';

/**
 * Every documented route × everybody who may call × whose object it is. What must be answered follows from the rules of the operation,
 * the conventions and identity A5 alone; the routes come from the tables, so that every later service is in here by itself.
 */
const schema: GraphQLSchema = buildASTSchema(parse(await readSupergraph()), { assumeValid: true });

/** Stands in every text that belongs to the demo user, and in nobody else's. */
const CANARY = 'canary7q4z';
const OWNER: Author = { userId: DEMO, mark: CANARY };
/** Somebody who names the demo user wherever a user is named. */
const INTRUDER: Author = { userId: DEMO, mark: 'magpie3x8w' };
const NOBODY = '0190b3a0-0000-7000-8000-00000000dead';

/** Ends the tokens of this file. */
const LAST = /sign-?out/i;

interface Row {
  name: string;
  service: Slug;
  route: Route;
  plan: Plan;
  /** Rules on the way to the answer, the operation's first. */
  rules: (AccessRule | null)[];
  /** Rules of fields inside the answer. */
  inside: AccessRule[];
  /** Type of the answer. */
  type: string;
}

/** Follows a document to the field that is the answer. */
function waysOf({ document }: Plan): Pick<Row, 'rules' | 'inside' | 'type'> {
  const operation = document.definitions.find(one => one.kind === Kind.OPERATION_DEFINITION)!;
  const root = operation.operation === 'mutation' ? schema.getMutationType()! : schema.getQueryType()!;
  const found = { rules: [] as (AccessRule | null)[], inside: [] as AccessRule[], type: '' };
  const walk = (type: GraphQLObjectType, { selections }: SelectionSetNode, within: boolean): void => {
    for (const one of selections) {
      if (one.kind !== Kind.FIELD) {
        const next = one.kind === Kind.INLINE_FRAGMENT && one.typeCondition ? schema.getType(one.typeCondition.name.value) : type;
        if (one.kind === Kind.INLINE_FRAGMENT && isObjectType(next)) walk(next, one.selectionSet, within);
        continue;
      }
      const field = type.getFields()[one.name.value];
      if (!field) continue;
      const rule = ruleOnNode(field.astNode);
      if (!within && (type === root || rule)) found.rules.push(rule);
      else if (within && rule) found.inside.push(rule);
      const next = getNamedType(field.type);
      if (one.alias?.value === 'result') found.type = next.name;
      if (one.selectionSet && isObjectType(next)) walk(next, one.selectionSet, within || one.alias?.value === 'result');
    }
  };
  walk(root, operation.selectionSet, false);
  return found;
}

const rows: Row[] = planTables(schema, tables).map(plan => ({
  name: plan.key,
  service: plan.slug,
  route: plan.route,
  plan,
  ...waysOf(plan),
}));

interface Operation {
  service: Slug;
  kind: 'query' | 'mutation';
  field: GraphQLField<unknown, unknown>;
}

/** What user tokens may ask in GraphQL. */
const operations: Operation[] = declarations.flatMap(declaration => {
  const subgraph = buildSubgraph(declaration);
  const of = (kind: Operation['kind'], type: GraphQLObjectType | null | undefined): Operation[] =>
    Object.values(type?.getFields() ?? {})
      .filter(field => !field.name.startsWith('_') && ruleOnNode(field.astNode)?.user && !LAST.test(field.name))
      .map(({ name }) => ({
        service: declaration.slug,
        kind,
        field: (kind === 'query' ? schema.getQueryType() : schema.getMutationType())!.getFields()[name]!,
      }));
  return [...of('query', subgraph.getQueryType()), ...of('mutation', subgraph.getMutationType())];
});

let p: TestPlatform;
let everybody: Record<string, Principal>;

/** An object that a path names: its key, and whether it is the demo user's. */
interface Named {
  key: string;
  owned: boolean;
}
const objects = new Map<string, Named>();

/** Path parameters that mean the same everywhere. */
const NAMED: Readonly<Record<string, Named>> = {
  ...Object.fromEntries(['user_id', 'userId', 'patient_id'].map(name => [name, { key: DEMO, owned: true }])),
  customerId: { key: DEMO, owned: true },
  client_id: { key: 'demo-partner-app', owned: false },
  clientId: { key: 'demo-partner-app', owned: false },
  scope: { key: 'read:profile', owned: false },
  name: { key: 'clinical.retest.prompted.v1', owned: false },
  code: { key: 'ldl_c', owned: false },
  feature_key: { key: 'labs.discount', owned: false },
  product_key: { key: 'labs.discount', owned: false },
  entity_type: { key: 'user', owned: false },
  entity_id: { key: DEMO, owned: true },
  feature_set: { key: 'activity', owned: false },
};

const parametersOf = ({ route }: Row): string[] => [...route.path.matchAll(/\{([^}]+)\}/g)].map(match => match[1]!);
const namedBy = (row: Row, name: string): Named => NAMED[name] ?? objects.get(`${row.name} ${name}`) ?? { key: NOBODY, owned: false };

/** Whether a path leads to an object of the demo user. */
const isOwned = (row: Row): boolean => parametersOf(row).some(name => namedBy(row, name).owned);

/** Types that show a row of another name: an owner's part of it, or an answer that is a row only where it takes long, or a row's file. */
const PARTS: Readonly<Record<string, string>> = {
  OwnJob: 'Job',
  ClinicalExport: 'FhirExport',
  LabReportFile: 'LabReport',
  MembershipPeriod: 'Membership',
  LedgerEntry: 'Wallet',
  SubscriptionChangePreview: 'BillingSubscription',
  PaymentTimeline: 'Payment',
  LedgerInclusionProof: 'LedgerTransaction',
  LiveJoin: 'LiveSession',
  LiveChatToken: 'LiveCall', // no session, because a chat is closed most of the time, which is a 409
  LiveStreamTicket: 'LiveSession',
  LiveCounts: 'LiveSession',
  LiveRegistration: 'LiveSession',
  LiveRecording: 'LiveSession',
  CartCheckout: 'Cart',
};

/** Content's collections share one table: something published of one. */
async function published({ collection }: CollectionDefinition, parameter: string): Promise<Named | null> {
  const text = `select ${parameter === 'slug' ? 'slug' : 'item_id'}::text as key, false as owned from content.content_publication
    where collection = $1 order by audience = 'PUBLIC' desc, item_id limit 1`;
  return (await p.sql<Named>(text, [collection]))[0] ?? null;
}

const storedAs = (type: string): string => {
  const name = type.replace(/Connection$/, '');
  return PARTS[name] ?? name;
};

/** The demo user's row of the answer's type, else one that is not the other user's: a client's, or the platform's. */
async function find({ service: asked, type }: Pick<Row, 'service' | 'type'>, parameter: string): Promise<Named | null> {
  const collection = COLLECTIONS.find(one => one.type === type);
  if (collection) return published(collection, parameter);
  const metaIn = (slug: Slug) => [...p.host(slug).orm.getMetadata().getAll().values()].find(one => one.className === storedAs(type));
  const service = metaIn(asked) ? asked : ((Object.keys(SERVICES) as Slug[]).find(metaIn) ?? asked); // a path may lead to another owner's operation
  const meta = metaIn(service);
  const property = meta?.properties[toCamel(parameter) as never] ?? meta?.properties[meta.primaryKeys[0] as never];
  if (!meta || !property) return null;
  const text = `select "${property['fieldNames'][0]}"::text as key, t::text like $2 as owned from ${schemaOf(service)}."${meta.tableName}" t
    where t::text not like $1 order by 2 desc limit 1`;
  return (await p.sql<Named>(text, [`%${DEMO2}%`, `%${DEMO}%`]))[0] ?? null;
}

const isMe = (route: Route): boolean => route.path.split('/').includes('me');

/** The address of a route with the demo user's objects in it. */
const addressOf = (row: Row): string =>
  `/${row.service}${row.route.path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(namedBy(row, name).key))}`;

/** Sends a request as its author fills it in. What is refused as invalid is taken from the route's example, or left out. */
async function call(row: Row, who: Principal, author: Author): Promise<Answer> {
  const { query, body } = requestFor(row.plan, author);
  const send = (given?: object) => p.rest(row.route.method, `${addressOf(row)}${query}`, { token: who.token, body: given });
  if (row.route.method === 'GET' || body === undefined) return send();
  const example = row.route.example?.request ?? {};
  const answer = await send(body);
  if (answer.status !== 400) return answer;
  const second = await send(repaired(body, example, answer.body.errors));
  return second.status === 400 && isOwned(row) ? send(example) : second; // parts that exclude each other
}

function repaired(body: object, example: object, errors: readonly { pointer: string }[]): object {
  const wrong = new Set(errors.map(one => one.pointer.split('/')[1]!));
  const right = Object.entries(body).filter(([key]) => !wrong.has(key));
  return {
    ...Object.fromEntries(right),
    ...Object.fromEntries(Object.entries(example).filter(([key]) => !right.some(([one]) => one === key))),
  };
}

/** A write that is let through must have no effect here: a charset that nobody takes is refused right after access (A5, step 7). */
const probe = (row: Row, who: Principal): Promise<Answer> =>
  p.rest(row.route.method, addressOf(row), { token: who.token, headers: { 'content-type': 'application/json; charset=utf-16' } });

/** What A5 says of a caller before anything is read; null: let through. */
function expected({ route, rules }: Row, who: Principal): Refusal | null {
  if (rules.some(rule => rule?.public) && who.token === null) return null;
  if (isMe(route) && who.claims?.token_use === 'service') return forbidden;
  if (isMe(route)) rules = rules.map(rule => rule && { ...rule, staff: undefined }); // staff are the user they are there
  return rules.map(rule => refusalOf(rule, who)).find(one => one !== null) ?? null;
}

/** What an answer holds of the demo user: texts, address, ids. */
function leaks({ body, headers }: Answer): string[] {
  const keys = [...objects.values()].filter(one => one.owned).map(one => one.key);
  const signs = [CANARY, 'demo@example\\.test', DEMO, ...keys];
  return [...JSON.stringify([body, headers]).matchAll(new RegExp(`.{0,40}(${signs.join('|')}).{0,20}`, 'gi'))].map(match => match[0]);
}

/** What the house and deliveries write, whoever calls. */
const MACHINERY = [
  /^(audit_log|inbox|outbox|idempotency_key|schedule_slot|test_clock)/,
  /^(failed_client_auth|sign_in_limit|scope_use|token_revocation)/,
  /^(grant_projection|webhook_(event|delivery|attempt|lane|health))/,
];

/** The demo user's rows in all services, as text. */
async function belongings(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const slug of Object.keys(SERVICES) as Slug[]) {
    const names = await p.sql<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = $1 and table_type = 'BASE TABLE'",
      [schemaOf(slug)],
    );
    for (const { name } of names.filter(one => !MACHINERY.some(pattern => pattern.test(one.name)))) {
      const all = await p.sql<{ row: string }>(
        `select t::text as row from ${schemaOf(slug)}."${name}" t where t::text like $1 or t::text ilike $2 order by 1`,
        [`%${DEMO}%`, `%${CANARY}%`],
      );
      if (all.length) found[`${slug}.${name}`] = all.map(one => one.row);
    }
  }
  return found;
}

/** The demo user fills in every form that has no object in its path; the free texts are the canary. */
async function plant(): Promise<void> {
  const { 'the owner': owner } = await principalsOf(p);
  const forms = rows.filter(({ route }) => /POST|PUT|PATCH/.test(route.method) && !route.path.includes('{') && !LAST.test(route.path));
  for (const row of forms.filter(one => expected(one, owner!) === null)) {
    const answer = await call(row, owner!, OWNER);
    expect(answer.status, `${row.name}: ${JSON.stringify(answer.body)}`).toBeLessThan(500);
  }
}

/** What no form takes. */
const PLANTED = [
  `update identity.user_profile set handle = '${CANARY}', display_name = '${CANARY}', bio = '${CANARY}', location = '${CANARY}', visibility = 'private' where user_id = $1`,
  `update identity."user" set phone = '+493090182099' where id = $1`,
  `insert into jobs.job_meta (id, queue, status, payload, max_attempts, created_at, requested_by, dedupe_key, user_id)
     values ('0190b3a0-0000-7000-8000-00000000b001', 'jobs.http_probe', 'dead', '{}', 1, now(), 'test', '${CANARY}', $1)`,
  `update identity.mfa_method set label = '${CANARY}' where user_id = $1`,
  `insert into clinical.fhir_export (id, patient_id, asker, release, is_member, status, due_at, expires_at, created_at)
     values ('0190b3a0-0000-7000-8000-00000000b002', $1, concat('user:', $1::uuid), 'r4', true, 'failed', '2100-01-01', '2100-01-01', now())`,
  `insert into membership.membership (id, user_id, brand_id, origin, plan_id, tier_id, announced_tier_id, status, source, suspension_reasons, started_at, tenure_ms, created_at)
     select '0190b3a0-0000-7000-8000-00000000b003', $1, p.brand_id, 'granted:${CANARY}', p.id, t.id, t.id, 'active', 'comp', '{}', now(), 0, now()
     from membership.membership_plan p join membership.membership_tier t on t.plan_id = p.id where p.key = 'basic'`,
  `insert into comms.push_subscription (id, user_id, platform, endpoint_hash, target_sealed, label, created_at)
     values ('0190b3a0-0000-7000-8000-00000000b004', $1, 'web', '${CANARY}', '', '${CANARY}', now())`,
];

beforeAll(async () => {
  p = await platform();
  await retestCycleJourney(p);
  await walletJourney(p);
  await purchaseJourney(p);
  await shoppingJourney(p);
  for (const { service, rules } of rows) for (const rule of rules) if (rule?.flag) await p.flag(service, rule.flag, true);
  await plant();
  for (const text of PLANTED) await p.sql(text, [DEMO]);
  everybody = await principalsOf(p);
  for (const row of rows)
    for (const name of parametersOf(row).filter(one => !(one in NAMED))) {
      const found = await find(row, name);
      if (found) objects.set(`${row.name} ${name}`, found);
    }
}, 400_000); // four journeys on the whole platform

/** Scopes of a user token that a rule asks for, each one of several. */
const needs = (rule: AccessRule | null): string[][] => (rule?.user ?? []).map(one => one.split('|'));

/** Else a change is made, and its answer is a 403. */
test('whoever may change something as a user may read what the change answers', () => {
  const unreadable = rows
    .filter(({ plan, rules }) => plan.isMutation && rules.some(rule => rule?.user))
    .flatMap(({ name, rules, inside }) => {
      const held = rules.flatMap(needs).flatMap(one => (one.length === 1 ? one : []));
      const missing = inside.flatMap(needs).filter(one => !one.some(scope => scope === '*' || held.includes(scope)));
      if (inside.some(rule => !rule.public && rule.user === undefined)) missing.push(['what no user has']);
      return missing.length > 0 ? [`${name} by ${held.join(' ')} needs ${missing[0]!.join(' or ')}`] : [];
    });
  expect(unreadable).toEqual([]);
});

/** Of a staff token: a permission that it holds, or what any user may. */
const maySee = (rule: AccessRule | null, held: readonly string[]): boolean =>
  rule === null || rule.public === true || needs(rule).flat().includes('*') || isHeld(rule.staff, held);
const isHeld = (staff: string | undefined, held: readonly string[]): boolean =>
  staff?.split('|').some(one => one === '*' || anySatisfies(held, one)) ?? false;

/** Changes with an answer that is refused somewhere to staff with these permissions, who may make them. */
function unreadable(permissions: readonly string[], changes: readonly Row[]): string[] {
  const done = changes.filter(
    ({ rules }) => rules.some(rule => isHeld(rule?.staff, permissions)) && rules.every(rule => maySee(rule, permissions)),
  );
  return [
    ...new Set(
      done.flatMap(({ name, inside }) =>
        inside
          .filter(rule => !maySee(rule, permissions))
          .map(rule => `${name} by ${permissions.join(' ')} needs ${rule.staff ?? 'another caller'}`),
      ),
    ),
  ];
}

/** The same of staff. */
const changes = rows.filter(({ plan }) => plan.isMutation);
test.each(BUILT_IN_ROLES)('whoever may change something as $key may read what the change answers', ({ permissions }) => {
  expect(unreadable(permissions, changes)).toEqual([]);
});

test('whoever holds nothing but the permission of a change may read what the change answers', () => {
  const alone = changes.flatMap(row => row.rules.flatMap(rule => rule?.staff?.split('|') ?? []).flatMap(one => unreadable([one], [row])));
  expect([...new Set(alone)]).toEqual([]);
});

describe('each caller is answered as the rule of the operation says', () => {
  test.each(rows)('$name', async row => {
    for (const who of Object.values(everybody)) {
      const refusal = expected(row, who);
      const answer =
        row.route.method === 'GET' ? await call(row, who, STRANGERS.includes(who.name) ? INTRUDER : OWNER) : await probe(row, who);
      const about = `${who.name}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
      if (refusal) expectRefusal(who.name, answer, refusal);
      else if (row.route.method !== 'GET') expect(answer.status, about).toBe(415);
      else expect(allowed(row, who), about).toContain(answer.status);
      if (who.claims === null || STRANGERS.includes(who.name)) expect(leaks(answer), about).toEqual([]);
    }
  });
});

/** Statuses of a read that is let through. What an answer holds inside may have a narrower rule; a question may need more than a guess. */
function allowed(row: Row, who: Principal): number[] {
  const [success] = row.plan.status;
  if (row.inside.some(rule => refusalOf(rule, who))) return [success, 400, 401, 403, 404];
  if (!isOwned(row)) return [success, 400, 404, ...Object.keys(row.route.problems ?? {}).map(Number)];
  return STRANGERS.includes(who.name) ? [404] : who.name === 'the owner' ? [success] : [success, 404];
}

describe.each(STRANGERS)("%s finds and changes nothing of the demo user's", stranger => {
  let before: Awaited<ReturnType<typeof belongings>>;
  beforeAll(async () => {
    before = await belongings();
    expect(JSON.stringify(before).split(CANARY).length).toBeGreaterThan(5);
  });

  const open = rows.filter(row => row.rules.every(rule => rule?.public || rule?.user !== undefined) && !LAST.test(row.route.path));
  test.each(open)('$name', async row => {
    const answer = await call(row, everybody[stranger]!, INTRUDER);
    const about = `${addressOf(row)} ${answer.status} ${JSON.stringify(answer.body).slice(0, 400)}`;
    expect(answer.status, about).toBeLessThan(500);
    if (isOwned(row)) expect(answer.status, about).toBe(404);
    expect(leaks(answer), about).toEqual([]);
  });

  test.each(operations)('in GraphQL: $kind $field.name', async ({ field, kind, service }) => {
    const type = getNamedType(field.type).name;
    const objectId = (await find({ service, type }, 'id'))?.key ?? NOBODY;
    const { query, variables } = operationFor(field, kind, { ...INTRUDER, objectId });
    const answer = await p.rest('POST', '/graphql', { token: everybody[stranger]!.token, body: { query, variables } });
    const about = `${query} ${JSON.stringify(variables)} ${answer.status} ${JSON.stringify(answer.body).slice(0, 400)}`;
    expect(answer.status, about).toBeLessThan(500);
    expect(leaks(answer), about).toEqual([]);
  });

  test('and all of it is as it was', async () => expect(await belongings()).toEqual(before));

  test('of every kind that a path of a user names', () => {
    const missing = open
      .filter(row => !row.rules.some(rule => rule?.public) && parametersOf(row).some(name => namedBy(row, name).key === NOBODY))
      .map(row => row.name);
    expect(missing).toEqual([]);
  });
});
