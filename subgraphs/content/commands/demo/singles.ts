import { MAIN_BRAND, type Document } from './corpus.js';

const html = (text: string) => ({ html: `<p>${text}</p>` });

/** One of each collection that the corpus has none of. */
export const SINGLES: readonly Document[] = [
  {
    key: 'stack:recovery',
    collection: 'STACKS',
    brandId: null,
    topic: { goal: 'recovery', aspect: 'stack' },
    refs: { goalIds: ['goal:recovery'] },
    en: {
      name: 'Recovery stack',
      slug: 'recovery-stack',
      summary: 'Two peptides that are described together.',
      components: [{ peptideId: '0190b3a0-0000-7000-8000-000000000000', role: 'Base', order: 1 }],
      safetyWarnings: 'Talk to a clinician first.',
    },
    de: {
      name: 'Erholungs-Stack',
      summary: 'Zwei Peptide, die zusammen beschrieben werden.',
      safetyWarnings: 'Sprechen Sie vorher mit ärztlichem Personal.',
    },
  },
  {
    key: 'page:about',
    collection: 'PAGES',
    brandId: MAIN_BRAND,
    topic: {},
    en: {
      path: '/about',
      title: 'About us',
      sections: [
        { hero: { heading: 'Evidence first', text: 'We show the certificate of every lot.', href: '/learn', linkText: 'Learn' } },
        { richText: { body: html('A shop that reads its sources.') } },
      ],
    },
    de: {
      path: '/ueber-uns',
      title: 'Über uns',
      sections: [
        { hero: { heading: 'Belege zuerst', text: 'Wir zeigen das Zertifikat jeder Charge.', href: '/learn', linkText: 'Lernen' } },
      ],
    },
  },
  {
    key: 'testimonial:one',
    collection: 'TESTIMONIALS',
    brandId: null,
    topic: {},
    en: {
      quote: 'The certificate of my lot was one click away.',
      displayName: 'A. Customer',
      rating: 5,
      consent: { givenAt: new Date('2026-11-01T09:00:00.000Z'), scope: 'WEB' },
      disclaimer: 'Results vary.',
      moderation: 'APPROVED',
    },
  },
];
