/** Report of a run: a table of each workload, and the goals beside the ratios, which are also written into bench/README.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VARIANTS } from './variants.mjs';

const README = join(import.meta.dirname, '../README.md');
const RESULTS = join(import.meta.dirname, 'results.json');

/**
 * At least so many times the base's requests per second. Source: issue 20, point 6. One caller: each side with its defaults. Many: every
 * request of ours has another caller, so that ours shares no answer.
 */
const all = goal => ({ point: goal, one: goal, page: goal, wide: goal });
export const GOALS = [
  { variant: 'ours-dedupe', base: 'grafbase', goals: all(1.5) },
  { variant: 'ours-dedupe', base: 'hive-rust', goals: { point: 5, one: 2.5, page: 2.5, wide: 1 } },
  { variant: 'ours-dedupe', base: 'apollo', goals: all(5) },
  { variant: 'ours-network', base: 'grafbase', goals: { one: 1, wide: 0.5 } },
  { variant: 'ours-network', base: 'apollo', goals: { ...all(5), wide: 4 } },
];

/** Rounds after which the lowest ratio is a bound: only 1 of 32 times is the true one below all five. */
const ROUNDS_OF_A_BOUND = 5;

const median = numbers => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Medians of the rounds: `rows[workload][variant]`. */
export function summary(runs) {
  const rows = {};
  for (const [workload, byVariant] of Object.entries(runs))
    for (const [variant, rounds] of Object.entries(byVariant)) {
      const medians = Object.keys(rounds[0]).map(key => [key, Number(median(rounds.map(round => round[key])).toPrecision(4))]);
      (rows[workload] ??= {})[variant] = Object.fromEntries(medians);
    }
  return rows;
}

const line = cells => `| ${cells.join(' | ')} |`;
const tableOf = (heads, rows) => [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
const show = (number, digits) => (Number.isFinite(number) ? number.toFixed(digits) : '-');

/** All of one workload, the fastest first. CPU: of the gateway's process, all its threads. */
export function workloadTable(byVariant) {
  const heads = ['gateway', 'req/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'RSS MB', 'calls/req'];
  const rows = Object.entries(byVariant).sort(([, a], [, b]) => b.rps - a.rps);
  return tableOf(
    heads,
    rows.map(([variant, { rps, p50, p99, cpu, rss, calls }]) => [
      VARIANTS[variant].title,
      show(rps, 0),
      show(p50, 1),
      show(p99, 1),
      show(cpu, 3),
      show(rss, 0),
      show(calls, 2),
    ]),
  );
}

/** Ratios of the rounds to a base, by workload: the lowest, which decides, and the medians of requests per second and of CPU per request. */
export function goalRows(runs) {
  return GOALS.map(({ variant, base, goals }) => {
    const ratios = Object.entries(goals).flatMap(([workload, goal]) => {
      const [own, others] = [runs[workload]?.[variant], runs[workload]?.[base]];
      if (!own || !others) return [];
      const pairs = own.slice(0, others.length).map((one, round) => [one, others[round]]);
      const speeds = pairs.map(([one, other]) => one.rps / other.rps);
      const cpuRatio = median(pairs.map(([one, other]) => other.cpu / one.cpu));
      return [{ workload, goal, lowest: Math.min(...speeds), ratio: median(speeds), cpuRatio }];
    });
    return { variant, base, ratios };
  }).filter(({ ratios }) => ratios.length > 0);
}

const WORKS = ['point', 'one', 'page', 'wide'];

function cell(one) {
  if (!one) return '';
  const [lowest, ratio, cpu] = [one.lowest, one.ratio, one.cpuRatio].map(number => show(number, 1));
  return `${one.lowest >= one.goal ? lowest : `**${lowest}**`} (${one.goal}), ${ratio} / ${cpu}`;
}

const described = name => `${VARIANTS[name].title}: ${VARIANTS[name].does}`;

/** The lowest ratio of requests per second with its goal, then the medians of that ratio and of the ratio of CPU; bold what misses its goal. */
export function goalTable(runs) {
  const cells = ({ variant, base, ratios }) => [
    described(variant),
    described(base),
    ...WORKS.map(workload => cell(ratios.find(one => one.workload === workload))),
  ];
  return tableOf(['ours', 'is … × of', ...WORKS], goalRows(runs).map(cells));
}

const [BEGIN, END] = ['<!-- bench:gateway begins -->', '<!-- bench:gateway ends -->'];

/** Writes a text between the markers of bench/README.md. */
async function intoReadme(text) {
  const readme = await readFile(README, 'utf8');
  const [before, after] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (before < 0 || after < before) throw new Error('bench/README.md has no markers for the figures of the gateway');
  await writeFile(README, `${readme.slice(0, before + BEGIN.length)}\n\n${text}\n\n${readme.slice(after)}`);
}

/** Writes a run to results.json and bench/README.md. `setting`: how, when and where it was made. */
export async function store(runs, setting) {
  const result = { ...setting, rows: summary(runs), goals: goalRows(runs), runs };
  const rounded = (_, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);
  await writeFile(RESULTS, `${JSON.stringify(result, rounded, 2)}\n`);
  const { date, machine, node, load, connections, rounds, seconds } = setting;
  await intoReadme(
    `${goalTable(runs)}\n\n${date}, ${machine}, Node ${node}, ${load}, ${connections} connections, ${rounds} rounds of ${seconds} s. The lowest ratio of requests per second of all rounds (its goal), then the medians of that ratio and of the ratio of CPU per request. Bold misses its goal${rounds < ROUNDS_OF_A_BOUND ? `; with fewer than ${ROUNDS_OF_A_BOUND} rounds no goal counts as met` : ''}.`,
  );
}
