import { execute, buildSchema, type GraphQLSchema } from 'graphql';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import pino from 'pino';
import { restRoutes, type ExecuteResult, type Operation, type RestOptions } from '../../rest-adapter/server.js';
import type { DocumentedService } from '../../rest-adapter/documents/openapi.js';
import { rewriteUrl } from '../../rest-adapter/address.js';
import { body, bodyKey, constant, header, input, path, query, type RouteTable } from '../../rest-adapter/route.js';
import { checkAccess, PLATFORM_DIRECTIVES } from '../../runtime/access/access.js';
import { ANONYMOUS, type Caller } from '../../runtime/request/caller.js';
import { fail, Problem } from '../../runtime/request/errors.js';
import { createHttp } from '../../runtime/http/server.js';
import { requestOf } from '../../runtime/request/request.js';

const SDL = `${PLATFORM_DIRECTIVES}
scalar DateTime
scalar Date
scalar JSON
scalar EmailAddress
scalar SafeInt
scalar CurrencyCode

enum CycleStatus { BASELINE_SET PROMPTED RETESTED }
enum StopAction { PAUSE STOP }
enum ErrorKind { CONFLICT NOT_FOUND UNAVAILABLE RATE_LIMITED INSUFFICIENT_SCOPE STEP_UP_REQUIRED PAYMENT_DECLINED IDEMPOTENCY_MISMATCH UNKNOWN APOLLO MIXED POINTERS THROWN }

"A measured value with its UCUM unit."
type Quantity { value: Float! unit: String! }
input QuantityInput { value: Float! @constraint(min: 0) unit: String! @constraint(minLength: 1, maxLength: 20) }

type PageInfo { endCursor: String hasNextPage: Boolean! }

"One baseline and its follow-up."
type Cycle {
  id: ID!
  patientId: ID!
  "Code of the marker in the dictionary."
  code: String!
  status: CycleStatus!
  history: [CycleStatus!]!
  baseline: Quantity
  dueAt: DateTime!
  line1: String
  rejected24h: Int
  metadata: JSON
  tags: [String!]
  notes(first: Int = 20 @constraint(min: 1, max: 100), after: String): NoteConnection!
  outcome: Outcome
  brittle: String
}
union Outcome = Improved | LostToFollowUp
type Improved { deltaPercent: Float! status: CycleStatus! }
type LostToFollowUp { lostAt: DateTime! }
type CycleConnection { nodes: [Cycle!]! pageInfo: PageInfo! totalCount: Int! }
type Note { id: ID! text: String! }
type NoteConnection { nodes: [Note!]! pageInfo: PageInfo! }
type Person {
  id: ID!
  email: EmailAddress
  settings: Settings @access(user: ["read:preferences"])
  notes(first: Int = 20 @constraint(min: 1, max: 100), after: String): NoteConnection! @access(user: ["read:inbox"])
}
type Settings { timeZone: String! theme: StopAction }
type Word { wordKey: String! }
type Clock { now: DateTime! }

input StartCycleInput {
  "The canonical user UUID."
  patientId: ID!
  code: String! @constraint(pattern: "^[a-z][a-z0-9_]*$", maxLength: 48)
  baseline: QuantityInput!
  collectedAt: DateTime
  windowDays: Int = 90 @constraint(min: 14, max: 365)
  status: CycleStatus = BASELINE_SET
  tags: [String!] @constraint(minItems: 1, maxItems: 3, maxLength: 5)
  doses: [QuantityInput!]
  metadata: JSON
  email: EmailAddress
  line1: String
  accepted: Boolean
  total: SafeInt
  currency: CurrencyCode
  bornOn: Date
  parent: TreeInput
}
input TreeInput { name: String! children: [TreeInput!] }
input PatchInput { id: ID! code: String baseline: QuantityInput tags: [String!] version: Int }
input ChangeInput { id: ID! action: StopAction! reason: String @constraint(minLength: 3) }
input ShiftInput { now: DateTime advance: String }
input FilterInput { q: String @constraint(minLength: 2) statuses: [CycleStatus!] minValue: Float urgent: Boolean brandId: ID! }

type Query {
  cycle(id: ID!): Cycle @access(service: "admin:clinical", user: ["read:my_outcomes"], staff: "admin:clinical:read")
  cycles(patientId: ID, status: [CycleStatus!], dueFrom: DateTime, urgent: Boolean, first: Int = 20 @constraint(min: 1, max: 100), after: String): CycleConnection! @access(service: "admin:clinical", internal: ["comms"])
  search(filter: FilterInput!): [Cycle!]! @access(service: "admin:clinical")
  me: Person @access(user: ["read:profile"])
  words: [Word!]! @access(public: true)
  word(key: String!, atLeast: Int, kind: ErrorKind): Word @access(public: true)
  unruled: Word
  dark: Word @access(user: ["*"], service: "*", flag: "feature.dark")
  echo(value: String!): JSON @access(public: true)
  failing(kind: ErrorKind!): Cycle @access(public: true)
  nested(brittle: Boolean!): Cycle @access(public: true)
}
type Mutation {
  startCycle(input: StartCycleInput!): Cycle! @access(service: "admin:clinical", user: ["write:clinical"])
  patchCycle(input: PatchInput!): JSON @access(service: "admin:clinical")
  changeCycle(input: ChangeInput!): JSON @access(service: "admin:clinical")
  sweep: Clock! @access(service: "admin:clinical", staff: "admin:clinical:retest", stepUp: 600)
  setClock(input: ShiftInput!): Clock! @access(service: "admin:clinical")
  deleteCycle(id: ID!): Boolean @access(service: "admin:clinical")
  renameCycle(id: ID!, name: String! @constraint(minLength: 2), note: String): JSON @access(service: "admin:clinical")
  write(brittle: Boolean!): Cycle @access(public: true)
  failWrite(input: StartCycleInput!): Cycle @access(public: true)
}`;

