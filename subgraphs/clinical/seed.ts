import type { Context } from '../../runtime/request/context.js';
import { Protocol, type ProtocolDose, type ProtocolMarker, type ProtocolPhase, ProtocolStatus } from './entities/protocol.js';

const marker = (code: string): ProtocolMarker => ({ code, windowDays: null, target: null });

/** Once a week in the morning. */
const dose = (productCode: string, value: number, unit: string): ProtocolDose => ({
  productCode,
  quantity: { value, unit },
  route: 'oral',
  timing: { repeat: { frequency: 1, period: 1, periodUnit: 'wk' } },
  timesOfDay: ['08:00'],
});

const phase = (name: string, startDay: number, endDay: number, everyDays: number, doses: ProtocolDose[] = []): ProtocolPhase => ({
  name,
  startDay,
  endDay,
  doses,
  checkIns: [{ templateKey: 'well_being', everyDays }],
});

const FIBRE = dose('fibre_pack', 7, '{sachet}');

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
    phases: [phase('Build-up', 0, 28, 7, [FIBRE]), phase('Maintenance', 28, 180, 28, [FIBRE])],
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

export async function seed(ctx: Context): Promise<void> {
  const rows = PROTOCOLS.map(protocol => Object.assign(new Protocol(), protocol, { status: ProtocolStatus.ACTIVE, createdAt: ctx.now() }));
  await ctx.em.persist(rows).flush();
}
