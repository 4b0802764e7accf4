import { createHash } from 'node:crypto';
import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { CommsChannel, CommsTemplateAudience, CommsTemplateVersionStatus as Status } from '../entities/enums.js';
import { CommsTemplate, CommsTemplateVersion, type CommsTemplatePreview } from '../entities/template.js';
import type {
  AddCommsTemplateVersionInput,
  CreateCommsTemplateInput,
  PreviewCommsTemplateInput,
  UpdateCommsTemplateInput,
} from '../inputs/templates.js';
import { compiledSeed, compileMjml } from '../ports/compile.js';
import { fileTemplates, type FileTemplate } from '../ports/template-files.js';
import { amountText, filled, filledHtml, publishFaults, type Values, type Variables } from '../rules/content.js';
import { layoutOf } from '../rules/layout.js';
import { topicOf, TOPICS } from '../rules/topics.js';
import { forgetVersions } from './pipeline/versions.js';

const CLASSES = ['plain', 'personal', 'health'];

function checkedVariables(value: Record<string, unknown>): Variables {
  const { properties, required = [] } = value as Partial<Variables>;
  const faults = Object.entries(properties ?? {}).filter(([, one]) => !CLASSES.includes(one?.['x-class']));
  if (!properties || typeof properties !== 'object' || !Array.isArray(required))
    invalid('/input/variables', 'must be a JSON Schema of an object');
  if (faults.length) invalid('/input/variables', `must mark ${faults[0]![0]} plain, personal or health`);
  return { type: 'object', properties, required };
}

/** @throws Problem invalid_request, conflict where the key is taken. */
export async function createTemplate(ctx: Context, input: CreateCommsTemplateInput): Promise<CommsTemplate> {
  if (!topicOf(input.topic)) invalid('/input/topic', 'is no topic');
  const variables = checkedVariables(input.variables);
  const brandId = input.brandId?.toLowerCase() ?? null;
  await ctx.sql(LOCK);
  if (await ctx.em.findOne(CommsTemplate, { key: input.key, brandId })) fail('conflict', 'The key is taken');
  const shared = await ctx.em.findOne(CommsTemplate, { key: input.key });
  if (shared && shared.topic !== input.topic) invalid('/input/topic', `must be ${shared.topic}, as of the shared template`);
  const template = Object.assign(new CommsTemplate(), { ...input, brandId, variables, createdAt: ctx.now() });
  ctx.em.persist(template);
  ctx.audit('template.created', template.id, { key: input.key });
  ctx.afterCommit(() => forgetVersions(ctx.host));
  return template;
}

export async function updateTemplate(ctx: Context, { id, variables, example }: UpdateCommsTemplateInput): Promise<CommsTemplate> {
  const template = await lockRow(ctx, CommsTemplate, { id });
  if (variables) template.variables = checkedVariables(variables) as unknown as Record<string, unknown>;
  if (example) template.example = example;
  ctx.audit('template.updated', id);
  ctx.afterCommit(() => forgetVersions(ctx.host));
  return template;
}

/** Takes a template out of use; what was sent by it stays. */
export async function archiveTemplate(ctx: Context, id: string): Promise<boolean> {
  const template = await lockRow(ctx, CommsTemplate, { id });
  template.archivedAt ??= ctx.now();
  ctx.audit('template.archived', id);
  ctx.afterCommit(() => forgetVersions(ctx.host));
  return true;
}

/** A draft of the next number. */
export async function addVersion(
  ctx: Context,
  { id, channel, locale, ...texts }: AddCommsTemplateVersionInput,
): Promise<CommsTemplateVersion> {
  const template = await lockRow(ctx, CommsTemplate, { id });
  const number = 1 + (await ctx.em.count(CommsTemplateVersion, { templateId: id.toLowerCase(), channel, locale }));
  const version = Object.assign(new CommsTemplateVersion(), {
    ...texts,
    templateId: template.id,
    channel,
    locale,
    number,
    createdBy: actorOf(ctx.caller),
    createdAt: ctx.now(),
  });
  for (const [name, value] of Object.entries(texts)) if (value === undefined) Object.assign(version, { [name]: null });
  ctx.em.persist(version);
  ctx.audit('template.version_added', version.id, { key: template.key, channel, locale, number });
  return version;
}

