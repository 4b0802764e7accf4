import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { Slug } from '../../events/slugs.js';
import { DEMO, platform, type Answer, type TestPlatform } from '../support/platform.js';

/** Where the service's clock stands at the beginning. */
export const T0 = '2027-02-01T09:00:00.000Z';

export const AUTHOR = { name: 'Editorial team', credentials: null };
export const BODY = { html: '<h2>Match the batch</h2><p>Compare the number on the vial with the report.</p>' };

/** A word that nothing else holds, and that resembles no other. */
export const word = (): string =>
  randomBytes(12)
    .toString('hex')
    .replace(/[0-9]/g, digit => 'ghjkmnpqrs'[Number(digit)]!);

/** The content service as its editors and readers see it. */
export class Editors {
  private constructor(
    readonly p: TestPlatform,
    readonly token: string,
    readonly reader: string,
    readonly member: string,
  ) {}

  static async open(services: readonly Slug[] = ['content'], env: Record<string, string> = {}): Promise<Editors> {
    const p = await platform({ services: [...services], env });
    await p.clock('content', { now: T0 });
    const [token, reader, member] = await Promise.all([
      p.serviceToken('admin:content'),
      p.serviceToken('admin:jobs'),
      p.userToken(DEMO, ['read:content', 'read:account', 'read:research_papers']),
    ]);
    return new Editors(p, token, reader, member);
  }

  rest(method: string, path: string, body?: unknown, token: string | null = this.token, headers?: Record<string, string>): Promise<Answer> {
    return this.p.rest(method, `/content/v1${path}`, { token, body, headers });
  }

  /** As a storefront's service token, which has no admin:content. */
  read(path: string, headers?: Record<string, string>, token = this.reader): Promise<Answer> {
    return this.rest('GET', path, undefined, token, headers);
  }

  async ask(query: string, variables: object = {}, token: string | null = this.token): Promise<any> {
    const { data, errors } = await this.p.graphql(query, variables, { token });
    expect(errors).toEqual([]);
    return data;
  }

  /** The errors of an operation that is refused. */
  async refused(query: string, variables: object = {}, token: string | null = this.token) {
    const { errors } = await this.p.graphql(query, variables, { token });
    return errors[0]?.extensions;
  }

  async make(path: string, body: object): Promise<any> {
    const answer = await this.rest('POST', path, body);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
    return answer.body;
  }

  article(more: object = {}): Promise<any> {
    return this.make('/learn-articles', {
      title: `Article ${word()}`,
      excerpt: 'Five lines that matter.',
      body: BODY,
      author: AUTHOR,
      ...more,
    });
  }

  publish(id: string, more: object = {}): Promise<any> {
    return this.ask('mutation ($input: PublishContentInput!) { publishContent(input: $input) { id revision version slug } }', {
      input: { id, ...more },
    });
  }

  publishing(id: string, more: object = {}) {
    return this.refused('mutation ($input: PublishContentInput!) { publishContent(input: $input) { id } }', { input: { id, ...more } });
  }

  async version(id: string): Promise<number> {
    return (await this.p.sql<{ version: number }>('select version from content.content_item where id = $1', [id]))[0]!.version;
  }

  async update(type: string, id: string, more: object): Promise<any> {
    const input = { id, version: await this.version(id), ...more };
    const data = await this.ask(
      `mutation ($input: ${type}UpdateInput!) { update${type}(input: $input) { id revision version slug warnings } }`,
      { input },
    );
    return data[`update${type}`];
  }

  async updating(type: string, id: string, more: object) {
    const input = { id, version: await this.version(id), ...more };
    return this.refused(`mutation ($input: ${type}UpdateInput!) { update${type}(input: $input) { id } }`, { input });
  }
}
