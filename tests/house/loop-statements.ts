/** A statement of the specification and the test that proves it. */
export interface Statement {
  /** Section of document 1 and its number there. */
  section: string;
  statement: string;
  /** File below tests/, and the title of a test in it. */
  proof: readonly [file: string, title: string];
}

const acceptance = (title: string) => ['intelligence/acceptance.test.ts', title] as const;
const governance = (title: string) => ['intelligence/governance.test.ts', title] as const;
const ledger = (title: string) => ['intelligence/ledger.test.ts', title] as const;
const start = (title: string) => ['clinical/retest-start.test.ts', title] as const;
const sweep = (title: string) => ['clinical/retest-sweep.test.ts', title] as const;
const outcome = (title: string) => ['clinical/retest-outcome.test.ts', title] as const;
const stats = (title: string) => ['clinical/retest-stats.test.ts', title] as const;
const privacy = (title: string) => ['clinical/privacy.test.ts', title] as const;

const LOOP: readonly Statement[] = [
  {
    section: 'Intelligence loop',
    statement: 'Internal and machine-to-machine only.',
    proof: acceptance('2: a user token of a staff owner gets 403 on every operation, no token 401'),
  },
  {
    section: 'Intelligence loop',
    statement: 'Dark by default (stage S0).',
    proof: acceptance('16: with the flag unset the order of the caller is returned unchanged and logged'),
  },
  {
    section: 'Intelligence loop 1',
    statement: 'An orchestrator in the workflow service calls POST /v1/loop/tick.',
    proof: ['workflow/loop.test.ts', 'clock over 3 h → 3 runs, 3 ticks, each with its own key'],
  },
  {
    section: 'Intelligence loop 1',
    statement: 'Each tick runs Monitor, Analyze, Propose in order.',
    proof: acceptance('3: decisions past their deadline expire, completeness is measured, one proposal is raised with its event and alarm'),
  },
  {
    section: 'Intelligence loop 1',
    statement: 'The order holds when a phase fails: later phases do not run.',
    proof: acceptance('a failing phase ends the tick failed, later phases do not run, and the next tick repeats them'),
  },
  {
    section: 'Intelligence loop 2',
    statement: 'Pending decisions past their maturation deadline move to expired_unjoined, which closes the join window.',
    proof: acceptance('6: a decision at its deadline stays pending; a millisecond later it expires'),
  },
  {
    section: 'Intelligence loop 3',
    statement: 'Meta-metrics are computed and persisted.',
    proof: acceptance('5: 8 of 10 joined is healthy and raises nothing'),
  },
  {
    section: 'Intelligence loop 4',
    statement: 'A tripped threshold raises a proposal and publishes intelligence.proposal.raised.v1.',
    proof: acceptance('3: decisions past their deadline expire, completeness is measured, one proposal is raised with its event and alarm'),
  },
  {
    section: 'Intelligence loop 4',
    statement: 'The governance consumer reads the event.',
    proof: governance('reaches the review queue by its event, and whoever governs is asked for by message'),
  },
  {
    section: 'Intelligence loop 5',
    statement: 'Over an empty ledger a tick does nothing.',
    proof: acceptance('1: a tick over an empty ledger writes nothing but its own row'),
  },
  {
    section: 'Intelligence loop 6',
    statement: 'A proposal changes what is served only when a human applies it.',
    proof: governance('a version that an applied proposal names serves the next decision; the loop itself never changes one'),
  },
  {
    section: 'Intelligence loop 6',
    statement: 'Applying is explicit and audited.',
    proof: governance('leaves audit rows of approval and application with reviewer, versions and the hash of the notes, not their text'),
  },
  {
    section: 'Intelligence loop 7',
    statement: 'The flag feature.intelligence.stage selects the ranker; every stage uses the same rank contract.',
    proof: governance('every stage answers the same rank contract; only the ranker differs'),
  },
  {
    section: 'Intelligence loop 7',
    statement: 'Advance only when the gate metrics are met.',
    proof: governance('advances only through its gate: joins complete and the loop live for S1, honest and calibrated for S2'),
  },
  {
    section: 'Intelligence loop 7',
    statement: 'Rolling back is done by setting the flag back.',
    proof: governance('is S0 with the flag unset, unknown or unreadable; going back needs nothing but the flag'),
  },
  {
    section: 'Gate metrics',
    statement: 'join_completeness is healthy at 0.8 and above.',
    proof: acceptance('5: 8 of 10 joined is healthy and raises nothing'),
  },
  {
    section: 'Gate metrics',
    statement: 'loop_liveness is healthy with stalled = false; a dead orchestrator cannot report itself alive.',
    proof: acceptance('24: with no tick for 3 h 1 min the loop reads as stalled when it is read, and an alarm is raised'),
  },
  {
    section: 'Gate metrics',
    statement: 'realized_vs_predicted is kept per policy version.',
    proof: governance('12: a rollback leaves every decision byte-identical, and outcomes join the version that decided'),
  },
  {
    section: 'Gate metrics',
    statement: 'calibration is a gate signal for stages S2 to S5.',
    proof: governance('advances only through its gate: joins complete and the loop live for S1, honest and calibrated for S2'),
  },
  {
    section: 'Gate metrics',
    statement: 'lift_decay is kept per policy version, and trips when the lift is gone.',
    proof: ['intelligence/loop-rules.test.ts', 'a lift that is gone trips, one that is kept does not'],
  },
  {
    section: 'Alarms',
    statement: 'loop liveness alarm.',
    proof: acceptance('24: with no tick for 3 h 1 min the loop reads as stalled when it is read, and an alarm is raised'),
  },
  {
    section: 'Alarms',
    statement: 'join-completeness below floor.',
    proof: acceptance('3: decisions past their deadline expire, completeness is measured, one proposal is raised with its event and alarm'),
  },
  {
    section: 'Alarms',
    statement: 'intelligence_guardrail_blocked.',
    proof: [
      'intelligence/guardrails.test.ts',
      '22: with an open urgent red flag the informational candidate is served, and the block is counted and told',
    ],
  },
  {
    section: 'Alarms',
    statement: 'The alarms are spelled as operators search for them.',
    proof: ['intelligence/loop-rules.test.ts', 'the alarms have the names of the specification'],
  },
  {
    section: 'Personal health data',
    statement: 'Cross-service reads and the read-only role use the safe views.',
    proof: ledger('internal clients of other services read what the safe views show; reads with context leave an audit row'),
  },
  {
    section: 'Personal health data',
    statement: 'What links to health stands nowhere in plain.',
    proof: ledger(
      'canary values of context, candidates and features stand sealed, and nowhere in plain: tables, safe views, events, audit',
    ),
  },
  {
    section: 'Personal health data',
    statement: 'user.erasure_requested.v1 deletes decisions, their outcomes and feature vectors, with an audit record.',
    proof: ledger(
      '23: deletes decisions, outcomes and feature vectors, leaves counts; what comes later finds nothing, metrics of the past stay',
    ),
  },
  {
    section: 'Personal health data',
    statement: 'Erasure of model artefacts happens when a model is trained.',
    proof: ledger(
      '25: a training wipes retired and candidate versions that learned of an erased entity; the champion at the first training after it retires',
    ),
  },
  {
    section: 'Decision record',
    statement: 'policy_version and registry_id are never rewritten by a rollback.',
    proof: governance('12: a rollback leaves every decision byte-identical, and outcomes join the version that decided'),
  },
  {
    section: 'Decision record',
    statement: 'No statement rewrites them.',
    proof: governance('no operation and no statement rewrites what was served'),
  },
  {
    section: 'Registry version',
    statement: 'One version per policy is champion.',
    proof: governance('has one champion per policy at every instant, also when promotions and rollbacks race'),
  },
  {
    section: 'States: proposal',
    statement: 'raised -> approved, reviewer given.',
    proof: governance('8: needs a reviewer, is approved once, and says by whom'),
  },
  {
    section: 'States: proposal',
    statement: 'raised -> rejected, reviewer given.',
    proof: governance('11: that was rejected takes neither approval nor application, and is not raised again for a week'),
  },
  {
    section: 'States: proposal',
    statement: 'approved -> applied: that version becomes champion, the prior one retired.',
    proof: governance('9: is applied only after it was approved; then that version is champion and the prior one retired'),
  },
  {
    section: 'States: registry',
    statement: 'rollback with to_version makes a prior version champion again.',
    proof: governance('rolls back only to what was champion before; unknown policies and versions are not found'),
  },
  {
    section: 'Emission and consumption ties',
    statement: 'clinical.retest.recorded.v1 is the Outcome Record that the intelligence layer uses.',
    proof: acceptance('7: the Outcome Record of a re-test joins; again, nothing changes; after expiry it counts as late'),
  },
];