const faultsOf = (template: CommsTemplate, version: CommsTemplateVersion): string[] =>
  publishFaults({
    channel: version.channel,
    texts: version,
    variables: template.variables as unknown as Variables,
    topic: topicOf(template.topic)!,
  });

/** Looks for faults and compiles, before the transaction. @throws Problem invalid_request with all of them. */
export const compiled = preparation(
  async (ctx: Context, { templateId, id }: { templateId: string; id: string }): Promise<string | null> => {
    const version = await requireRow(ctx, CommsTemplateVersion, { id, templateId });
    const template = await requireRow(ctx, CommsTemplate, { id: version.templateId });
    const faults = faultsOf(template, version);
    if (faults.length)
      fail('invalid_request', 'The version cannot be published', {
        errors: faults.map(message => ({ pointer: `/${message.split(':')[0]}`, message })),
      });
    return version.mjml === null ? null : compileMjml(version.mjml);
  },
);

/** From now on it is what is sent. @throws Problem conflict for one that is published. */
export async function publishVersion(ctx: Context, templateId: string, id: string): Promise<CommsTemplateVersion> {
  const version = await lockRow(ctx, CommsTemplateVersion, { id, templateId });
  if (version.status !== Status.DRAFT) fail('conflict', 'a version that is published cannot be published');
  Object.assign(version, { html: compiled.of(ctx), status: Status.PUBLISHED, publishedAt: ctx.now() });
  ctx.audit('template.version_published', id, { channel: version.channel, locale: version.locale, number: version.number });
  ctx.afterCommit(() => forgetVersions(ctx.host));
  return version;
}

/** A version filled in with the example; nothing is sent. @throws Problem not_found; invalid_request for no id and no key, or both, and for words that cannot be filled in. */
export async function previewTemplate(
  ctx: Context,
  { id, key, channel, locale }: PreviewCommsTemplateInput,
): Promise<CommsTemplatePreview> {
  if ((id == null) === (key == null)) invalid('/input/key', 'is given in place of the id');
  const template = await requireRow(ctx, CommsTemplate, id != null ? { id } : { key: key!, brandId: null });
  const versions = await ctx.em.find(
    CommsTemplateVersion,
    { templateId: template.id, channel, locale },
    { orderBy: { number: 'desc' }, limit: 1 },
  );
  const version = versions[0] ?? fail('not_found', 'Not found');
  const html = version.html ?? (version.mjml && (await compileMjml(version.mjml)));
  try {
    return filledVersion(template.example as Values, version, html);
  } catch (error) {
    const errors = [{ pointer: '/input/id', message: `version ${version.number}: ${(error as Error).message.split('\n')[0]}` }];
    return fail('invalid_request', 'The template cannot be filled in', { errors });
  }
}

/** What a version says with given values. */
export function filledVersion(
  example: Values,
  version: Pick<CommsTemplateVersion, 'channel' | 'locale' | 'subject' | 'title' | 'body' | 'text'>,
  html: string | null,
): CommsTemplatePreview {
  const { locale, channel } = version;
  const values = {
    link: 'https://example.test/m/example',
    unsubscribe_url: 'https://example.test/unsubscribe',
    preferences_url: 'https://example.test/preferences',
    brand: 'Example',
    contact: 'support@example.test',
    detail: 'hidden',
    has_code: example.code ? 'yes' : 'no',
    amount_text: amountText(example.amount, example.currency, locale),
    ...example,
  };
  const fill = (text: string | null): string | null => (text === null ? null : filled(text, values, { locale, zone: 'UTC' }));
  return {
    channel,
    locale,
    subject: fill(version.subject),
    title: fill(version.title),
    body: fill(version.body),
    text: fill(version.text),
    html: html && filledHtml(html, values, { locale, zone: 'UTC' }),
  };
}

type Written = FileTemplate['texts'][number];

/** A text of a file as a version; a mail gets the shared layout. */
export async function seededVersion({ channel, locale, texts }: Written, marketing: boolean): Promise<Partial<CommsTemplateVersion>> {
  const {
    action = null,
    why = null,
    lockScreenBody = null,
    subject = null,
    preheader = null,
    title = null,
    body = null,
    text = null,
  } = texts;
  const shared = { channel: channel as CommsChannel, locale, why, lockScreenBody };
  if (channel === CommsChannel.SMS) return { ...shared, text };
  if (channel !== CommsChannel.EMAIL) return { ...shared, title, body };
  const way = marketing ? '<br /><br /><a href="{unsubscribe_url}">Unsubscribe</a>' : '';
  const words = `${body}${way}`;
  const plain = [title, body, action === null ? null : `${action}: {link}`].filter(Boolean).join('\n\n');
  const shown = { heading: title!, lang: locale };
  const mjml = layoutOf(words, action, shown);
  return { ...shared, subject, preheader, title, body, text: plain, mjml, html: await compiledSeed(words, action, shown) };
}

