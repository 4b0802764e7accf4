import { Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { RedFlagSeverity } from './red-flag.js';

/** A user's part in this service; each list has its own rule. */
@ObjectType({ description: 'What the clinical service holds about a user.' })
export class UserClinical {
  patientId: string;
}

/** Who may see what must stop a recommendation. */
export const GUARD_READERS = { service: 'admin:clinical', internal: ['intelligence', 'ai'] } as const;
/** What must stop a recommendation; codes and counts only. Source: clinical 6. */
@Access(GUARD_READERS)
@ObjectType({ description: 'What must stop a recommendation; codes and counts only.' })
export class ClinicalGuard {
  @Field(() => [RedFlagSeverity], { description: 'Severities of open red flags, each once.' })
  openFlagSeverities: RedFlagSeverity[];

  @Field(() => Int)
  openCriticalAlerts: number;

  @Field(() => [String], { description: 'Keys of active interventions.' })
  activeInterventionKeys: string[];
}
