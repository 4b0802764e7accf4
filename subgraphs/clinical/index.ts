import type { Context } from '../../runtime/context.js';
import { service } from '../../runtime/service.js';
import { clockControl, faultControl, flagControl } from '../../runtime/test-controls.js';
import { consumers } from './consumers.js';
import { Biomarker, BiomarkerRange } from './entities/biomarker.js';
import { Intervention } from './entities/intervention.js';
import { LabOrderMarker } from './entities/lab-order-marker.js';
import { BiomarkerObservation } from './entities/observation.js';
import { Protocol, ProtocolStatus, type ProtocolMarker, type ProtocolPhase } from './entities/protocol.js';
import { RetestCycle } from './entities/retest-cycle.js';
import { RetestTally } from './entities/retest-tally.js';
import { SweepRun } from './entities/sweep-run.js';
import { references } from './references/loaders.js';
import { DictionaryResolver } from './resolver/biomarker.js';
import { erase, ErasureResolver } from './resolver/erasure.js';
import { InterventionResolver } from './resolver/intervention.js';
import { ObservationResolver } from './resolver/observation.js';
import { RetestCycleResolver } from './resolver/retest-cycle.js';
import { RetestStatsResolver } from './resolver/retest-stats.js';
import { retestTimer, SweepResolver } from './resolver/sweep.js';
import { UserClinicalResolver, UserResolver } from './resolver/user-clinical.js';

const marker = (code: string): ProtocolMarker => ({ code, windowDays: null, target: null });

const phase = (name: string, startDay: number, endDay: number, everyDays: number): ProtocolPhase => ({
  name,
  startDay,
  endDay,
  doses: [],
  checkIns: [{ templateKey: 'well_being', everyDays }],
});

/** The development protocols. Source: clinical 2, Protocol. */
const PROTOCOLS = [
  {
    id: '0190b3a0-0000-7000-8000-0000000c0001',
    key: 'lipid_reset',
    title: 'Lipid reset',
    durationDays: 180,
    requiresConsult: false,
    markers: [marker('ldl_c'), marker('apob')],
    contraindications: ['pregnancy'],
    phases: [phase('Build-up', 0, 28, 7), phase('Maintenance', 28, 180, 28)],
  },
  {
    id: '0190b3a0-0000-7000-8000-0000000c0002',
    key: 'thyroid_support',
    title: 'Thyroid support',
    durationDays: 180,
    requiresConsult: true,
    markers: [marker('tsh')],
    contraindications: ['thyrotoxicosis'],
    phases: [phase('Build-up', 0, 42, 14), phase('Maintenance', 42, 180, 28)],
  },
];

async function seed(ctx: Context): Promise<void> {
  const rows = PROTOCOLS.map(protocol => Object.assign(new Protocol(), protocol, { status: ProtocolStatus.ACTIVE, createdAt: ctx.now() }));
  await ctx.em.persist(rows).flush();
}

export default service({
  slug: 'clinical',
  purpose: 'Biomarkers, protocols and re-test cycles: health data of members',
  entities: [Biomarker, BiomarkerRange, BiomarkerObservation, Protocol, Intervention, RetestCycle, RetestTally, SweepRun, LabOrderMarker],
  resolvers: [
    DictionaryResolver,
    ObservationResolver,
    InterventionResolver,
    RetestCycleResolver,
    RetestStatsResolver,
    SweepResolver,
    ErasureResolver,
    UserResolver,
    UserClinicalResolver,
    clockControl('clinical'),
    flagControl('clinical'),
    faultControl('clinical'),
  ],
  references,
  consumers,
  timers: [retestTimer],
  seed,
  erase,
});
