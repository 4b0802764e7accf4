import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Proof = readonly [file: string, ...titles: string[]];

/** The acceptance cases of the contract, section 10, each with the tests that prove it, by their titles. */
const CASES: readonly (readonly [number: number, sentence: string, ...proofs: Proof[]])[] = [
  [
    1,
    'both flags off, POST retest-cycles: 403 forbidden; nothing stored, no event',
    ['retest-start', 'is 403 forbidden while the cycle flag is off, stores nothing and tells nobody'],
  ],
  [
    2,
    'cycle flag on, POST: 201, due 2026-10-30T08:00Z, expires 2026-11-29T08:00Z; cycle_started with window_days 90, no value in data',
    [
      'retest-start',
      'captures a baseline: due after the window, expiring after the grace, answered as the contract shows it',
      'tells code, protocol, window and times, and no value',
    ],
  ],
  [
    3,
    'same again, same with window 60, 10 in parallel: 200 same id, window 90; one cycle, one event',
    [
      'retest-start',
      'again for the same patient, marker and draw is the stored cycle, whatever else it says and in any state',
      'ten at once make one cycle and one event',
    ],
  ],
  [
    4,
    'prompt flag off, sweeps: baseline_set, prompt_count 0, no event, skipped_flag at least 1',
    ['retest-sweep', 'prompts nobody while the prompt flag is off'],
  ],
  [
    5,
    'ldl 130 at day 95: retested directly, delta -30, improved, days 95, organic; event recorded with 3 keys',
    ['retest-outcome', 'LDL-C 160 -> 130 on day 95 without a prompt: retested, improved, organic, and an Outcome Record of three keys'],
  ],
  [
    6,
    'ldl 160 to 131: unchanged, within_noise (limit 130.35)',
    ['retest-outcome', 'LDL-C 160 -> 131: unchanged within noise (limit 130.35)'],
  ],
  [
    7,
    'prompt flag on for A only, cycles of A and C due, sweep: A prompted count 1 with event; C unchanged',
    ['retest-sweep', 'prompts a due cycle of a (brand, user) for whom the flag is on, and no other'],
  ],
  [
    8,
    'sweeps to T0 + 121 d: prompts at days 90, 104, 118, count 3, then expired after day 120; no 4th prompt, one expired event',
    ['retest-sweep', 'by its timer prompts on days 90, 104 and 118 and expires after day 120, once each'],
  ],
  [9, 'due cycle, flag source !error, sweep: no prompt, 200, skipped_flag', ['retest-sweep', 'reads a flag that cannot be read as off']],
  [
    10,
    '3 due cycles, a test fault on the second, sweep and next sweep: 2 prompted, failed 1; then 1 prompted',
    ['retest-sweep', 'goes on when one cycle fails, and tries that one again at the next run'],
  ],
  [
    11,
    'lab collected exactly at expiresAt: retested; 1 ms later: expired at the next sweep',
    ['retest-sweep', 'a lab collected exactly at expiry counts; one millisecond later the cycle expires'],
  ],
  [
    12,
    'tsh 6.0 to 0.35: improved with crossed_target; 6.0 to 0.20: worsened; 2.0 to 1.2: unchanged inside_target',
    [
      'retest-outcome',
      'TSH 6.0 -> 0.35: improved, across the target',
      'TSH 6.0 -> 0.20: worsened',
      'TSH 2.0 -> 1.2: unchanged inside the target',
    ],
  ],
  [
    13,
    'vitamin D 24 ng/mL to 30: unchanged; to 30.2: improved; to 75.4 nmol/L: improved (30.21 ng/mL)',
    [
      'retest-outcome',
      'vitamin D 24 -> 30 ng/mL: unchanged',
      'vitamin D 24 -> 30.2 ng/mL: improved',
      'vitamin D 24 ng/mL -> 75.4 nmol/L: improved, 30.21 ng/mL',
    ],
  ],
  [
    14,
    'hba1c 6.4 % to 41 mmol/mol: canonical 5.9 %, improved, delta -0.5',
    ['retest-outcome', 'HbA1c 6.4 % -> 41 mmol/mol: 5.9 %, improved, delta -0.5'],
  ],
  [
    15,
    'hs_crp 2.0 to <0.3: improved, delta null; 0.4 to <0.3: unchanged; both basis censored',
    ['retest-outcome', 'hs-CRP 2.0 -> <0.3: improved, censored, no delta', 'hs-CRP 0.4 -> <0.3: unchanged, censored'],
  ],
  [
    16,
    'follow-up with source manual or wearable, same draw_id, earlier than baseline: cycle stays open',
    ['retest-outcome', 'a manual value', 'a wearable value', 'for a result of the same draw', 'a draw before the baseline'],
  ],
  [
    17,
    '6 retested, 3 expired, 4 + 2 open, GET stats: rate 0.6667, counts as given; with ?code=ldl_c 403; without the scope 403',
    [
      'retest-stats',
      '6 retested, 3 expired, 4 and 2 open: rate 0.6667, counts, average and who came without a prompt',
      'is open to a member with read:clinical, unfiltered, and to nobody without the scope',
    ],
  ],
  [18, 'nothing closed, stats: retest_rate null, 200', ['retest-stats', 'has no rate while nothing is closed']],
  [
    19,
    'retest handler down, POST /v1/biomarkers: 201; later recovered: cycle recorded once',
    ['retest-outcome', 'may be down: ingestion answers 201, and once it is back the cycle is recorded once'],
  ],
  [
    20,
    'erasure of A: cycles, observations, reports gone; stats without them; audit holds counts only',
    [
      'privacy',
      'deletes everything that is keyed by patient_id, answers counts per table, and does so once',
      'leaves counts only in the audit log, and takes the cycles out of the statistics',
    ],
    ['canaries', 'erasure leaves nothing of the person in clinical but counts, and the statistics go on'],
  ],
  [
    21,
    'potassium 6.6: interpretation hh, panic alert, event severity panic, acknowledge_by = +1 h; member list hides it until acknowledged or 24 h',
    [
      'alerts',
      'beyond the panic limit raises an alert and tells of it without the value; an hour to acknowledge',
      'is hidden from the member until it is acknowledged, in results, cycles and by id; the care team sees it at once',
      'that nobody acknowledges is shown after 24 h, and its alert is escalated after an hour, told again',
    ],
  ],
  [
    22,
    'PDF with 12 rows, one unit missing: 202; needs_review, 11 accepted rows; after review 12 observations, one parsed event count 12',
    ['reports', 'with one unit missing waits for a person with 11 accepted rows; after the review there are 12 results and one event'],
  ],
  [
    23,
    "B's token, GET A's observation, cycle, report: 404 each",
    ['privacy', "finds nothing of another's: observation, cycle, intervention"],
    ['reports', 'another member finds nothing of it, staff reviews it, and a member without read:biomarkers sees no value'],
  ],
  [
    24,
    'read:my_outcomes without read:biomarkers: rows with direction; baseline_value, follow_up_value, delta null',
    ['privacy', 'with read:my_outcomes alone sees direction and times, and no value; with read:biomarkers also the values'],
  ],
  [
    25,
    'as platform_ro, select from retest_cycles_safe: no value, unit, delta, target column; base table denied',
    ['privacy', 'as platform_ro, the safe view is open and the tables are not'],
  ],
];

