/**
 * A process of the platform as production starts it, with one more definition: four steps that each leave a row. `HOLD` names a step in
 * which it stays for good, to be killed there: before its effect (`three`), or between its effect and its checkpoint (`two`). Run by node as
 * it stands, so only erasable syntax.
 */
const DIST = new URL('../../dist/', import.meta.url).href;
const [{ DEFINITIONS }, { z }] = await Promise.all([
  import(`${DIST}subgraphs/workflow/commands/definitions/definitions.js`),
  import('zod'),
]);

interface Step {
  once(work: (ctx: { sql(text: string, values: unknown[]): Promise<unknown[]> }) => Promise<void>): Promise<void>;
}

interface Run {
  key: string;
  step(name: string, work: (step: Step) => Promise<null>): Promise<null>;
}

const forGood = (): Promise<never> => new Promise(() => undefined);

/** A row for each execution of an effect. */
const leave = (key: string, step: string) => async (ctx: { sql(text: string, values: unknown[]): Promise<unknown[]> }) =>
  void (await ctx.sql('insert into workflow.test_effect (key, step) values ($1, $2)', [key, step]));

DEFINITIONS.set('test_four', {
  key: 'test_four',
  title: 'Four steps',
  version: 1,
  owner: 'workflow',
  steps: ['one', 'two', 'three', 'four'],
  timeoutDays: 1,
  maxConcurrent: 5,
  input: z.object({}),
  async run(run: Run) {
    for (const name of ['one', 'two', 'three', 'four'])
      await run.step(name, async ({ once }) => {
        if (name === 'three' && process.env.HOLD === 'three') await forGood();
        await once(leave(run.key, name));
        if (name === 'two' && process.env.HOLD === 'two') await forGood();
        return null;
      });
    return {};
  },
});

await import(`${DIST}gateway/main.js`);
