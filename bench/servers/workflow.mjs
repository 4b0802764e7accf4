/**
 * A process of the platform for the benchmark of workflows, driven by messages of its parent: starts runs of definitions that do nothing but
 * steps and waits, and counts what its executor has done and how late. Roles and addresses are its environment's, as everywhere.
 */
import { v7 } from 'uuid';
import { z } from 'zod';
import { redFlagDetected } from '../../dist/events/catalogue/clinical.js';
import { startPlatform } from '../../dist/gateway/composition/platform.js';
import { loadConfig } from '../../dist/runtime/config.js';
import { DEFINITIONS } from '../../dist/subgraphs/workflow/commands/definitions/definitions.js';
import { start } from '../../dist/subgraphs/workflow/commands/starting.js';
import { SERVICES } from '../../dist/subgraphs/services.js';
import { answer } from './answering.mjs';

const BATCH = 500;
const YEAR_MS = 365 * 86_400_000;
let seen;
const reset = () => (seen = { steps: 0, at: 0, ages: [] });
const note = age => {
  seen.at = Date.now();
  if (age !== undefined) seen.ages.push(age);
  return null;
};

const define = (key, run) =>
  DEFINITIONS.set(key, {
    key,
    title: key,
    version: 1,
    owner: 'workflow',
    steps: [],
    timeoutDays: 900,
    maxConcurrent: 50,
    input: z.object({}).loose(),
    run,
  });

define('bench_steps', async (workflow, { steps }) => {
  for (let at = 0; at < steps; at++)
    await workflow.step(`step_${at}`, async () => {
      seen.steps++;
      return note();
    });
  return {};
});
define('bench_event', async (workflow, { flag_id: key }) => {
  const heard = await workflow.waitEvent(redFlagDetected.name, key, new Date(Date.now() + YEAR_MS));
  await workflow.step('resumed', async () => note(Date.now() - Date.parse(heard.detected_at)));
  return {};
});
define('bench_timer', async (workflow, { at }) => {
  await workflow.sleepUntil(new Date(at));
  await workflow.step('woken', async () => note(Date.now() - at));
  return {};
});

/** Runs with these inputs, a transaction for so many. */
async function begin(host, { definition, inputs }) {
  const code = DEFINITIONS.get(definition);
  for (let from = 0; from < inputs.length; from += BATCH)
    await host.transaction(async ctx => {
      for (const input of inputs.slice(from, from + BATCH)) await start(ctx, code, v7(), { trigger: 'manual', input });
    });
}

/** Events of the severity that starts no run. */
const emit = (host, keys) =>
  host.transaction(async ctx => {
    const detected_at = new Date().toISOString();
    for (const flag_id of keys)
      ctx.emit(redFlagDetected, { flag_id, rule: 'bench', severity: 'info', source: 'biomarker', detected_at }, { userId: v7() });
  });

reset();
const platform = await startPlatform({ config: loadConfig(process.env), services: SERVICES });
answer(platform, {
  begin: order => begin(platform.hosts.get('workflow'), order),
  emit: keys => emit(platform.hosts.get('clinical'), keys),
  reset,
  seen: () => seen,
  cpu: () => process.cpuUsage(),
});
