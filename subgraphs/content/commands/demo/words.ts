/** Subjects of the demo site: peptides, goals, and what is told of each, in two languages. */

export interface Subject {
  key: string;
  name: string;
  aliases: readonly string[];
  goal: string;
  /** What it is studied for, in English and German. */
  topic: readonly [en: string, de: string];
  batch: string;
}

const subject = (key: string, name: string, aliases: readonly string[], goal: string, en: string, de: string): Subject => ({
  key,
  name,
  aliases,
  goal,
  topic: [en, de],
  batch: `${key.replaceAll('-', '').slice(0, 4).toUpperCase()}${String(2600 + key.length)}${key === 'ghrp-6' ? 'B' : ''}`, // beside GHRP-2's
});

export const SUBJECTS: readonly Subject[] = [
  subject('bpc-157', 'BPC-157', ['Body Protection Compound'], 'recovery', 'tendon and ligament repair', 'Heilung von Sehnen und Bändern'),
  subject(
    'tb-500',
    'TB-500',
    ['Thymosin Beta-4 fragment'],
    'recovery',
    'muscle injury and flexibility',
    'Muskelverletzungen und Beweglichkeit',
  ),
  subject(
    'cjc-1295',
    'CJC-1295',
    ['Modified GRF'],
    'muscle-growth',
    'growth hormone release over days',
    'Ausschüttung von Wachstumshormon über Tage',
  ),
  subject(
    'ipamorelin',
    'Ipamorelin',
    ['NNC 26-0161'],
    'muscle-growth',
    'selective growth hormone pulses',
    'gezielte Pulse von Wachstumshormon',
  ),
  subject(
    'sermorelin',
    'Sermorelin',
    ['GHRH 1-29'],
    'longevity',
    'age related decline of growth hormone',
    'altersbedingter Rückgang von Wachstumshormon',
  ),
  subject('tesamorelin', 'Tesamorelin', ['TH9507'], 'fat-loss', 'visceral abdominal fat', 'Bauchfett an den Organen'),
  subject('ghk-cu', 'GHK-Cu', ['Copper tripeptide'], 'skin', 'collagen and wrinkles', 'Kollagen und Falten'),
  subject('thymosin-alpha-1', 'Thymosin Alpha-1', ['Thymalfasin'], 'immunity', 'immune response to vaccines', 'Immunantwort auf Impfungen'),
  subject('selank', 'Selank', ['TP-7'], 'focus', 'calm without sedation', 'Ruhe ohne Müdigkeit'),
  subject('semax', 'Semax', ['MEHFPGP'], 'focus', 'attention and memory', 'Aufmerksamkeit und Gedächtnis'),
  subject('dsip', 'DSIP', ['Delta sleep inducing peptide'], 'sleep', 'deep sleep and falling asleep', 'Tiefschlaf und Einschlafen'),
  subject('epitalon', 'Epitalon', ['Epithalon', 'AEDG'], 'longevity', 'telomeres and circadian rhythm', 'Telomere und Tagesrhythmus'),
  subject(
    'mots-c',
    'MOTS-c',
    ['Mitochondrial ORF'],
    'fat-loss',
    'mitochondria and insulin sensitivity',
    'Mitochondrien und Insulinempfindlichkeit',
  ),
  subject('aod-9604', 'AOD-9604', ['hGH fragment 176-191'], 'fat-loss', 'lipolysis in fat cells', 'Fettabbau in Fettzellen'),
  subject('pt-141', 'PT-141', ['Bremelanotide'], 'libido', 'sexual desire', 'sexuelles Verlangen'),
  subject('ll-37', 'LL-37', ['Cathelicidin'], 'immunity', 'antimicrobial defence of the skin', 'Abwehr von Keimen auf der Haut'),
  subject('kpv', 'KPV', ['Lysine proline valine'], 'gut-health', 'inflammation of the bowel', 'Entzündung des Darms'),
  subject('ss-31', 'SS-31', ['Elamipretide'], 'longevity', 'energy of the ageing heart', 'Energie des alternden Herzens'),
  subject(
    'kisspeptin-10',
    'Kisspeptin-10',
    ['Metastin fragment'],
    'libido',
    'release of reproductive hormones',
    'Ausschüttung von Geschlechtshormonen',
  ),
  subject('oxytocin', 'Oxytocin', ['Pitocin'], 'libido', 'bonding and trust', 'Bindung und Vertrauen'),
  subject('melanotan-2', 'Melanotan-2', ['MT-2'], 'skin', 'tanning of the skin', 'Bräunung der Haut'),
  subject('vip', 'VIP', ['Vasoactive intestinal peptide'], 'gut-health', 'airways and blood vessels', 'Atemwege und Blutgefäße'),
  subject('ghrp-2', 'GHRP-2', ['Pralmorelin'], 'muscle-growth', 'appetite and growth hormone', 'Appetit und Wachstumshormon'),
  subject('ghrp-6', 'GHRP-6', ['SKF-110679'], 'muscle-growth', 'hunger and gastric emptying', 'Hunger und Magenentleerung'),
];

