/** Routes, native paths and probes -> OpenAPI operations. */
import { isInputObjectType, getNullableType, isNonNullType } from 'graphql';
import type { NativePath } from '../../runtime/service.js';
import { problemResponses } from './problems.js';
import type { Json, Schemas } from './schemas.js';
import { callersOf, conditionsOf, securityOf } from './security.js';
import { PAGE_LIMIT, type Parameter } from '../parameters.js';
import type { Plan } from '../plan.js';
import type { Upload } from '../route.js';
import type { BodyShape } from '../variables.js';

/** An operation under its path, relative to the service. */
export interface Documented {
  method: string;
  path: string;
  operation: Json;
}

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** `GET /v1/cycles/{id}` of clinical -> `getClinicalCyclesById`. */
function idOfPath(slug: string, method: string, path: string): string {
  const parts = path
    .split('/')
    .filter(part => part !== '' && part !== 'v1')
    .map(part => part.replace(/^\{(.+)\}$/, 'by-$1'));
  return (
    method.toLowerCase() +
    [slug, ...parts]
      .flatMap(part => part.split(/[^A-Za-z0-9]+/))
      .map(capital)
      .join('')
  );
}

/** The operation's name in camelCase. */
export const operationIdOf = ({ operationName }: Plan): string => operationName.charAt(0).toLowerCase() + operationName.slice(1);

const LIMIT: Json = {
  type: 'integer',
  minimum: PAGE_LIMIT.min,
  maximum: PAGE_LIMIT.max,
  default: PAGE_LIMIT.standard,
  description: 'Rows of the page.',
};
const CURSOR: Json = { type: 'string', description: '`next_cursor` of the page before; opaque.' };

/** A null cannot be written in a URL, so parameters are never nullable. */
function withoutNull(schema: Json): Json {
  if (Array.isArray(schema.anyOf)) return schema.anyOf[0] as Json;
  return Array.isArray(schema.type) ? { ...schema, type: (schema.type as string[]).find(type => type !== 'null') } : schema;
}

function parameterSchema(schemas: Schemas, parameter: Parameter, isPage: boolean): Json {
  if (isPage && parameter.name === 'limit') return LIMIT;
  if (isPage && parameter.name === 'cursor') return CURSOR;
  const { description: _, ...schema } = schemas.inputField(
    parameter.usage,
    isNonNullType(parameter.type) ? parameter.type.ofType : parameter.type,
  );
  return withoutNull(schema);
}

function parameterOf(schemas: Schemas, parameter: Parameter, isPage: boolean): Json {
  const { description, ...schema } = parameterSchema(schemas, parameter, isPage);
  const text = description ?? parameter.usage.description;
  return { name: parameter.name, in: parameter.in, required: parameter.required, ...(text ? { description: text } : {}), schema };
}

function parametersOf(schemas: Schemas, plan: Plan): Json[] {
  const isPage = plan.shape.kind === 'page';
  const own = plan.input.parameters.map(parameter => parameterOf(schemas, parameter, isPage));
  return plan.isMutation && plan.route.method === 'POST' ? [...own, { $ref: '#/components/parameters/IdempotencyKey' }] : own;
}

function bodySchema(schemas: Schemas, body: BodyShape): Json {
  if (body.kind === 'keys') {
    const required = body.keys.filter(key => key.required).map(key => key.name);
    const properties = Object.fromEntries(body.keys.map(key => [key.name, schemas.inputField(key.usage, key.type)]));
    return { type: 'object', ...(required.length > 0 && { required }), properties, additionalProperties: false };
  }
  const type = getNullableType(body.type);
  return body.without.size > 0 && isInputObjectType(type) ? schemas.inputFields(type, body.without) : schemas.presentInput(type);
}

const formSchema = ({ field, maxBytes }: Upload): Json => ({
  type: 'object',
  required: [field],
  properties: { [field]: { type: 'string', contentMediaType: 'application/octet-stream', description: `At most ${maxBytes} bytes.` } },
});

function requestBodyOf(schemas: Schemas, { route, input: { body } }: Plan): Json {
  if (!body) return {};
  const isRequired = body.kind === 'keys' ? body.keys.some(key => key.required) : body.required;
  const media = { schema: bodySchema(schemas, body), ...(route.example?.request !== undefined && { example: route.example.request }) };
  const content = {
    'application/json': media,
    ...(route.method === 'PATCH' && { 'application/merge-patch+json': media }),
    ...(route.upload && { 'multipart/form-data': { schema: formSchema(route.upload) } }),
  };
  return { requestBody: { required: isRequired, content } };
}