const RETEST: readonly Statement[] = [
  {
    section: 'Re-test cycle',
    statement: 'Dark by default.',
    proof: start('is 403 forbidden while the cycle flag is off, stores nothing and tells nobody'),
  },
  {
    section: 'Re-test cycle 1',
    statement: 'retest_due_at = baseline + window (default 90 days).',
    proof: start('captures a baseline: due after the window, expiring after the grace, answered as the contract shows it'),
  },
  {
    section: 'Re-test cycle 1',
    statement: 'Idempotent on (patient, marker, baseline draw).',
    proof: start('again for the same patient, marker and draw is the stored cycle, whatever else it says and in any state'),
  },
  {
    section: 'Re-test cycle 2',
    statement: 'A sweep runs every 6 hours.',
    proof: sweep('runs every 6 hours on the UTC grid, one run a slot and none left out, whatever runs beside'),
  },
  {
    section: 'Re-test cycle 2',
    statement: 'The sweep prompts with an interval and a maximum.',
    proof: sweep('by its timer prompts on days 90, 104 and 118 and expires after day 120, once each'),
  },
  {
    section: 'Re-test cycle 3',
    statement: 'A follow-up lab closes the open cycle into an Outcome Record.',
    proof: outcome('LDL-C 160 -> 130 on day 95 without a prompt: retested, improved, organic, and an Outcome Record of three keys'),
  },
  {
    section: 'Re-test cycle 3',
    statement: 'The handler is isolated.',
    proof: outcome('may be down: ingestion answers 201, and once it is back the cycle is recorded once'),
  },
  {
    section: 'Re-test cycle 4',
    statement: 'Cycles past window and grace are closed as expired.',
    proof: sweep('a lab collected exactly at expiry counts; one millisecond later the cycle expires'),
  },
  {
    section: 'Re-test cycle 5',
    statement: 'A failed cycle never aborts the sweep batch; it is retried on the next run.',
    proof: sweep('goes on when one cycle fails, and tries that one again at the next run'),
  },
  {
    section: 'Re-test cycle 6',
    statement: 'The prompt flag is off by default.',
    proof: sweep('prompts nobody while the prompt flag is off'),
  },
  {
    section: 'Re-test cycle 6',
    statement: 'The prompt flag is evaluated per (brand, user).',
    proof: sweep('prompts a due cycle of a (brand, user) for whom the flag is on, and no other'),
  },
  { section: 'Re-test cycle 6', statement: 'Both flags fail closed.', proof: sweep('reads a flag that cannot be read as off') },
  {
    section: 'Re-test cycle 6',
    statement: 'feature.clinical.retest-cycle gates follow-up recording.',
    proof: outcome('leaves no trace while the cycle flag is off; the sweep records what was missed once it is on'),
  },
  {
    section: 'Re-test cycle 7',
    statement: 'Re-test rate = retested / (retested + expired), counts and average days.',
    proof: stats('6 retested, 3 expired, 4 and 2 open: rate 0.6667, counts, average and who came without a prompt'),
  },
  {
    section: 'Re-test cycle 8',
    statement: 'The safe view omits values, units and delta.',
    proof: privacy('as platform_ro, the safe view is open and the tables are not'),
  },
  {
    section: 'Re-test cycle 8',
    statement: "Erasure deletes a member's cycles by patient_id.",
    proof: privacy('deletes everything that is keyed by patient_id, answers counts per table, and does so once'),
  },
  {
    section: 'Re-test cycle 8',
    statement: 'Every state change is audited with details free of health values.',
    proof: sweep('audits every state change, free of values and codes'),
  },
  {
    section: 'Emission and consumption ties',
    statement: 'The re-test events carry codes, timing and direction only, never raw values.',
    proof: start('tells code, protocol, window and times, and no value'),
  },
];

/** Every statement of document 1 on the loop and the re-test cycle, and its proof. */
export const STATEMENTS: readonly Statement[] = [...LOOP, ...RETEST];
