import { describe, expect, test } from 'vitest';
import { compiledSeed, compileMjml } from '../../subgraphs/comms/ports/compile.js';
import { fileTemplates, type FileTemplate } from '../../subgraphs/comms/ports/template-files.js';
import { filledVersion, seededVersion } from '../../subgraphs/comms/commands/templates.js';
import { missingIn, publishFaults } from '../../subgraphs/comms/rules/content.js';
import { topicOf } from '../../subgraphs/comms/rules/topics.js';
import federation from '@apollo/federation-internals';
import { validate } from 'graphql';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { SERVICES } from '../../subgraphs/services.js';
import { sourcesIn, textOf } from './sources.js';

const templates = [...fileTemplates().values()];

/** Templates that somebody names where a message is asked for. */
const named = new Set(
  sourcesIn('subgraphs')
    .filter(file => !file.startsWith('subgraphs/comms/rules'))
    .map(textOf)
    .filter(text =>
      /requestMessage\(|notifyUser\(|notifyRole\(|alarm\(ctx|tell\(|visitTold\(|commissionChanged\(|accept\(|remind\(|const NOTICES/.test(
        text,
      ),
    )
    .flatMap(text => [
      ...[...text.matchAll(/template: (?:[^,'}\n]*\? )?'([a-z_]+)'(?: : '([a-z_]+)')?/g)].flatMap(match => [match[1]!, match[2]!]),
      ...[...text.matchAll(/(?:alarm\(ctx, |visitTold\(ctx, event, |commissionChanged\(ctx, event, )'([a-z_]+)'/g)].map(match => match[1]!),
    ])
    .filter(Boolean),
);

test('every template that an emitter names exists', () => {
  expect(named.size).toBeGreaterThan(80);
  expect([...named].filter(key => !fileTemplates().has(key)).sort()).toEqual([]);
});

/** By auth delivery the channel is identity's choice. */
const byDelivery = ({ topic }: FileTemplate): boolean => topic === 'security';

describe.each(templates.map(template => [template.key, template] as const))('template %s', (_key, template) => {
  const topic = topicOf(template.topic)!;

  test('is written in English for each channel that it is sent by', () => {
    const written = template.texts.filter(({ locale }) => locale === 'en').map(({ channel }) => channel);
    expect(written.sort()).toEqual([...template.channels].sort());
    expect(byDelivery(template) || template.channels.every(channel => topic.allowedChannels.includes(channel as never))).toBe(true);
  });

  test('marks each variable, and its example has all of them', () => {
    expect(Object.values(template.variables.properties).filter(one => !['plain', 'personal', 'health'].includes(one['x-class']))).toEqual(
      [],
    );
    expect(missingIn(template.variables, template.example)).toEqual([]);
  });

  test('may be published and renders from its example, without an exclamation and in few words', async () => {
    for (const text of template.texts) {
      const version = await seededVersion(text, topic.category === 'marketing');
      const faults = publishFaults({ channel: text.channel as never, texts: version, variables: template.variables, topic });
      expect(faults.filter(fault => !fault.startsWith('mjml: names {link}'))).toEqual([]);
      const made = filledVersion(
        template.example,
        { subject: null, title: null, body: null, text: null, ...version } as never,
        version.html ?? null,
      );
      const words = [made.subject, made.title, made.body, text.channel === 'sms' ? made.text : null].filter(one => one !== null).join(' ');
      expect(words).not.toMatch(/[{}!]/);
      expect(words.split(/\s+/).length).toBeLessThanOrEqual(75);
      if (made.html) expect(made.html).not.toMatch(/x-(heading|body|action)-x|\{[a-z_]+\}/);
    }
  });
});

test.each(['sign_in', 'visit_booked', 'retest_prompt'])('%s is written in German, too', key => {
  const { texts, channels } = fileTemplates().get(key)!;
  expect(
    texts
      .filter(({ locale }) => locale === 'de')
      .map(({ channel }) => channel)
      .sort(),
  ).toEqual([...channels].sort());
});

test('the layout is compiled once, whatever is put in', async () => {
  expect(await compiledSeed('Words', 'Act', { heading: 'Heading', lang: 'en' })).toContain('Heading');
});

test('no mail loads a font from elsewhere, whichever its text names', async () => {
  const html = await compileMjml(
    '<mjml><mj-body><mj-section><mj-column><mj-text font-family="Roboto, Lato">Hi</mj-text></mj-column></mj-section></mj-body></mjml>',
  );
  expect([html.includes('Roboto, Lato'), /googleapis|@import|<link/.test(html)]).toEqual([true, false]);
});

test('every document of a template whose owner exists is valid in the supergraph', async () => {
  const schema = federation.Supergraph.build(await readSupergraph())
    .apiSchema()
    .toGraphQLJSSchema();
  const wrong = templates
    .filter(({ document, owner }) => document !== null && owner !== null && owner in SERVICES)
    .flatMap(({ key, document }) => validate(schema, document!.document).map(error => `${key}: ${error.message}`));
  expect(wrong).toEqual([]);
});
