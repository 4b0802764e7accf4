/** Answers a parent's messages `{ id, name, order }` with `{ id, answer }`, and `stop` by stopping the platform; ends with its parent. */
export function answer(platform, answers) {
  const stop = async () => {
    await platform.stop();
    setImmediate(() => process.exit(0));
  };
  const all = { ...answers, stop };
  process.on('disconnect', () => process.exit(1));
  process.on('message', ({ id, name, order }) => void Promise.resolve(all[name](order)).then(given => process.send({ id, answer: given })));
  process.send({ id: 0 });
}