export const schema: GraphQLSchema = buildSchema(SDL);

const CYCLE = `{ id patientId code status history baseline { value unit } dueAt line1 rejected24h metadata tags }`;

/** Rows of every kind that the adapter knows. */
export const clinical: RouteTable = {
  service: 'clinical',
  routes: [
    {
      method: 'POST',
      path: '/v1/cycles',
      status: [201, 200],
      location: '/v1/cycles/{id}',
      summary: 'Start a cycle',
      document: `mutation StartCycle($input: StartCycleInput!) { result: startCycle(input: $input) ${CYCLE} }`,
      variables: { input: body() },
      example: { request: { patient_id: '0190b3a0-0000-7000-8000-0000000000a1', code: 'ldl_c', baseline: { value: 160, unit: 'mg/dL' } } },
    },
    {
      method: 'GET',
      path: '/v1/cycles',
      status: [200],
      summary: 'List cycles',
      document: `query ListCycles($patientId: ID, $status: [CycleStatus!], $dueFrom: DateTime, $urgent: Boolean, $first: Int, $after: String) {
        result: cycles(patientId: $patientId, status: $status, dueFrom: $dueFrom, urgent: $urgent, first: $first, after: $after) {
          nodes { id status notes(first: 1) { nodes { id } pageInfo { endCursor hasNextPage } } } pageInfo { endCursor hasNextPage } totalCount } }`,
      variables: { patientId: query('patient_id'), status: query('status'), dueFrom: query('due_from'), urgent: query('urgent') },
    },
    {
      method: 'GET',
      path: '/v1/cycles/search',
      status: [200],
      summary: 'Search cycles',
      document: 'query SearchCycles($filter: FilterInput!) { result: search(filter: $filter) { id } }',
      variables: { filter: input({ body: false, query: ['q', 'statuses', 'min_value', 'urgent', 'brand_id'] }) },
    },
    {
      method: 'GET',
      path: '/v1/cycles/{id}',
      status: [200],
      summary: 'Read a cycle',
      etag: true,
      document: `query ReadCycle($id: ID!) { result: cycle(id: $id) { ...Whole outcome { kind: __typename ... on Improved { deltaPercent status } ... on LostToFollowUp { lostAt } } } }
        fragment Whole on Cycle ${CYCLE}`,
      variables: { id: path('id') },
    },
    {
      method: 'PATCH',
      path: '/v1/settings/{cycleId}',
      status: [200],
      summary: 'Change a cycle',
      document: 'mutation PatchCycle($input: PatchInput!) { result: patchCycle(input: $input) }',
      variables: { input: input({ path: { cycleId: 'id' } }) },
    },
    {
      method: 'DELETE',
      path: '/v1/cycles/{id}',
      status: [204],
      summary: 'Delete a cycle',
      document: 'mutation DeleteCycle($id: ID!) { result: deleteCycle(id: $id) }',
      variables: { id: path('id') },
    },
    {
      method: 'POST',
      path: '/v1/cycles/{id}/stop',
      status: [200],
      summary: 'Stop a cycle',
      document: 'mutation StopCycle($input: ChangeInput!) { result: changeCycle(input: $input) }',
      variables: { input: input({ path: ['id'], constant: { action: 'STOP' } }) },
    },
    {
      method: 'POST',
      path: '/v1/cycles/{id}/rename',
      status: [202],
      summary: 'Rename a cycle',
      bodyLimit: 200,
      document: 'mutation RenameCycle($id: ID!, $name: String!, $note: String) { result: renameCycle(id: $id, name: $name, note: $note) }',
      variables: { id: path('id'), name: bodyKey('new_name'), note: bodyKey('note') },
    },
    { method: 'POST', path: '/v1/sweep', status: [200], summary: 'Sweep', document: 'mutation Sweep { result: sweep { now } }' },
    {
      method: 'POST',
      path: '/v1/clock',
      status: [200],
      summary: 'Move the clock',
      document: 'mutation SetClock($input: ShiftInput!) { result: setClock(input: $input) { now } }',
      variables: { input: body() },
    },
    {
      method: 'GET',
      path: '/v1/echo',
      status: [200],
      summary: 'Say it again',
      document: 'query Echo($value: String!) { result: echo(value: $value) }',
      variables: { value: header('X-Echo') },
    },
    {
      method: 'GET',
      path: '/v1/failing/{kind}',
      status: [200],
      summary: 'Fail',
      problems: { 402: 'The processor declined' },
      document: 'query Failing($kind: ErrorKind!) { result: failing(kind: $kind) { id } }',
      variables: { kind: path('kind') },
    },
    {
      method: 'GET',
      path: '/v1/nested',
      status: [200],
      summary: 'Read with a field that fails',
      document: 'query Nested($brittle: Boolean!) { result: nested(brittle: $brittle) { id brittle } }',
      variables: { brittle: query('brittle') },
    },
    {
      method: 'POST',
      path: '/v1/write',
      status: [201],
      summary: 'Write with a field that fails',
      document: 'mutation Write($brittle: Boolean!) { result: write(brittle: $brittle) { id brittle } }',
      variables: { brittle: constant(true) },
    },
    {
      method: 'POST',
      path: '/v1/fail-write',
      status: [201],
      summary: 'Fail a write',
      document: 'mutation FailWrite($input: StartCycleInput!) { result: failWrite(input: $input) { id } }',
      variables: { input: body() },
    },
  ],
};

