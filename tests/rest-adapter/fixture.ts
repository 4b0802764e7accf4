import { execute, buildSchema, type GraphQLSchema } from 'graphql';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import pino from 'pino';
import { restRoutes, type ExecuteResult, type Operation, type RestOptions } from '../../rest-adapter/server.js';
import type { DocumentedService } from '../../rest-adapter/documents/openapi.js';
import { rewriteUrl } from '../../rest-adapter/address.js';
import { planTables } from '../../rest-adapter/plan.js';
import { del, get, patch, post, type RouteTable } from '../../rest-adapter/route.js';
import { checkAccess, PLATFORM_DIRECTIVES } from '../../runtime/access/rules.js';
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
type CycleConnection { nodes: [Cycle!]! pageInfo: PageInfo! }
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

const CYCLE = 'id patientId code status history baseline { value unit } dueAt line1 rejected24h metadata tags';
const OUTCOME = 'outcome { kind: __typename ... on Improved { deltaPercent status } ... on LostToFollowUp { lostAt } }';
const SHORT = 'id status notes(first: 1) { nodes { id } pageInfo { endCursor hasNextPage } }';

/** Rows of every kind that the adapter knows. */
export const clinical: RouteTable = {
  service: 'clinical',
  routes: [
    post('/v1/cycles', 'startCycle', CYCLE, 'Start a cycle', {
      status: [201, 200],
      example: { request: { patient_id: '0190b3a0-0000-7000-8000-0000000000a1', code: 'ldl_c', baseline: { value: 160, unit: 'mg/dL' } } },
    }),
    get('/v1/cycles', 'cycles', SHORT, 'List cycles'),
    get('/v1/cycles/search', 'search', 'id', 'Search cycles'),
    get('/v1/cycles/{id}', 'cycle', `${CYCLE} ${OUTCOME}`, 'Read a cycle', { etag: true }),
    patch('/v1/settings/{cycleId}', 'patchCycle', null, 'Change a cycle', { path: { cycleId: 'id' } }),
    del('/v1/cycles/{id}', 'deleteCycle', null, 'Delete a cycle'),
    post('/v1/cycles/{id}/stop', 'changeCycle', null, 'Stop a cycle', { as: 'stopCycle', constant: { action: 'STOP' } }),
    post('/v1/cycles/{id}/rename', 'renameCycle', null, 'Rename a cycle', { status: 202, bodyLimit: 200 }),
    post('/v1/sweep', 'sweep', 'now', 'Sweep'),
    post('/v1/clock', 'setClock', 'now', 'Move the clock'),
    get('/v1/failing/{kind}', 'failing', 'id', 'Fail', { problems: { 402: 'The processor declined' } }),
    get('/v1/nested', 'nested', 'id brittle', 'Read with a field that fails'),
    post('/v1/write', 'write', 'id brittle', 'Write with a field that fails', { status: 201, constant: { brittle: true } }),
    post('/v1/fail-write', 'failWrite', 'id', 'Fail a write', { status: 201 }),
  ],
};

export const content: RouteTable = {
  service: 'content',
  routes: [
    get('/v1/words', 'words', 'wordKey', 'List words'),
    get('/v1/words/{key}', 'word', 'wordKey', 'Read a word', { omit: ['kind'] }),
    get('/v1/dark', 'dark', 'wordKey', 'Behind a flag'),
    get('/v1/users/me', 'me', 'id email', 'Own account', { omitNull: ['email'] }),
    get('/v1/users/me/settings', 'me.settings', 'timeZone theme', 'Own settings'),
    get('/v1/users/me/notes', 'me.notes', 'id text', 'Own notes'),
  ],
};

/** A field whose author forgot the rule. */
export const unruled: RouteTable = { service: 'content', routes: [get('/v1/unruled', 'unruled', 'wordKey', 'No rule')] };

/** The plans of both services. */
export const plans = planTables(schema, [clinical, content]);

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
        return { ...requestOf(request.headers, request.info.ip), id: request.info.id, caller: callerOf(value.replace(/^Bearer /, '')) };
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

/** What the documents show of the two services; one has a native path. */
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