const KEY = 'templates';
const LAYOUT = layoutOf('', '', { heading: '', lang: '' });
const filesHash = (): string =>
  createHash('sha256')
    .update(JSON.stringify([LAYOUT, TOPICS, [...fileTemplates().values()].map(({ document, ...rest }) => [rest, document?.source])]))
    .digest('hex');

const TOPIC = `
insert into comms.topic (key, names, descriptions, category, default_channels, allowed_channels, mandatory, digestible, urgent) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (key) do update set names = excluded.names, descriptions = excluded.descriptions, default_channels = excluded.default_channels, allowed_channels = excluded.allowed_channels,
  mandatory = excluded.mandatory, digestible = excluded.digestible, urgent = excluded.urgent`;

const SYNCED =
  'insert into comms.provider_state (key, at, detail) values ($1, $2, $3) on conflict (key) do update set at = excluded.at, detail = excluded.detail';
const LOCK = "select pg_advisory_xact_lock(hashtextextended('comms-templates', 7))";

async function syncOne(ctx: Context, file: FileTemplate, versions: readonly Partial<CommsTemplateVersion>[]): Promise<void> {
  const told = {
    topic: file.topic,
    variables: file.variables as unknown as Record<string, unknown>,
    example: file.example,
    audience: file.audience.toLowerCase() as CommsTemplateAudience,
  };
  const old = await ctx.em.findOne(CommsTemplate, { key: file.key, brandId: null });
  const template = old ? Object.assign(old, told) : Object.assign(new CommsTemplate(), { key: file.key, createdAt: ctx.now(), ...told });
  if (!old) ctx.em.persist(template);
  const stored = old ? await ctx.em.find(CommsTemplateVersion, { templateId: template.id }) : [];
  for (const version of versions) {
    const before = stored.filter(one => one.channel === version.channel && one.locale === version.locale);
    const written = before.filter(one => one.createdBy === 'files').sort((a, b) => b.number - a.number)[0];
    if (
      written &&
      ['subject', 'preheader', 'title', 'body', 'text', 'mjml', 'why', 'lockScreenBody'].every(
        name => (written as never)[name] === ((version as never)[name] ?? null),
      )
    )
      continue;
    const times = { createdAt: ctx.now(), publishedAt: ctx.now(), createdBy: 'files', status: Status.PUBLISHED };
    ctx.em.persist(Object.assign(new CommsTemplateVersion(), version, { templateId: template.id, number: before.length + 1, ...times }));
  }
}

/**
 * Brings topics and templates to what the files say, once for each state of the files: a text that has changed becomes a version of its
 * own. What was edited at run time stays until the file changes.
 */
export async function syncTemplates(host: ServiceHost): Promise<void> {
  const hash = filesHash();
  const read = () => host.read(ctx => ctx.sql<{ detail: string }>('select detail from comms.provider_state where key = $1', [KEY]));
  if ((await read())[0]?.detail === hash) return;
  const versions = new Map<string, Partial<CommsTemplateVersion>[]>();
  for (const file of fileTemplates().values())
    versions.set(file.key, await Promise.all(file.texts.map(text => seededVersion(text, topicOf(file.topic)!.category === 'marketing'))));
  await host.transaction(async ctx => {
    await ctx.sql(LOCK);
    const [now] = await ctx.sql<{ detail: string }>('select detail from comms.provider_state where key = $1', [KEY]);
    if (now?.detail === hash) return;
    for (const one of TOPICS)
      await ctx.sql(TOPIC, [
        one.key,
        JSON.stringify(one.names),
        JSON.stringify(one.descriptions),
        one.category,
        one.defaultChannels,
        one.allowedChannels,
        one.mandatory,
        one.digestible,
        one.urgent,
      ]);
    for (const file of fileTemplates().values()) await syncOne(ctx, file, versions.get(file.key)!);
    await ctx.em.flush();
    await ctx.sql(SYNCED, [KEY, ctx.now().toISOString(), hash]);
  });
  forgetVersions(host);
}