export const content: RouteTable = {
  service: 'content',
  routes: [
    { method: 'GET', path: '/v1/words', status: [200], summary: 'List words', document: 'query Words { result: words { wordKey } }' },
    {
      method: 'GET',
      path: '/v1/words/{key}',
      status: [200],
      summary: 'Read a word',
      document: 'query Word($key: String!, $atLeast: Int) { result: word(key: $key, atLeast: $atLeast) { wordKey } }',
      variables: { key: path('key'), atLeast: query('at_least') },
    },
    { method: 'GET', path: '/v1/dark', status: [200], summary: 'Behind a flag', document: 'query Dark { result: dark { wordKey } }' },
    {
      method: 'GET',
      path: '/v1/users/me',
      status: [200],
      summary: 'Own account',
      omitNull: ['email'],
      document: 'query Me { result: me { id email } }',
    },
    {
      method: 'GET',
      path: '/v1/users/me/settings',
      status: [200],
      summary: 'Own settings',
      document: 'query MySettings { me { result: settings { timeZone theme } } }',
    },
    {
      method: 'GET',
      path: '/v1/users/me/notes',
      status: [200],
      summary: 'Own notes',
      document:
        'query MyNotes($first: Int, $after: String) { me { result: notes(first: $first, after: $after) { nodes { id text } pageInfo { endCursor hasNextPage } } } }',
    },
  ],
};

/** A field whose author forgot the rule. */
export const unruled: RouteTable = {
  service: 'content',
  routes: [
    { method: 'GET', path: '/v1/unruled', status: [200], summary: 'No rule', document: 'query Unruled { result: unruled { wordKey } }' },
  ],
};

export const ME = '0190b3a0-0000-7000-8000-0000000000a1';

