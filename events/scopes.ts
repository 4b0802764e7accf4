/** Scopes of class PHI. Source: identity A7; the events catalogue keeps no second list. */
const PHI_RESOURCES = [
  'biomarkers',
  'check_ins',
  'clinical',
  'lab_orders',
  'lab_results',
  'my_outcomes',
  'physicians',
  'protocols',
  'recommendations',
  'red_flags',
  'wearables',
];
export const isPhiScope = (scope: string): boolean => {
  const [verb, resource] = scope.split(':');
  return (verb === 'read' || verb === 'write') && PHI_RESOURCES.includes(resource ?? '');
};
