import type { Patch } from '../wrong-designs.js';

/** Faults of comms that look harmless until a process dies or a connection breaks: the run that finds nothing wrong with ours must find these. Source: issue 19. */
export const MESSAGE_FAULTS: Readonly<Record<string, readonly Patch[]>> = {
  'a call before its attempt is recorded': [
    {
      module: 'subgraphs/comms/commands/pipeline/deliver.js',
      find: 'const calls = await host.transaction(ctx => begin(ctx, looked));',
      replace: `let done = [];
    const calls = await host.transaction(async ctx => {
        const begun = await begin(ctx, looked);
        done = await eachAtOnce(begun, call => callProvider(host, call));
        return begun;
    });`,
    },
    {
      module: 'subgraphs/comms/commands/pipeline/deliver.js',
      find: 'const done = await eachAtOnce(calls, call => callProvider(host, call));',
      replace: '',
    },
  ],
  'a new key on retry': [
    {
      module: 'subgraphs/comms/commands/pipeline/deliver.js',
      find: '.send(rendered, target, rendered.messageId)',
      replace: '.send(rendered, target, `${rendered.messageId}:${call.attempt}`)',
    },
  ],
  'an advert of unknown outcome is sent again': [
    { module: 'subgraphs/comms/rules/retry.js', find: '(facts.idempotent || !facts.marketing)', replace: 'true' },
  ],
};