function answerSchema(schemas: Schemas, plan: Plan): Json {
  const { shape, route } = plan;
  const name = capital(operationIdOf(plan));
  if (shape.kind === 'list')
    return { type: 'object', required: ['data'], properties: { data: schemas.output({ ...shape, nullable: false }, name) } };
  if (shape.kind === 'object' && route.omitNull) return schemas.members(shape.members, name, route.omitNull);
  return schemas.output({ ...shape, nullable: false }, name);
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; the work goes on.',
  204: 'Done; no body.',
  302: 'It is at another address.',
};

function successOf(schemas: Schemas, plan: Plan, status: number): Json {
  const { route, location } = plan;
  const hasLocation = route.redirect !== undefined || (location !== null && (status === 201 || status === 202));
  const headers = {
    ...REQUEST_ID,
    ...(hasLocation && { Location: { description: 'Address of the resource.', schema: { type: 'string', format: 'uri-reference' } } }),
    ...(route.etag && { ETag: { description: 'Changes with the answer.', schema: { type: 'string' } } }),
  };
  const description = DESCRIPTIONS[status] ?? 'Done.';
  if (status === 204 || status === 302) return { description, headers };
  const example = route.example?.response;
  return {
    description,
    headers,
    content: { 'application/json': { schema: answerSchema(schemas, plan), ...(example !== undefined && { example }) } },
  };
}

function responsesOf(schemas: Schemas, plan: Plan): Json {
  const { route, shape, input, isMutation, isPublic } = plan;
  const success = Object.fromEntries(plan.status.map(status => [status, successOf(schemas, plan, status)]));
  const unchanged = route.etag ? { 304: { description: 'Unchanged since the `If-None-Match` of the request.' } } : {};
  const hasParameters = input.parameters.some(parameter => parameter.in === 'path');
  const problems = problemResponses({
    isPublic,
    isMutation,
    isPost: route.method === 'POST',
    hasBody: input.body !== null,
    mayBeAbsent: hasParameters || shape.nullable,
    own: route.problems ?? {},
  });
  return { ...success, ...unchanged, ...problems };
}

/** One route as an operation. */
export function operationOf(schemas: Schemas, plan: Plan): Documented {
  const { field } = plan;
  const graphql = `In GraphQL: ${plan.isMutation ? 'mutation' : 'query'} \`${plan.fieldPath.join('.')}\`.`;
  const description = [field.description, ...callersOf(plan.rules), ...conditionsOf(plan.rules), graphql].filter(Boolean).join('\n\n');
  const parameters = parametersOf(schemas, plan);
  const operation = {
    operationId: operationIdOf(plan),
    summary: plan.route.summary,
    description,
    tags: [plan.slug],
    ...(field.deprecationReason != null && { deprecated: true }),
    security: securityOf(plan.rules),
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(schemas, plan),
    responses: responsesOf(schemas, plan),
  };
  return { method: plan.route.method.toLowerCase(), path: plan.route.path, operation };
}

const content = (part: { contentType: string; schema: object }): Json => ({ content: { [part.contentType]: { schema: part.schema } } });

const pathParameters = (path: string): Json[] =>
  [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));

/** A native path; its rule is its own, so it is documented as a bearer token unless public. */
export function nativeOperation(slug: string, native: NativePath): Documented {
  const { method, path, summary, status, requestBody, response } = native;
  const parameters = pathParameters(path);
  const operation = {
    operationId: idOfPath(slug, method, path),
    summary,
    description: 'A plain HTTP path, not an operation of the GraphQL API.',
    tags: [slug],
    security: native.public ? [] : [{ serviceToken: [] }, { userToken: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody: { required: true, ...content(requestBody) } }),
    responses: {
      [status]: { description: DESCRIPTIONS[status] ?? 'Done.', headers: REQUEST_ID, ...(response && content(response)) },
      '4XX': { description: 'Refused; the body says why.' },
    },
  };
  return { method: method.toLowerCase(), path, operation };
}

const PROBES = [
  {
    path: '/readyz',
    summary: 'Whether the service can answer',
    description: 'Asks its database and the event bus; 503 while one of them is not reachable.',
  },
  { path: '/healthz', summary: 'Whether the process is up', description: 'Asks nothing outside the process.' },
] as const;

/** What even a request without input can be. */
const MALFORMED = { description: 'The request is not well-formed HTTP.' };

/** `/readyz` and `/healthz` of a service. */
export function probeOperations(slug: string): Documented[] {
  const answer = { description: 'Yes.', headers: REQUEST_ID, content: { 'application/json': { schema: { type: 'object' } } } };
  return PROBES.map(({ path, summary, description }) => ({
    method: 'get',
    path,
    operation: {
      operationId: idOfPath(slug, 'GET', path),
      summary,
      description,
      tags: [slug],
      security: [],
      responses: { 200: answer, '4XX': MALFORMED, 503: { description: 'Not now.' } },
    },
  }));
}
