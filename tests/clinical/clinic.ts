import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent } from '../../events/outbox.js';
import type { Slug } from '../../events/slugs.js';
import { BRAND, platform, type Answer, type PlatformSetting, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

export const CYCLE_FLAG = 'feature.clinical.retest-cycle';
export const PROMPT_FLAG = 'feature.clinical.retest-prompt';

/** T0 of the contract's acceptance cases. */
export const T0 = '2026-08-01T08:00:00.000Z';

const DAY_MS = 86_400_000;

/** T0 plus days, RFC 3339. */
export const day = (days: number, from: string = T0): string => new Date(Date.parse(from) + days * DAY_MS).toISOString();

/** A result of a marker, as a test names it. */
export interface Result {
  code: string;
  value?: number;
  unit?: string;
  comparator?: 'lt' | 'le' | 'ge' | 'gt';
  textValue?: string;
  collectedAt: string;
  drawId?: string;
  source?: string;
  performer?: string | null;
  sourceRef?: string;
  status?: string;
}

export interface CycleOptions {
  code?: string;
  value?: number;
  unit?: string;
  comparator?: string;
  collectedAt?: string;
  drawId?: string;
  performer?: string;
  key?: string;
  more?: object;
}

const UNITS: Record<string, string> = {
  ldl_c: 'mg/dL',
  tsh: 'm[IU]/L',
  vitamin_d_25oh: 'ng/mL',
  hba1c: '%',
  hs_crp: 'mg/L',
  apob: 'mg/dL',
  potassium: 'mmol/L',
};

/** The clinical service as its callers see it, with patients of its own for each test. */
export class Clinic {
  readonly #patients: string[] = [];

  constructor(
    readonly p: TestPlatform,
    readonly token: string,
  ) {}

  /** The clinic with the cycle flag on. Its clock begins at `at`: what lies before costs no sweeps. */
  static async open(at: string = T0, setting?: PlatformSetting): Promise<Clinic> {
    const p = await platform({ services: ['clinical'], ...setting });
    const clinic = new Clinic(p, await p.serviceToken());
    await p.clock('clinical', { now: at });
    await clinic.flag(CYCLE_FLAG, true);
    return clinic;
  }

  rest(method: string, path: string, body?: unknown, token: string | null = this.token): Promise<Answer> {
    return this.p.rest(method, `/clinical${path}`, { token, body });
  }

  flag(key: string, value: boolean | string | null, who?: { brand_id?: string; user_id?: string }): Promise<void> {
    return this.p.flag('clinical', key, value, who);
  }

  async clock(now: string): Promise<void> {
    await this.p.clock('clinical', { now });
  }

  async fault(point: string, match: string | null, times: number): Promise<void> {
    expect((await this.rest('POST', '/v1/admin/test-faults', { point, match, times })).status).toBe(200);
  }

  /** A patient with an active protocol. */
  async patient(key = 'lipid_reset'): Promise<string> {
    const id = randomUUID();
    this.#patients.push(id);
    const started = await this.rest('POST', '/v1/protocols', { user_id: id, kind: key === 'lipid_reset' ? 'protocol' : 'stack', key });
    expect(started.status).toBe(201);
    return id;
  }

  /** A patient of whom nothing is stored. */
  stranger(): string {
    const id = randomUUID();
    this.#patients.push(id);
    return id;
  }

  /** Body of POST /v1/retest-cycles. */
  cycleBody(patient: string, options: CycleOptions = {}): Record<string, unknown> {
    const {
      code = 'ldl_c',
      value = 160,
      unit = UNITS[code],
      comparator,
      collectedAt = T0,
      drawId = randomUUID(),
      performer = 'lab_a',
      key = 'lipid_reset',
      more = {},
    } = options;
    return {
      patient_id: patient,
      code,
      baseline: { draw_id: drawId, collected_at: collectedAt, value, unit, performer, ...(comparator && { comparator }) },
      intervention: { kind: key === 'lipid_reset' ? 'protocol' : 'stack', key },
      brand_id: BRAND,
      ...more,
    };
  }

  async cycle(patient: string, options: CycleOptions = {}): Promise<any> {
    const answer = await this.rest('POST', '/v1/retest-cycles', this.cycleBody(patient, options));
    expect(answer).toMatchObject({ status: 201 });
    return answer.body;
  }

  async read(cycleId: string): Promise<any> {
    return (await this.rest('GET', `/v1/retest-cycles/${cycleId}`)).body;
  }

  /** Row of POST /v1/biomarkers. */
  row(result: Result): Record<string, unknown> {
    const {
      code,
      value,
      comparator,
      textValue,
      collectedAt,
      drawId = randomUUID(),
      source = 'lab',
      performer = 'lab_a',
      sourceRef = randomUUID(),
      status = 'final',
    } = result;
    return {
      code,
      ...(value !== undefined && { value, unit: result.unit ?? UNITS[code] }),
      ...(comparator && { comparator }),
      ...(textValue && { text_value: textValue }),
      collected_at: collectedAt,
      ...(source === 'lab' || source === 'partner' ? { draw_id: drawId } : {}),
      source,
      ...(performer && { performer }),
      source_ref: sourceRef,
      status,
    };
  }

  post(patient: string, ...results: Result[]): Promise<Answer> {
    return this.rest('POST', '/v1/biomarkers', { user_id: patient, observations: results.map(result => this.row(result)) });
  }

  /** Stores a laboratory's result and waits until the re-test handler has seen it. */
  async lab(patient: string, result: Result): Promise<any> {
    const answer = await this.post(patient, result);
    expect(answer).toMatchObject({ status: 201 });
    await this.handled(answer.body.data[0].id);
    return answer.body.data[0];
  }

  /** Waits until the re-test handler has settled an observation's event. */
  async handled(observationId: string): Promise<void> {
    await until(
      'the re-test handler',
      () =>
        this.p.sql(
          `select 1 from events.outbox o join clinical.inbox i on i.event_id = o.id and i.consumer = 'clinical.retest'
       where o.type = 'clinical.biomarker.added.v1' and o.data->>'observation_id' = $1`,
          [observationId],
        ),
      rows => rows.length === 1,
    );
  }

  /** Sweeps; while the timer's own sweep runs, a manual one is refused with 409. */
  async sweep(): Promise<any> {
    const ask = () => this.rest('POST', '/v1/retest-cycles/sweep');
    const answer = await until('a sweep of our own', ask, ({ status }) => status !== 409);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  }

  /** Events about a patient, oldest first, without those of observations. */
  async events(patient: string): Promise<{ type: string; data: any; brand_id: string | null }[]> {
    return this.p.sql(`select type, data, brand_id from events.outbox where user_id = $1 and type like 'clinical.retest.%' order by seq`, [
      patient,
    ]);
  }

  async eventTypes(patient: string): Promise<string[]> {
    return (await this.events(patient)).map(event => event.type.replace(/^clinical\.retest\.|\.v1$/g, ''));
  }

  /** Publishes an event in the name of a service that need not be there. */
  async tell<E extends EventDefinition>(source: Slug, event: E, data: DataOf<E>, userId: string): Promise<void> {
    const by = { source, requestId: null, causationId: null, actor: `system:${source}`, traceparent: null };
    const rows = JSON.stringify([prepareEvent(event, data, { userId }, by)]);
    await this.p.sql(`begin; set local role platform_events; select events.append($rows$${rows}$rows$::json, null); commit`);
    this.p.host('clinical').transport.wake();
  }

  /** Erases the patients of a test, so that the next one's sweeps do not meet them. */
  async leave(): Promise<void> {
    for (const patient of this.#patients.splice(0))
      expect((await this.rest('POST', '/v1/admin/erasure', { patient_id: patient })).status).toBe(200);
  }
}
