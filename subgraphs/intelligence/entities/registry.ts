import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { READERS } from './access.js';
import { RegistryStatus } from './enums.js';

@ObjectType({ description: 'The data that a version was trained on.' })
export class TrainingInfo {
  @Field(() => DateTime)
  dataFrom: Date;

  @Field(() => DateTime)
  dataTo: Date;

  @Field(() => Int)
  decisions: number;

  @Field(() => Int)
  outcomes: number;

  @Field(() => Int)
  seed: number;

  @Field(() => String)
  codeRevision: string;

  @Field(() => DateTime, { nullable: true, description: 'Erasures up to this instant are absent from the data.' })
  erasuresHonouredUpTo: Date | null;
}

/** What is stored of a training: instants as text, and how many erasures the data is free of, because two can fall on one instant. */
export interface StoredTraining {
  dataFrom: string;
  dataTo: string;
  decisions: number;
  outcomes: number;
  seed: number;
  codeRevision: string;
  erasuresHonouredUpTo: string | null;
  erasures: number;
}

/** One set of frozen parameters of a policy; nothing in it changes between two promotions. Source: spec 1, Registry version; intelligence 2. */
@Access(READERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A version of what a policy ranks by. Exactly one per policy is the champion.' })
@Entity({ tableName: 'registry_version' })
export class RegistryVersion {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  policyId: string;

  @Field(() => String)
  @Property({ type: 'text' })
  policyKind: string;

  @Field(() => String)
  @Property({ type: 'text' })
  policyKey: string;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Field(() => Int, { name: 'version', description: '1, 2, and so on without gaps per policy.' })
  @Property({ type: 'int', fieldName: 'version' })
  number: number;

  @Field(() => RegistryStatus)
  @Enum({ items: () => RegistryStatus, type: 'string' })
  status: RegistryStatus = RegistryStatus.CANDIDATE;

  @Field(() => String, { description: 'SHA-256 of the canonical JSON of the parameters, hexadecimal.' })
  @Property({ type: 'text' })
  artifactSha256: string;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the parameters were wiped because they had learned from since-erased entities.',
  })
  @Property({ type: 'datetime', length: 3, nullable: true })
  artifactErasedAt: Date | null = null;

  @Property({ type: 'json', nullable: true })
  trainingData: StoredTraining | null = null;

  @Field(() => JSONObject, { nullable: true, description: 'Metrics measured at training, on held-out data.' })
  @Property({ type: 'json', nullable: true })
  offline: Record<string, unknown> | null = null;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'int', nullable: true })
  parentVersion: number | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  notes: string | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  createdBy: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true, description: 'The last time it became champion.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  championedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  retiredAt: Date | null = null;

  @Field(() => TrainingInfo, { nullable: true })
  training(): TrainingInfo | null {
    const data = this.trainingData;
    if (!data) return null;
    const { dataFrom, dataTo, erasuresHonouredUpTo: honoured, erasures: _erasures, ...numbers } = data;
    return {
      ...numbers,
      dataFrom: new Date(dataFrom),
      dataTo: new Date(dataTo),
      erasuresHonouredUpTo: honoured ? new Date(honoured) : null,
    };
  }
}

export const RegistryVersionConnection = connectionOf<RegistryVersion>(RegistryVersion, 'RegistryVersion');