const cycle = (over: object = {}) => ({
  id: 'c1',
  patientId: ME,
  code: 'ldl_c',
  status: 'BASELINE_SET',
  history: ['BASELINE_SET', 'PROMPTED'],
  baseline: { value: 160, unit: 'mg/dL' },
  dueAt: '2026-10-30T08:00:00.000Z',
  line1: 'a',
  rejected24h: 3,
  metadata: { camelCase: 'KEPT', nested: { moreOf: ['IT'] } },
  tags: null,
  notes: () => ({ nodes: [{ id: 'n1', text: 'x' }], pageInfo: { endCursor: 'n1', hasNextPage: true } }),
  outcome: { __typename: 'Improved', deltaPercent: -31.25, status: 'RETESTED' },
  ...over,
});

const brittle = (isBrittle: boolean) => () => (isBrittle ? fail('unavailable', 'The other service is down', { retryAfter: 7 }) : 'whole');

const raise: Record<string, () => never> = {
  CONFLICT: () => fail('conflict', 'A retested cycle cannot be prompted', { reason: 'wrong_state' }),
  NOT_FOUND: () => fail('not_found', 'Not found'),
  UNAVAILABLE: () => fail('unavailable', 'The processor is down'),
  RATE_LIMITED: () => fail('rate_limited', 'Too many', { retryAfter: 12 }),
  INSUFFICIENT_SCOPE: () => fail('insufficient_scope', 'The token lacks read:biomarkers', { scope: 'read:biomarkers' }),
  STEP_UP_REQUIRED: () => fail('step_up_required', 'Sign in again', { maxAge: 600 }),
  PAYMENT_DECLINED: () => fail('payment_declined', 'Declined', { members: { declineCode: 'insufficient_funds', retryable: true } }),
  IDEMPOTENCY_MISMATCH: () => fail('idempotency_mismatch', 'The key was used with another body'),
  UNKNOWN: () => {
    throw new Error('password=hunter2 at line 3');
  },
  APOLLO: () => {
    throw Object.assign(new Error('Variable "$input" got invalid value "mara@example.test"'), { extensions: { code: 'BAD_USER_INPUT' } });
  },
  THROWN: () => fail('invalid_request', 'The cursor is malformed', { errors: [{ pointer: '/kind', message: 'is not of this list' }] }),
};

type Args = Record<string, any>;

const root = {
  cycle: ({ id }: Args) =>
    id === 'absent'
      ? null
      : id === 'lost'
        ? cycle({ outcome: { __typename: 'LostToFollowUp', lostAt: '2026-01-01T00:00:00.000Z' } })
        : cycle({ id }),
  cycles: (args: Args) => ({
    nodes: [cycle({ id: JSON.stringify(args) })],
    pageInfo: { endCursor: 'c1', hasNextPage: args.after === 'more' },
    totalCount: 1,
  }),
  search: ({ filter }: Args) => [cycle({ id: JSON.stringify(filter) })],
  me: (_: Args, { info }: Args) => ({
    id: info.caller.userId,
    email: info.caller.scopes.has('read:account') ? 'demo@example.test' : null,
    settings: { timeZone: 'UTC', theme: null },
    notes: (args: Args) => ({ nodes: [{ id: 'n1', text: JSON.stringify(args) }], pageInfo: { endCursor: 'n1', hasNextPage: false } }),
  }),
  words: () => [{ wordKey: 'one' }, { wordKey: 'two' }],
  word: ({ key }: Args) => ({ wordKey: key }),
  dark: () => ({ wordKey: 'dark' }),
  echo: ({ value }: Args) => ({ value }),
  failing: ({ kind }: Args) => raise[kind]!(),
  nested: ({ brittle: isBrittle }: Args) => cycle({ brittle: brittle(isBrittle) }),
  write: ({ brittle: isBrittle }: Args) => cycle({ brittle: brittle(isBrittle) }),
  startCycle: ({ input: given }: Args, context: Args) => {
    if (given.code === 'again') context.status = 200;
    if (given.code === 'odd') context.status = 418;
    return cycle({ code: given.code, metadata: given });
  },
  failWrite: () =>
    fail('invalid_request', 'Two things are wrong', {
      errors: [
        { pointer: '/input/baseline/unit', message: 'is not convertible' },
        { pointer: '/input/metadata/someKey', message: 'is odd' },
        { pointer: '/input/doses/0/value', message: 'is too much' },
      ],
    }),
  patchCycle: ({ input: given }: Args) =>
    given.code === 'refused'
      ? fail('invalid_request', 'No', {
          errors: [
            { pointer: '/input/id', message: 'is odd' },
            { pointer: '/input/baseline/unit', message: 'is odd' },
          ],
        })
      : given,
  changeCycle: ({ input: given }: Args) => given,
  renameCycle: (args: Args) =>
    args.name === 'refused' ? fail('invalid_request', 'No', { errors: [{ pointer: '/name', message: 'is taken' }] }) : args,
  sweep: () => ({ now: '2026-01-01T00:00:00.000Z' }),
  setClock: ({ input: given }: Args) => ({ now: given.now ?? '2026-01-01T00:00:00.000Z' }),
  deleteCycle: ({ id }: Args) => (id === 'absent' ? null : true),
};

