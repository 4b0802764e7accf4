import type { Context, ServiceHost } from '../../../../runtime/request/context.js';
import { CommsTemplate, CommsTemplateVersion } from '../../entities/template.js';
import { CommsTemplateVersionStatus as Status } from '../../entities/enums.js';

/** How long a process believes what it has read, ms; a version that is published meanwhile is used after it. */
const KEEP_MS = 5_000;

export interface KnownTemplate {
  template: CommsTemplate;
  versions: readonly CommsTemplateVersion[];
}

const known = new WeakMap<ServiceHost, Map<string, { at: number; found: readonly KnownTemplate[] }>>();

/** Forgets what was read, after a change in this process. */
export const forgetVersions = (host: ServiceHost): void => void known.delete(host);

async function read(ctx: Context, key: string): Promise<readonly KnownTemplate[]> {
  const templates = await ctx.em.find(CommsTemplate, { key, archivedAt: null });
  const versions = await ctx.em.find(CommsTemplateVersion, {
    templateId: { $in: templates.map(({ id }) => id) },
    status: Status.PUBLISHED,
  });
  return templates.map(template => ({ template, versions: versions.filter(one => one.templateId === template.id) }));
}

/** A template by key: the brand's own, else the shared one; null for none. */
export async function templateFor(ctx: Context, key: string, brandId: string | null): Promise<KnownTemplate | null> {
  let all = known.get(ctx.host);
  if (!all) known.set(ctx.host, (all = new Map()));
  let one = all.get(key);
  if (!one || Date.now() - one.at > KEEP_MS) all.set(key, (one = { at: Date.now(), found: await read(ctx, key) }));
  return (
    one.found.find(({ template }) => template.brandId !== null && template.brandId === brandId) ??
    one.found.find(({ template }) => template.brandId === null) ??
    null
  );
}

/** The newest version in the first language of the chain that has one. Source: comms 4.2. */
export function versionFor({ versions }: KnownTemplate, channel: string, chain: readonly string[]): CommsTemplateVersion | null {
  for (const locale of chain) {
    const fit = versions.filter(one => one.channel === channel && one.locale === locale).sort((a, b) => b.number - a.number);
    if (fit[0]) return fit[0];
  }
  return null;
}

/** A person's language, its plain form, the brand's, English. */
export const localeChain = (locale: string | null, brandLocale: string): string[] => [
  ...new Set([...(locale ? [locale, locale.split('-')[0]!] : []), brandLocale, brandLocale.split('-')[0]!, 'en']),
];
