import type { Sql } from '../../../events/outbox.js';
import { prepared } from '../../../events/prepared.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import type { WebhookAttemptTrigger } from '../entities/enums.js';
import type { Outcome } from '../ports/deliverer.js';
import { sealerOf } from '../ports/sealer.js';

/** An attempt as it is written down. */
export interface EndedAttempt {
  /** A new one where none is given. */
  id?: string;
  /** Null: a test. */
  deliveryId: string | null;
  subscriptionId: string;
  eventType: string;
  number: number;
  trigger: WebhookAttemptTrigger;
  startedAt: Date;
  endedAt: Date;
  url: string;
  /** As kept: without signatures and custom values. */
  requestHeaders: Record<string, string>;
  outcome: Outcome;
}

/** How the body of an answer is bound to its attempt. */
export const bodyContext = (attemptId: string): string => `webhook_attempt.response_body:${attemptId}`;

const INSERT_ATTEMPTS = prepared(`
insert into webhooks.webhook_attempt (id, started_at, delivery_id, subscription_id, event_type, number, finished_at, url, resolved_ip, status_code, error, timings,
  request_headers, response_headers, response_body_sealed, response_truncated, trigger)
select id, started_at, delivery_id, subscription_id, event_type, number, finished_at, url, resolved_ip, status_code, error, timings,
  request_headers, response_headers, decode(response_body, 'base64'), response_truncated, trigger
from json_to_recordset($1::json) as a(id uuid, started_at timestamptz, delivery_id uuid, subscription_id uuid, event_type text, number int, finished_at timestamptz, url text,
  resolved_ip text, status_code int, error text, timings jsonb, request_headers jsonb, response_headers jsonb, response_body text, response_truncated boolean, trigger text)`);

function rowOf(host: ServiceHost, one: EndedAttempt): object {
  const id = one.id ?? newId();
  const { outcome } = one;
  const body = outcome.responseBody === null ? null : sealerOf(host).seal(outcome.responseBody, bodyContext(id)).toString('base64');
  return {
    id,
    started_at: one.startedAt,
    delivery_id: one.deliveryId,
    subscription_id: one.subscriptionId,
    event_type: one.eventType,
    number: one.number,
    finished_at: one.endedAt,
    url: one.url,
    resolved_ip: outcome.resolvedIp,
    status_code: outcome.statusCode,
    error: outcome.error,
    timings: outcome.timings,
    request_headers: one.requestHeaders,
    response_headers: outcome.responseHeaders,
    response_body: body,
    response_truncated: outcome.responseTruncated,
    trigger: one.trigger,
  };
}

/** Writes attempts down: one statement. */
export const insertAttempts = (sql: Sql, host: ServiceHost, attempts: readonly EndedAttempt[]): Promise<unknown> =>
  sql(INSERT_ATTEMPTS, [JSON.stringify(attempts.map(one => rowOf(host, one)))]);