export interface Goal {
  key: string;
  name: readonly [en: string, de: string];
  about: readonly [en: string, de: string];
}

export const GOALS: readonly Goal[] = [
  {
    key: 'recovery',
    name: ['Recovery', 'Erholung'],
    about: ['Return to training after an injury.', 'Nach einer Verletzung zurück ins Training.'],
  },
  {
    key: 'sleep',
    name: ['Sleep', 'Schlaf'],
    about: ['Fall asleep sooner and wake rested.', 'Schneller einschlafen und erholt aufwachen.'],
  },
  { key: 'skin', name: ['Skin', 'Haut'], about: ['Firmness, wounds and wrinkles.', 'Festigkeit, Wunden und Falten.'] },
  { key: 'focus', name: ['Focus', 'Konzentration'], about: ['Attention through a working day.', 'Aufmerksamkeit durch den Arbeitstag.'] },
  { key: 'immunity', name: ['Immunity', 'Immunsystem'], about: ['Defence against infections.', 'Abwehr von Infekten.'] },
  { key: 'fat-loss', name: ['Fat loss', 'Fettabbau'], about: ['Lose weight and keep muscle.', 'Gewicht verlieren und Muskeln behalten.'] },
  { key: 'muscle-growth', name: ['Muscle growth', 'Muskelaufbau'], about: ['Strength and lean mass.', 'Kraft und Magermasse.'] },
  { key: 'libido', name: ['Libido', 'Libido'], about: ['Desire and hormones.', 'Verlangen und Hormone.'] },
  { key: 'gut-health', name: ['Gut health', 'Darmgesundheit'], about: ['Digestion and a calm bowel.', 'Verdauung und ein ruhiger Darm.'] },
  { key: 'longevity', name: ['Longevity', 'Langlebigkeit'], about: ['Healthy years in old age.', 'Gesunde Jahre im Alter.'] },
];