/** Runs graphql-js on the fixture schema, as the gateway would. */
async function run({ document, variables, operationName }: Operation, info: unknown): Promise<ExecuteResult> {
  const context: Args = { info, status: null };
  const { data, errors } = await execute({
    schema,
    document,
    rootValue: root,
    contextValue: context,
    variableValues: variables,
    operationName,
  });
  return {
    data: (data ?? null) as ExecuteResult['data'],
    errors: (errors ?? []).map(error => error.toJSON() as never),
    status: context.status as number | null,
  };
}

/** `svc <scopes>` is a service token, `usr <scopes>` one of {@link ME}, `staff <permissions>`, `old` one signed in an hour ago, `svc-comms` the internal client. */
function callerOf(token: string): Caller {
  const [kind, ...rest] = token.split('+');
  if (kind === 'svc-comms') return { ...ANONYMOUS, kind: 'service', clientId: 'svc-comms', serviceSlug: 'comms' };
  if (kind === 'svc') return { ...ANONYMOUS, kind: 'service', clientId: 'demo-m2m', scopes: new Set(rest) };
  if (kind === 'usr')
    return { ...ANONYMOUS, kind: 'user', userId: ME, clientId: 'demo-app', scopes: new Set(rest), authTime: Date.now() / 1000 };
  if (kind === 'staff' || kind === 'old')
    return { ...ANONYMOUS, kind: 'user', userId: ME, permissions: rest, authTime: Date.now() / 1000 - (kind === 'old' ? 3600 : 0) };
  return fail('unauthenticated', 'The token is expired', { reason: 'invalid_token' });
}

export interface Fixture {
  app: FastifyInstance;
  /** A request with `token` as bearer token and a JSON body. */
  call: (
    method: string,
    url: string,
    options?: { token?: string | null; json?: unknown; headers?: Record<string, string>; payload?: InjectOptions['payload'] },
  ) => Promise<LightMyRequestResponse>;
  partial: string[];
  executed: string[];
}

export const ADMIN = 'svc+admin:clinical';

/** The adapter on the fixture schema behind the house's HTTP defaults. */
export async function restFixture(options: Partial<RestOptions> = {}): Promise<Fixture> {
  const app = createHttp({ log: pino({ level: 'silent' }), rewriteUrl: (host, url) => rewriteUrl(host, url, 'platform.example') });
  const partial: string[] = [];
  const executed: string[] = [];
  await app.register(
    restRoutes({
      schema,
      tables: [clinical, content, unruled],
      execute: (operation, info) => (executed.push(operation.key), run(operation, info)),
      authenticate: async request => {
        const value = request.headers.authorization;
        if (value === undefined) return fail('unauthenticated', 'A bearer token is required');
        return { ...requestOf(request.headers, request.ip), id: request.info.id, caller: callerOf(value.replace(/^Bearer /, '')) };
      },
      authorize: async (rule, info) => {
        checkAccess(rule, info.caller);
        if (rule?.flag) throw new Problem('forbidden', 'This feature is off');
      },
      onPartial: key => partial.push(key),
      ...options,
    }),
  );
  await app.ready();
  return { app, partial, executed, call: caller(app) };
}

const caller =
  (app: FastifyInstance): Fixture['call'] =>
  (method, url, { token = ADMIN, json, headers = {}, payload } = {}) =>
    app.inject({
      method: method as never,
      url,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json !== undefined ? { payload: JSON.stringify(json) } : payload !== undefined && { payload }),
    });

/** What the documents say of the two services; one has a native path. */
export const services: readonly DocumentedService[] = [
  { slug: 'content', purpose: 'Words.' },
  {
    slug: 'clinical',
    purpose: 'Health data.',
    nativePaths: [
      {
        method: 'POST',
        path: '/v1/hooks/{vendor}',
        summary: 'Take a hook of a vendor',
        status: 202,
        public: true,
        requestBody: { contentType: 'application/json', schema: { type: 'object' } },
        response: { contentType: 'application/json', schema: { type: 'object' } },
      },
    ],
  },
];
