import type { UsageRow } from "../../src/domain/Usage.ts"

/** A completed, priced request; what a test is about is given. */
export const usageRow = (more: Partial<UsageRow> = {}): UsageRow => ({
  id: "0199aaaa-0000-7000-8000-00000000000a",
  timestampMs: 1_760_000_000_000,
  requestId: "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee",
  apiKeyId: "key-1",
  requestedModel: "openai/gpt-4.1",
  combo: null,
  provider: "openai",
  connectionId: "connection-1",
  model: "gpt-4.1",
  sourceWire: "chat",
  targetWire: "chat",
  streamed: false,
  outcome: "completed",
  status: 200,
  latencyMs: 250,
  ttftMs: 100,
  attempts: 1,
  tokens: { in: 10, out: 20, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  costNanoUsd: 1_500_000,
  priced: true,
  price: null,
  usageSource: "upstream",
  error: null,
  batchId: null,
  answeredFrom: null,
  egress: null,
  reservedNanoUsd: 0,
  calls: null,
  ...more
})
