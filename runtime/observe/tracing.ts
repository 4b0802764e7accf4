import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context as TraceContext,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

/** Null while tracing is off, which is the default: then nothing below costs more than a comparison. */
let tracer: Tracer | null = null;

/** What runs until the last spans are sent. */
export interface Tracing {
  stop(): Promise<void>;
}

/**
 * Sends the process's spans to an OTLP/HTTP collector, for example `http://localhost:4318/v1/traces` (setting `TRACES_URL`). Spans hold
 * names, services and outcomes, never values: no URL, no parameter, no error text.
 */
export function startTracing(url: string): Tracing {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'platform' }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }), { scheduledDelayMillis: 1_000 })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  tracer = provider.getTracer('platform');
  return {
    stop: async () => {
      tracer = null;
      await provider.shutdown();
      context.disable();
    },
  };
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The context below a remote span; none: below what runs here, else a new trace. */
function below(traceparent: string | null | undefined): TraceContext {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (!traceId || !spanId) return context.active();
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags!, 16), isRemote: true });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The W3C `traceparent` of the work that runs here; null without tracing. */
export function activeTraceparent(): string | null {
  const span = tracer && trace.getActiveSpan();
  return span ? traceparentOf(span) : null;
}

export interface SpanSetting {
  kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  attributes?: Attributes;
  /** The span above, where it is not the one that runs here. */
  parent?: string | null;
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** Runs work within a span; what it starts is below it. A failure marks the span by the error's class alone. */
export function traced<T>(name: string, { kind = 'internal', attributes, parent }: SpanSetting, work: () => Promise<T>): Promise<T> {
  if (!tracer) return work();
  const above = below(parent);
  const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, above);
  return context
    .with(trace.setSpan(above, span), work)
    .catch(error => {
      markFailed(span, error);
      throw error;
    })
    .finally(() => span.end());
}

function markFailed(span: Span, error: unknown): void {
  span.setAttribute('error.type', String((error as { code?: unknown }).code ?? (error as Error)?.name ?? 'error'));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** A request at the door: its span ends with the answer, which comes by another way than a function's end. */
export interface DoorSpan {
  traceparent: string;
  end(route: string | undefined, status: number): void;
}

/** Null without tracing. */
export function openDoorSpan(method: string, traceparent: string | null): DoorSpan | null {
  if (!tracer) return null;
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }, below(traceparent));
  return {
    traceparent: traceparentOf(span),
    end(route, status) {
      if (route) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

const TABLE = /\b(?:from|into|update|join)\s+"?([a-z_]+)"?(?:\."?([a-z_]+)"?)?/i;

/** What a statement does to what, without its text: `select clinical.retest_cycle`. */
export function summaryOf(sql: string): string {
  const [, first, second] = TABLE.exec(sql) ?? [];
  const verb = /^\s*(\w+)/.exec(sql)?.[1]?.toLowerCase() ?? 'sql';
  return [verb, [first, second].filter(Boolean).join('.')].filter(Boolean).join(' ');
}

type Query = (...args: any[]) => any;

/** Makes a span of each statement of a connection that runs within another span, where tracing is on as the connection opens. */
export function traceStatements(client: { query: Query }): void {
  if (!tracer) return;
  const query = client.query.bind(client) as Query;
  client.query = (...args: unknown[]) => {
    if (!tracer || !trace.getActiveSpan() || typeof args.at(-1) === 'function') return query(...args);
    const text = typeof args[0] === 'string' ? args[0] : String((args[0] as { text?: string }).text ?? '');
    return traced(summaryOf(text), { kind: 'client', attributes: { 'db.system.name': 'postgresql' } }, async () => query(...args));
  };
}