/** The titles and rows of a file's tests, in any quotes. */
const quoted = (title: string): RegExp => new RegExp(`(['"\`])${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\1`);

/** A test that is left out, left for later or alone in its file proves nothing. */
const NOT_RUN = /\b(?:test|it|describe|suite)(?:\.\w+)*\.(?:skip|skipIf|runIf|todo|only|fails)\b/;

const cases = CASES.map(([number, sentence, ...proofs]) => ({ number, sentence, proofs }));

test.each(cases)('case $number: $sentence', ({ proofs }) => {
  for (const [file, ...titles] of proofs) {
    const source = readFileSync(new URL(`./${file}.test.ts`, import.meta.url), 'utf8');
    expect(source).not.toMatch(NOT_RUN);
    for (const title of titles) expect(source).toMatch(quoted(title));
  }
});

test.each([
  ['test.skip(', true],
  ["describe.only('x'", true],
  ['it.todo(', true],
  ['test.concurrent.skip(', true],
  ['test.skipIf(', true],
  ['test.each([', false],
  ['describe(', false],
  ['this.only(', false],
])('%s stands for a test that is not run: %s', (text, expected) => expect(NOT_RUN.test(text)).toBe(expected));

test('all 25 cases are there', () => expect(CASES.map(([number]) => number)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1)));
