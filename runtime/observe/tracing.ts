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

/** Null while tracing is off, the default; every function below then costs one comparison. */
let tracer: Tracer | null = null;

/** Sends the remaining spans when it stops. */
interface Tracing {
  stop(): Promise<void>;
}

/**
 * Sends the process's spans to an OTLP/HTTP collector, for example `http://localhost:4318/v1/traces` (setting `TRACES_URL`). Spans hold
 * names, services and outcomes, never values: no URL, no parameter, no error text.
 */
export async function startTracing(url: string): Promise<Tracing> {
  const [
    { AsyncLocalStorageContextManager },
    { OTLPTraceExporter },
    { resourceFromAttributes },
    { BasicTracerProvider, BatchSpanProcessor },
  ] = await Promise.all([
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
  ]);
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

/** The context of a remote parent span; without one, the active context. */
function contextOf(traceparent: string | null | undefined): TraceContext {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (!traceId || !spanId) return context.active();
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags!, 16), isRemote: true });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The W3C `traceparent` of the active span; null without tracing. */
export function activeTraceparent(): string | null {
  const span = tracer && trace.getActiveSpan();
  return span ? traceparentOf(span) : null;
}

interface SpanSetting {
  kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  attributes?: Attributes;
  /** `traceparent` of the parent span, where that is not the active span. */
  parent?: string | null;
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** Runs work within a span. A failure marks the span with the error's code or name only. */
export function traced<T>(name: string, { kind = 'internal', attributes, parent }: SpanSetting, work: () => Promise<T>): Promise<T> {
  if (!tracer) return work();
  const above = contextOf(parent);
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

/** Span of a request from outside. It ends with the answer, not with a function's return. */
export interface RequestSpan {
  traceparent: string;
  end(route: string | undefined, status: number): void;
}

/** Null without tracing. */
export function openRequestSpan(method: string, traceparent: string | null): RequestSpan | null {
  if (!tracer) return null;
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }, contextOf(traceparent));
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

/** Verb and table of a statement, without its text: `select clinical.retest_cycle`. */
function summaryOf(sql: string): string {
  const [, first, second] = TABLE.exec(sql) ?? [];
  const verb = /^\s*(\w+)/.exec(sql)?.[1]?.toLowerCase() ?? 'sql';
  return [verb, [first, second].filter(Boolean).join('.')].filter(Boolean).join(' ');
}

type Query = (...args: any[]) => any;

/** Traces the statements of a connection that run within a span. Does nothing for a connection that opens while tracing is off. */
export function traceStatements(client: { query: Query }): void {
  if (!tracer) return;
  const query = client.query.bind(client) as Query;
  client.query = (...args: unknown[]) => {
    if (!tracer || !trace.getActiveSpan() || typeof args.at(-1) === 'function') return query(...args);
    const text = typeof args[0] === 'string' ? args[0] : String((args[0] as { text?: string }).text ?? '');
    return traced(summaryOf(text), { kind: 'client', attributes: { 'db.system.name': 'postgresql' } }, async () => query(...args));
  };
}
