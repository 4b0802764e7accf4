import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';
import type { Texts, Variables } from '../rules/content.js';
import type { FreshRule } from '../rules/freshness.js';

/** A template as developers write it: `templates/<key>/`. */
export interface FileTemplate {
  key: string;
  topic: string;
  audience: 'USER' | 'STAFF' | 'CLIENT_OWNER';
  channels: readonly ('email' | 'sms' | 'push' | 'in_app')[];
  variables: Variables;
  example: Record<string, string | number | boolean>;
  /** Service whose data it needs. */
  owner: string | null;
  /** Asked at the moment of sending; null: nothing is. */
  document: StoredDocument | null;
  /** Variable of the document -> param, `$user`, `$users`, or `?param`: whether it is there. */
  arguments: Readonly<Record<string, string>>;
  /** Variable of the texts -> path in the answer. */
  display: Readonly<Record<string, string>>;
  fresh: FreshRule | null;
  calendar: { path: string; name: string } | null;
  texts: readonly { channel: 'email' | 'sms' | 'push' | 'in_app'; locale: string; texts: Texts & { action?: string } }[];
}

/** The same folder for sources and for what is built of them. */
function folder(): string {
  const beside = resolve(import.meta.dirname, '../templates');
  return existsSync(beside) ? beside : resolve(import.meta.dirname, '../../../../subgraphs/comms/templates');
}

const TEXT = /^(email|sms|push|in_app)\.([a-z]{2}(?:-[A-Z]{2})?)\.yaml$/;

type Written = Record<string, string>;

const textsOf = ({ lock_screen_body: lockScreenBody, deep_link: deepLink, ...texts }: Written): Texts => ({
  ...texts,
  ...(lockScreenBody !== undefined && { lockScreenBody }),
  ...(deepLink !== undefined && { deepLink }),
});

function read(root: string, key: string): FileTemplate {
  const at = (file: string): string => join(root, key, file);
  const told = JSON.parse(readFileSync(at('template.json'), 'utf8')) as Partial<FileTemplate>;
  const document = existsSync(at('display.graphql')) ? stored(readFileSync(at('display.graphql'), 'utf8')) : null;
  const texts = readdirSync(join(root, key)).flatMap(file => {
    const [, channel, locale] = TEXT.exec(file) ?? [];
    return channel
      ? [
          {
            channel: channel as FileTemplate['channels'][number],
            locale: locale!,
            texts: textsOf(parse(readFileSync(at(file), 'utf8')) as Written),
          },
        ]
      : [];
  });
  return { owner: null, arguments: {}, display: {}, fresh: null, calendar: null, ...told, key, document, texts } as FileTemplate;
}

let known: ReadonlyMap<string, FileTemplate> | null = null;

/** All templates that are written as files, read once. */
export function fileTemplates(): ReadonlyMap<string, FileTemplate> {
  if (!known) {
    const root = folder();
    const keys = readdirSync(root, { withFileTypes: true })
      .flatMap(entry => (entry.isDirectory() ? [entry.name] : []))
      .sort();
    known = new Map(keys.map(key => [key, read(root, key)]));
  }
  return known;
}
