import { defineEvent } from '../define.js';
import { bool, code, cur, data, id, int, oneOf, ts } from '../payload.js';

const owner = 'ai' as const;

export const chatCompleted = defineEvent('ai.chat.completed.v1',
  data({
    conversation_id: id(), turn_id: id(), agent: code('care_guide'), model: code('text-small-2'),
    finish_reason: oneOf('stop', 'length', 'tool', 'blocked', 'error'), tool_calls: int(), latency_ms: int(840),
  }),
  { owner, when: 'An assistant turn ends.', user: 'optional', scope: null, consumers: ['intelligence'] },
);

export const documentIngested = defineEvent('ai.document.ingested.v1',
  data({ document_id: id(), source_type: oneOf('content', 'upload', 'research_paper', 'transcript'), chunk_count: int(14), version: int() }),
  { owner, when: 'A document is split and stored for retrieval.', user: 'optional', scope: null },
);

export const embeddingCreated = defineEvent('ai.embedding.created.v1',
  data({ document_id: id(), version: int(), model: code('text-small-2'), dimensions: int(1024), vector_count: int(14) }),
  { owner, when: 'Vectors of a document version are ready.', user: 'optional', scope: null, consumers: ['content'] },
);

export const searchExecuted = defineEvent('ai.search.executed.v1',
  data({ search_id: id(), corpus: code('research'), result_count: int(8), latency_ms: int(840), zero_results: bool() }),
  { owner, when: 'A semantic search ran.', user: 'optional', scope: null },
);

export const usageRecorded = defineEvent('ai.usage.recorded.v1',
  data({
    usage_id: id(), feature: code('chat'), model: code('text-small-2'), input_tokens: int(812), output_tokens: int(214), cost_micros: int(1250),
    currency: cur(), recorded_at: ts(),
  }),
  { owner, when: 'Usage of a model call is metered.', user: 'optional', scope: null },
);
