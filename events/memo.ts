/** Keeps what a pure function makes of an object for as long as the object lives, so that a process makes it once. */
export function memo<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new WeakMap<Key, Made>();
  return key => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key)!;
  };
}