/** What articles tell of each peptide. */
export const ASPECTS = {
  mechanism: {
    title: [(name: string) => `How ${name} works`, (name: string) => `Wie ${name} wirkt`],
    text: [
      'The receptors it binds, the pathway it starts, and what cell studies show about the mechanism of action.',
      'Die Rezeptoren, an die es bindet, der Signalweg, den es startet, und was Zellstudien über den Wirkmechanismus zeigen.',
    ],
  },
  storage: {
    title: [(name: string) => `Storing ${name}`, (name: string) => `${name} richtig lagern`],
    text: [
      'Keep the powder frozen, refrigerate it once it is reconstituted with bacteriostatic water, and discard it after its shelf life.',
      'Das Pulver gefroren aufbewahren, nach dem Auflösen mit bakteriostatischem Wasser in den Kühlschrank stellen und nach der Haltbarkeit entsorgen.',
    ],
  },
  safety: {
    title: [(name: string) => `Side effects of ${name}`, (name: string) => `Nebenwirkungen von ${name}`],
    text: [
      'Adverse reactions that trials reported, who should avoid it, interactions with medicines, and when to see a doctor.',
      'Unerwünschte Wirkungen aus Studien, wer es meiden sollte, Wechselwirkungen mit Arzneimitteln und wann man zum Arzt gehen sollte.',
    ],
  },
  evidence: {
    title: [(name: string) => `What studies say about ${name}`, (name: string) => `Was Studien über ${name} sagen`],
    text: [
      'Human trials, animal experiments and their limits: how strong the evidence is and what remains unknown.',
      'Versuche mit Menschen, Tierversuche und ihre Grenzen: wie stark die Belege sind und was offen bleibt.',
    ],
  },
} as const;
export type Aspect = keyof typeof ASPECTS;

/** Questions that are not about one peptide. */
export const QUESTIONS: readonly (readonly [key: string, en: string, de: string, answerEn: string, answerDe: string])[] = [
  [
    'shipping',
    'How long does delivery take?',
    'Wie lange dauert die Lieferung?',
    'Parcels leave within a day and arrive in two to four days.',
    'Pakete gehen innerhalb eines Tages hinaus und kommen in zwei bis vier Tagen an.',
  ],
  [
    'returns',
    'Can I return an order?',
    'Kann ich eine Bestellung zurückgeben?',
    'Unopened vials can be sent back within thirty days for a refund.',
    'Ungeöffnete Fläschchen können innerhalb von dreißig Tagen gegen Erstattung zurückgesandt werden.',
  ],
  [
    'certificate',
    'How do I read a certificate of analysis?',
    'Wie lese ich ein Analysezertifikat?',
    'Compare the batch number on the vial with the report, then look at purity and identity.',
    'Vergleichen Sie die Chargennummer auf dem Fläschchen mit dem Bericht, dann Reinheit und Identität.',
  ],
  [
    'water',
    'What is bacteriostatic water?',
    'Was ist bakteriostatisches Wasser?',
    'Sterile water with a little benzyl alcohol, used to dissolve powder.',
    'Steriles Wasser mit etwas Benzylalkohol, mit dem Pulver gelöst wird.',
  ],
  [
    'syringe',
    'Which syringe is used?',
    'Welche Spritze wird benutzt?',
    'An insulin syringe with units on its barrel.',
    'Eine Insulinspritze mit Einheiten auf dem Zylinder.',
  ],
  [
    'payment',
    'Which payment methods are there?',
    'Welche Zahlungsarten gibt es?',
    'Cards, bank transfer and credit from a gift.',
    'Karten, Überweisung und Guthaben aus einem Geschenk.',
  ],
  [
    'prescription',
    'Do I need a prescription?',
    'Brauche ich ein Rezept?',
    'Some products are sold only after a consultation with a clinician.',
    'Manche Produkte gibt es nur nach einem Gespräch mit ärztlichem Personal.',
  ],
  [
    'doping',
    'Are peptides allowed in sports?',
    'Sind Peptide im Sport erlaubt?',
    'Many are on the prohibited list of the anti-doping agency.',
    'Viele stehen auf der Verbotsliste der Anti-Doping-Agentur.',
  ],
  [
    'subscription',
    'How do I pause a subscription?',
    'Wie pausiere ich ein Abonnement?',
    'In your account, before the next renewal.',
    'In Ihrem Konto, vor der nächsten Verlängerung.',
  ],
  [
    'travel',
    'Can I travel with vials?',
    'Kann ich mit Fläschchen reisen?',
    'Carry a cool pack and the label in your hand luggage.',
    'Mit Kühlpack und Etikett im Handgepäck.',
  ],
];
