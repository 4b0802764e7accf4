/** The scope that opens a health topic to an app of others; only an agreement gives it. Source: comms, rule 7. */
const PHI_SCOPES: Readonly<Record<string, string>> = {
  lab_results: 'read:lab_results',
  protocols: 'read:protocols',
  dose_reminders: 'read:protocols',
  check_ins: 'read:check_ins',
  retest: 'read:my_outcomes',
  safety: 'read:red_flags',
};

/** Whether apps of others need a scope to see what messages of a topic are about. */
export const isHealthTopic = (topic: string): boolean => topic in PHI_SCOPES;

interface Caller {
  kind: string;
  firstParty: boolean;
  permissions: readonly string[];
  scopes: ReadonlySet<string>;
}

/** Whether a caller may see what a message of a topic is about. */
export const seesTopic = ({ kind, firstParty, permissions, scopes }: Caller, topic: string): boolean => {
  const scope = PHI_SCOPES[topic];
  return (
    scope === undefined || kind !== 'user' || firstParty || permissions.some(one => /^admin:comms(:|$)/.test(one)) || scopes.has(scope)
  );
};
