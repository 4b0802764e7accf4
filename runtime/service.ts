import type { EntityClass } from '@mikro-orm/postgresql';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Consumer } from '../events/consumer.js';
import type { Slug } from '../events/slugs.js';
import type { Timer } from './time/clock.js';
import type { Context, ServiceHost } from './request/context.js';
import type { Erase } from './erasure/erasure.js';
import type { RequestInfo } from './request/request.js';
import type { JobQueueDefinition, JobScheduleDefinition } from './jobs/queue.js';

/** Loads many references of one type at once: the answer has their order, null where nothing may be seen. The owner stands in the `where`. */
export type ReferenceLoader = ServiceHost['references'][string];

/** A native HTTP path of a service, for the OpenAPI documents. */
export interface NativePath {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the service, for example `/v1/oauth/token`. */
  path: string;
  summary: string;
  /** Success status. */
  status: number;
  /** No token needed, or one that the path checks itself. */
  public?: boolean;
  requestBody?: { contentType: string; schema: object };
  response?: { contentType: string; schema: object };
}

/** Verifies a request's token, for native paths: the request with its caller, nobody without a token. @throws Problem unauthenticated. */
export type Authenticate = (request: FastifyRequest) => Promise<RequestInfo>;

/** Something that a service runs beside its operations, for example a delivery worker. */
export interface Worker {
  /** Role that a process must have to run it. */
  role: 'consumers' | 'scheduler' | 'subgraphs';
  start(host: ServiceHost): Promise<{ stop(): Promise<void> }>;
}

/** A service is this declaration; everything else follows from it. Source: architecture 3. */
export interface ServiceDeclaration {
  slug: Slug;
  /** What it is for, one line; shown in the OpenAPI documents. */
  purpose: string;
  entities: readonly EntityClass[];
  /** type-graphql resolver classes. */
  resolvers: readonly Function[];
  /** Test controls besides the clock, which every service has; those that its contract names. Source: conventions 8. */
  testControls?: { flags?: true; faults?: true };
  /** Object types that no operation returns but that belong in the SDL. */
  types?: readonly Function[];
  /** One batch loader for each `@key` type that this service resolves. */
  references?: Readonly<Record<string, ReferenceLoader>>;
  consumers?: readonly Consumer<Context>[];
  timers?: readonly Timer<Context>[];
  workers?: readonly Worker[];
  /** Queues that this service works in its own process (role `consumers`). Source: jobs 1. */
  queues?: readonly JobQueueDefinition[];
  /** Schedules of those queues that stand in code; the timekeeper of jobs sends them. */
  schedules?: readonly JobScheduleDefinition[];
  /** Development data of this schema, in one transaction, when the schema is empty. */
  seed?: (ctx: Context) => Promise<void>;
  /** What erasure of a user means here; a service that holds nothing says so. */
  erase: Erase;
  /** Native HTTP handlers: paths are given with the slug, `/<slug>/v1/...`. */
  native?: (app: FastifyInstance, host: ServiceHost, authenticate: Authenticate) => Promise<void>;
  nativePaths?: readonly NativePath[];
  /** Further readiness checks: a name and whether it passes; `degraded` is told, and takes no traffic away. */
  ready?: (host: ServiceHost) => Promise<Readonly<Record<string, boolean | 'degraded'>>>;
}

/** Declares a service. */
export const service = (declaration: ServiceDeclaration): ServiceDeclaration => declaration;
